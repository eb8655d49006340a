/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resources of the live server, by path and parameters (docs/live.md): maps a request to an
 * embedded file or to what has to be made for it. A pure function of the request.
 */
#ifndef STACKTALLY_LIVE_ROUTES_H
#define STACKTALLY_LIVE_ROUTES_H

#include "live/request.h"
#include "report/writer.h"

enum route_kind {
	ROUTE_PAGE,    /* the HTML page */
	ROUTE_FILE,    /* its script or style sheet */
	ROUTE_EVENTS,  /* the event stream */
	ROUTE_COUNTS,  /* the counts of a range of seconds */
	ROUTE_SAVE,    /* a range of seconds in a report format */
	ROUTE_PROFILE, /* the next seconds in pprof's format */
};

#define ROUTE_MAX_SECONDS 600	/* of ROUTE_PROFILE */
#define ROUTE_MAX_LAST	  86400 /* seconds */

struct route {
	enum route_kind kind;
	const char *content, *type; /* of ROUTE_FILE; static */
	size_t size;
	const struct writer *writer; /* of ROUTE_SAVE and ROUTE_PROFILE */
	uint64_t from, to;	     /* numbers of seconds, from 1; 0 and UINT64_MAX: all */
	uint64_t seconds;	     /* of ROUTE_PROFILE, 1 to ROUTE_MAX_SECONDS */
	uint64_t last;		     /* of ROUTE_SAVE: the last seconds; 0: `from` and `to` */
};

/* 0, or the negated HTTP status of the refusal: -400, -404 or -501. */
int route_find(const struct request *request, struct route *ret_route);

#endif
