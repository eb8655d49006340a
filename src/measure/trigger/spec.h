/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stackcount's patterns, and the triggers they make:
 *
 *   func, p::func                       kernel functions
 *   lib:func, p:lib:func                functions of a library or executable
 *   lib:func+0x10                       an instruction in such a function
 *   lib:file.c:123                      a line of its source code
 *   t:category:event                    kernel tracepoints
 *   u:lib:probe, u:lib:provider:probe   USDT probes
 *
 * `*` and `?` are wildcards. With `regexp` the name, and the category or provider, are POSIX
 * extended regular expressions that must match as a whole. Names may contain "::", and bracket
 * expressions may contain colons. The messages are those of bcc where bcc has one.
 */
#ifndef STACKTALLY_TRIGGER_SPEC_H
#define STACKTALLY_TRIGGER_SPEC_H

#include "trigger/code_point.h"
#include "trigger/trigger.h"

struct trigger_kind;

/* A pattern in its parts, which it owns. */
struct spec {
	const struct trigger_kind *kind;
	char *library;		 /* as written; NULL for kernel functions and tracepoints */
	char *provider;		 /* USDT provider or tracepoint category; NULL: any */
	char *name;		 /* the pattern for names; of a line "file.c:123" */
	char *file;		 /* of source code, of which a line is meant; or NULL */
	struct code_point point; /* `point.file` is `file` */
	bool regexp;
	bool calls;   /* returns are wanted as well as entries: of functions only */
	bool force;   /* also where that may end the program */
	bool details; /* for -l: more is wanted of each */
};

/* 0, -EINVAL or -ENOMEM. */
int spec_parse(const char *text, bool regexp, struct spec *ret_spec, struct error *err);
void spec_clear(struct spec *spec);

/* How a pattern is meant. */
struct spec_request {
	const char *text;
	bool regexp;
	bool inlined; /* --inlined: also where functions were inlined */
	bool calls;   /* of functions, from entry to return: other patterns are -EINVAL */
	bool force;   /* calls: also where that could end the program */
	pid_t pid;    /* that of -p, or 0 */
};

/*
 * Makes the trigger of a pattern: finds what matches now, attaches nothing yet. When nothing
 * matches, -ENOENT, and the message offers the most similar names. -EOPNOTSUPP where probes could
 * end the program.
 */
int spec_trigger_new(const struct spec_request *request, struct trigger **ret_trigger,
		     struct error *err);

/*
 * Tells what a pattern would probe, and notes about it: for -l. Attaches nothing. Errors are those
 * of spec_trigger_new().
 */
int spec_list(const struct spec_request *request, const struct listing *listing, struct error *err);

/*
 * Has `progress` called while probes are attached or detached one by one, by the thread that does
 * it. For triggers of spec_trigger_new() only.
 */
typedef void (*spec_progress_fn)(void *context, bool detaching, uint32_t done, uint32_t total);
void spec_trigger_on_progress(struct trigger *trigger, spec_progress_fn progress, void *context);

/*
 * After attach: how many matches were left out because the kernel cannot probe them. *ret_text
 * names the first of them, and why ("" for none); it lives as long as the trigger. For triggers of
 * spec_trigger_new() only.
 */
uint32_t spec_trigger_left_out(const struct trigger *trigger, const char **ret_text);

/*
 * What the user should know of what is counted: line `i`, or NULL behind the last one. For triggers
 * of spec_trigger_new() only.
 */
const char *spec_trigger_note(const struct trigger *trigger, uint32_t i);

#endif
