/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stackcount's pattern language, as text in, trigger out:
 *
 *   func, p::func                    kernel functions
 *   lib:func, p:lib:func             functions of a library or executable
 *   t:category:event                 kernel tracepoints
 *   u:lib:probe, u:lib:provider:probe   USDT probes
 *
 * `*` and `?` are wildcards and every other character is itself; with `regexp` the name, and the
 * category or provider too, is an extended regular expression that must match the whole of it.
 * Names may contain "::", and bracket expressions of a regular expression may contain colons.
 */
#ifndef STACKTALLY_TRIGGER_SPEC_H
#define STACKTALLY_TRIGGER_SPEC_H

#include "trigger/trigger.h"

enum spec_kind { SPEC_KERNEL, SPEC_USER, SPEC_TRACEPOINT, SPEC_USDT };

struct spec {
	enum spec_kind kind;
	char *library;	/* as written; NULL for kernel functions and tracepoints */
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

/* The pattern as the regular expression that bcc shows for it: "c*" -> "^c.*$". */
void matcher_describe(const char *pattern, bool regexp, char *buffer, size_t size);

/*
 * The trigger for a pattern: finds what matches now, attaches nothing yet. `pid` is that of -p, or
 * 0. No match is an error that offers the nearest traceable names.
 */
int spec_trigger_new(const char *text, bool regexp, pid_t pid, struct trigger **ret_trigger,
		     struct error *err);

/*
 * Have `progress` called, from the thread that attaches or stops, as probes are attached and
 * again as they are detached; only where that is done one by one. For triggers of
 * spec_trigger_new() only.
 */
typedef void (*spec_progress_fn)(void *context, bool detaching, uint32_t done, uint32_t total);
void spec_trigger_on_progress(struct trigger *trigger, spec_progress_fn progress, void *context);

/*
 * After attach: how many matches the kernel would not probe and were left out, and a text that
 * names the first of them ("" when none). For triggers of spec_trigger_new() only.
 */
uint32_t spec_trigger_left_out(const struct trigger *trigger, const char **ret_text);

#endif
