/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a view leaves out of stacks, and how much of names it shows: --focus, --ignore, --hide,
 * --show-from, --collapse-recursion, --simple-names and --raw-names. All formats show what is left;
 * a recording keeps everything.
 *
 * The regular expressions are POSIX extended ones of the user's. They are looked for in the name of
 * a function, as shown and in full, in its file, in its module and in the module's path. Must not
 * know: formats, options.
 */
#ifndef STACKTALLY_VIEW_FRAME_FILTER_H
#define STACKTALLY_VIEW_FRAME_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/pool.h"
#include "tally/names.h"

enum frame_filter_kind {
	FRAME_FILTER_FOCUS,	/* only stacks with such a frame are shown */
	FRAME_FILTER_IGNORE,	/* stacks with such a frame are not */
	FRAME_FILTER_HIDE,	/* such frames are left out of their stacks */
	FRAME_FILTER_SHOW_FROM, /* stacks begin at their outermost such frame; others are not shown
				 */
	FRAME_FILTER_N_KINDS,
};

enum frame_names {
	FRAME_NAMES_FULL,
	FRAME_NAMES_SIMPLE, /* without parameters and template arguments */
	FRAME_NAMES_RAW,    /* as in the symbol table */
};

/* Several expressions of a kind: any of them. The strings are borrowed for the filter's life. */
struct frame_filter_asked {
	struct {
		const char *const *list;
		uint32_t n;
	} of[FRAME_FILTER_N_KINDS];
	bool collapse_recursion;
	enum frame_names names;
};

struct frame_filter;

/* *ret_filter is NULL if nothing is asked for. 0, -ENOMEM, or -EINVAL for an expression. */
int frame_filter_new(const struct frame_filter_asked *asked, struct frame_filter **ret_filter,
		     struct error *err);
void frame_filter_free(struct frame_filter *filter);
DEFINE_OWN(struct frame_filter, frame_filter_free)

/* All of these take a filter that may be NULL, for none. */
bool frame_filter_has(const struct frame_filter *filter, enum frame_filter_kind kind);
bool frame_filter_collapses(const struct frame_filter *filter);
/* The name that is shown: the frame's, or a string of the pool. NULL: out of memory. */
const char *frame_filter_name(const struct frame_filter *filter, const struct names_frame *is,
			      struct pool *pool);

/* Appends the options and expressions: "--focus 'parse' --hide '^std::'". */
void frame_filter_text(const struct frame_filter *filter, struct bytes *bytes);

/* The options by which stacks are left out: "--focus, --hide". */
const char *frame_filter_causes(const struct frame_filter *filter);

/* The option of a kind, with its dashes. */
const char *frame_filter_option(enum frame_filter_kind kind);

/*
 * What the expressions say about frames. Strings that were looked at are known again by their
 * address, so they must live as long.
 */
struct frame_marks;

int frame_marks_new(const struct frame_filter *filter, struct frame_marks **ret_marks);
void frame_marks_free(struct frame_marks *marks);
DEFINE_OWN(struct frame_marks, frame_marks_free)
/* Bits of enum frame_filter_kind, 1 << KIND. `path` may be NULL. 0 or -ENOMEM. */
int frame_marks_of(struct frame_marks *marks, const struct names_frame *is, const char *shown,
		   const char *path, uint32_t *ret_marks);

/*
 * Calls `tell` for each expression that no frame of `names` matches. 0 or -ENOMEM.
 */
int frame_filter_unmatched(const struct frame_filter *filter, const struct names *names,
			   void (*tell)(void *context, const char *option, const char *expression),
			   void *context);

#endif
