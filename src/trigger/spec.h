/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stackcount's pattern language, as text in, trigger out:
 *
 *   func, p::func                    kernel functions
 *   lib:func, p:lib:func             functions of a library or executable
 *   t:category:event                 kernel tracepoints
 *   u:lib:probe, u:lib:provider:probe   USDT probes
 *
 * `*` and `?` are wildcards and every other character is itself; with `regexp` the last part is an
 * extended regular expression that must match the whole name. Names may contain "::".
 */
#ifndef STACKTALLY_TRIGGER_SPEC_H
#define STACKTALLY_TRIGGER_SPEC_H

#include "trigger/trigger.h"

enum spec_kind { SPEC_KERNEL, SPEC_USER, SPEC_TRACEPOINT, SPEC_USDT };

struct spec {
	enum spec_kind kind;
	char *library;	/* as written; NULL for kernel functions */
	char *provider; /* USDT provider or tracepoint category; NULL: any */
	char *name;	/* the pattern for names */
	bool regexp;
};

/* Splits the text. The messages are those of bcc where it has one (design: errors exit 1). */
int spec_parse(const char *text, bool regexp, struct spec *ret_spec, struct error *err);
void spec_clear(struct spec *spec);

/* Whether the name matches the pattern: compiled once, used for thousands of names. */
struct matcher;
int matcher_new(const char *pattern, bool regexp, struct matcher **ret_matcher, struct error *err);
bool matcher_matches(const struct matcher *matcher, const char *name);
void matcher_free(struct matcher *matcher);

/*
 * The trigger for a pattern: finds what matches now, attaches nothing yet. `pid` is that of -p, or 0.
 * No match is an error that offers the nearest traceable names.
 */
int spec_trigger_new(const char *text, bool regexp, pid_t pid, struct trigger **ret_trigger,
		     struct error *err);

#endif
