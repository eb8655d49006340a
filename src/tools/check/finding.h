/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `stacktally check` found: a line for each thing that a measurement needs. Plain data.
 */
#ifndef STACKTALLY_CHECK_FINDING_H
#define STACKTALLY_CHECK_FINDING_H

#include <stdint.h>

enum finding_status {
	FINDING_OK,	 /* it was tried, and works */
	FINDING_LIMITED, /* it works in part */
	FINDING_MISSING, /* it does not work */
	FINDING_UNTRIED, /* there was nothing to try it with */
	FINDING_N_STATUSES,
};

struct finding {
	const char *name; /* "kernel functions" */
	enum finding_status status;
	char says[400];	  /* what was seen; of untrusted characters */
	char remedy[600]; /* how to get what is missing; "": nothing is, or nothing helps */
};

#define FINDINGS_MAX 40

struct findings {
	struct finding list[FINDINGS_MAX];
	uint32_t n;
};

/* Appends one with an empty remedy, to be filled in; the last one again if there is no room. */
struct finding *findings_add(struct findings *findings, const char *name,
			     enum finding_status status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "ok", "limited", "missing", "not tried". */
const char *finding_status_name(enum finding_status status);

#endif
