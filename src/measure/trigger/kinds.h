/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of triggers that a pattern (spec.h) makes. A new kind is
 *
 *	a line in TRIGGER_KINDS below,
 *	a file of its own here, which defines NAME_kind, and
 *	an entry program in bpf/triggers.bpf.h, which its select() has loaded.
 *
 * The sampling clock (clock.h) is not made from a pattern and is no kind.
 */
#ifndef STACKTALLY_TRIGGER_KINDS_H
#define STACKTALLY_TRIGGER_KINDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct probes;
struct spec;

/* One line for each kind. Of several with one type, a pattern goes to the one it has the parts for.
 */
#define TRIGGER_KINDS(KIND)                                                                        \
	KIND(kprobe)                                                                               \
	KIND(uprobe)                                                                               \
	KIND(tracepoint)                                                                           \
	KIND(usdt)

struct trigger_kind {
	char type;	    /* the first part of its patterns */
	bool returns;	    /* its events are calls, which return */
	bool takes_library; /* a library or executable follows */
	bool takes_source;  /* the name may be a line of source code, or have an offset */
	const char *form;   /* of its patterns, for messages: "tracepoints are t:CATEGORY:EVENT"; or
			       NULL */
	bool takes_provider; /* then, or in its place, a provider or category, which may be left out
			      */
	/*
	 * Makes the trigger: finds what matches, attaches nothing. `pid` is that of -p, or 0. On
	 * success the caller owns it; no match is -ENOENT.
	 */
	int (*make)(const struct spec *spec, pid_t pid, struct probes **ret_probes,
		    struct error *err);
	/* Fills in a pattern for an event of which only the name was given; false: none. Or NULL.
	 */
	bool (*complete)(const struct spec *spec, char *ret_pattern, size_t size);
};

#define TRIGGER_KIND_DECLARE(name) extern const struct trigger_kind name##_kind;
TRIGGER_KINDS(TRIGGER_KIND_DECLARE)

#endif
