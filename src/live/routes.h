/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be asked for, and with what parameters: from a request to a file that is there or a job
 * for the keeper. Pure: touches nothing.
 */
#ifndef STACKTALLY_LIVE_ROUTES_H
#define STACKTALLY_LIVE_ROUTES_H

#include "live/request.h"
#include "report/writer.h"

enum route_kind {
	ROUTE_PAGE,
	ROUTE_FILE,
	ROUTE_EVENTS,  /* the stream of news */
	ROUTE_COUNTS,  /* of a stretch */
	ROUTE_SAVE,    /* a stretch in a format */
	ROUTE_PROFILE, /* of the next seconds, as pprof asks for it */
};

#define ROUTE_MAX_SECONDS 600

struct route {
	enum route_kind kind;
	const char *content, *type; /* of a file */
	size_t size;
	const struct writer *writer; /* of ROUTE_SAVE and ROUTE_PROFILE */
	uint64_t from, to;	     /* seconds by number; 0 and UINT64_MAX: all */
	uint64_t seconds;
};

/* 0, or the negated HTTP status that refuses it. */
int route_find(const struct request *request, struct route *ret_route);

#endif
