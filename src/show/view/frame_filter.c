// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/frame_filter.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/regexp.h"
#include "view/simple_name.h"

#define MAX_EXPRESSIONS 64

struct expression {
	regex_t compiled;
	const char *text;
	enum frame_filter_kind kind;
};

struct frame_filter {
	struct expression *expressions;
	uint32_t n;
	bool has[FRAME_FILTER_N_KINDS];
	bool collapse_recursion;
	enum frame_names names;
	char causes[64];
};

const char *frame_filter_option(enum frame_filter_kind kind)
{
	static const char *const options[] = {
		[FRAME_FILTER_FOCUS] = "--focus",
		[FRAME_FILTER_IGNORE] = "--ignore",
		[FRAME_FILTER_HIDE] = "--hide",
		[FRAME_FILTER_SHOW_FROM] = "--show-from",
	};

	return options[kind];
}

static void name_cause(struct frame_filter *filter, enum frame_filter_kind kind)
{
	size_t used = strlen(filter->causes);

	if (!filter->has[kind])
		snprintf(filter->causes + used, sizeof(filter->causes) - used, "%s%s",
			 used ? ", " : "", frame_filter_option(kind));
	filter->has[kind] = true;
}

static int compile(struct frame_filter *filter, enum frame_filter_kind kind, const char *text,
		   struct error *err)
{
	struct expression *expression = &filter->expressions[filter->n];
	int r = regexp_compile(&expression->compiled, text, REG_NOSUB);
	char why[200];

	if (r == REG_ESPACE)
		return error_usage(err, "argument %s: '%s' repeats too much",
				   frame_filter_option(kind), text);
	if (r) {
		regerror(r, &expression->compiled, why, sizeof(why));
		return error_usage(err, "argument %s: '%s' is not a regular expression: %s",
				   frame_filter_option(kind), text, why);
	}
	expression->text = text;
	expression->kind = kind;
	name_cause(filter, kind);
	filter->n++;
	return 0;
}

static uint32_t count(const struct frame_filter_asked *asked)
{
	uint32_t n = 0;

	for (uint32_t kind = 0; kind < FRAME_FILTER_N_KINDS; kind++)
		n += asked->of[kind].n;
	return n;
}

int frame_filter_new(const struct frame_filter_asked *asked, struct frame_filter **ret_filter,
		     struct error *err)
{
	own(own_frame_filter_free) struct frame_filter *filter = NULL;
	uint32_t n = count(asked);
	int r = 0;

	*ret_filter = NULL;
	if (n == 0 && !asked->collapse_recursion && asked->names == FRAME_NAMES_FULL)
		return 0;
	if (n > MAX_EXPRESSIONS)
		return error_usage(err, "more than %d regular expressions", MAX_EXPRESSIONS);
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return error_set(err, -ENOMEM, "out of memory");
	filter->collapse_recursion = asked->collapse_recursion;
	filter->names = asked->names;
	filter->expressions = calloc((size_t)n + 1, sizeof(*filter->expressions));
	if (!filter->expressions)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t kind = 0; kind < FRAME_FILTER_N_KINDS; kind++)
		for (uint32_t i = 0; r == 0 && i < asked->of[kind].n; i++)
			r = compile(filter, kind, asked->of[kind].list[i], err);
	if (r == 0)
		*ret_filter = take_ptr(filter);
	return r;
}

void frame_filter_free(struct frame_filter *filter)
{
	if (!filter)
		return;
	for (uint32_t i = 0; i < filter->n; i++)
		regfree(&filter->expressions[i].compiled);
	free(filter->expressions);
	free(filter);
}

bool frame_filter_has(const struct frame_filter *filter, enum frame_filter_kind kind)
{
	return filter && filter->has[kind];
}

bool frame_filter_collapses(const struct frame_filter *filter)
{
	return filter && filter->collapse_recursion;
}

const char *frame_filter_name(const struct frame_filter *filter, const struct names_frame *is,
			      struct pool *pool)
{
	own(own_free) char *to = NULL;
	size_t size;

	if (!filter || filter->names == FRAME_NAMES_FULL)
		return is->name;
	if (filter->names == FRAME_NAMES_RAW)
		return is->linkage_name ? is->linkage_name : is->name;
	size = strlen(is->name) + 1;
	if (is->language || size > SIMPLE_NAME_MAX)
		return is->name;
	to = malloc(size);
	if (!to)
		return NULL;
	return simple_name(is->name, to) ? pool_string(pool, to) : is->name;
}

void frame_filter_text(const struct frame_filter *filter, struct bytes *bytes)
{
	for (uint32_t i = 0; filter && i < filter->n; i++) {
		const struct expression *expression = &filter->expressions[i];

		bytes_string(bytes, i ? " " : "");
		bytes_string(bytes, frame_filter_option(expression->kind));
		bytes_string(bytes, " '");
		bytes_name(bytes, expression->text, strlen(expression->text));
		bytes_char(bytes, '\'');
	}
	if (frame_filter_collapses(filter))
		bytes_string(bytes, filter->n ? " --collapse-recursion" : "--collapse-recursion");
}

const char *frame_filter_causes(const struct frame_filter *filter)
{
	return filter ? filter->causes : "";
}

/* ---- marks ---- */

/* A string that was looked at: a bit for each expression that matches. */
struct looked_at {
	const char *string;
	uint64_t matches;
};

struct frame_marks {
	const struct frame_filter *filter;
	struct looked_at *list;
	uint32_t n, capacity;
	struct index index;
};

int frame_marks_new(const struct frame_filter *filter, struct frame_marks **ret_marks)
{
	struct frame_marks *marks = calloc(1, sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	marks->filter = filter;
	*ret_marks = marks;
	return 0;
}

void frame_marks_free(struct frame_marks *marks)
{
	if (!marks)
		return;
	free(marks->list);
	index_free(&marks->index);
	free(marks);
}

static uint64_t match(const struct frame_filter *filter, const char *string)
{
	uint64_t matches = 0;

	for (uint32_t i = 0; i < filter->n; i++)
		if (regexec(&filter->expressions[i].compiled, string, 0, NULL, 0) == 0)
			matches |= 1ull << i;
	return matches;
}

static int look_at(struct frame_marks *marks, const char *string, uint64_t *matches)
{
	uint64_t hash = hash_u64((uintptr_t)string);
	struct index_cursor cursor;
	int r;

	if (!string)
		return 0;
	for (uint32_t at = index_first(&marks->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&marks->index, &cursor)) {
		if (marks->list[at].string == string) {
			*matches |= marks->list[at].matches;
			return 0;
		}
	}
	r = grow(&marks->list, &marks->capacity, (size_t)marks->n + 1);
	if (r == 0)
		r = index_add(&marks->index, hash, marks->n);
	if (r < 0)
		return r;
	marks->list[marks->n] = (struct looked_at){ string, match(marks->filter, string) };
	*matches |= marks->list[marks->n++].matches;
	return 0;
}

static int matches_of(struct frame_marks *marks, const struct names_frame *is, const char *shown,
		      const char *path, uint64_t *ret_matches)
{
	const char *strings[] = { shown, is->name, is->file, is->module, path };
	int r = 0;

	*ret_matches = 0;
	for (size_t i = 0; r == 0 && i < sizeof(strings) / sizeof(strings[0]); i++)
		r = look_at(marks, strings[i], ret_matches);
	return r;
}

int frame_marks_of(struct frame_marks *marks, const struct names_frame *is, const char *shown,
		   const char *path, uint32_t *ret_marks)
{
	uint64_t matches;
	int r = matches_of(marks, is, shown, path, &matches);

	if (r < 0)
		return r;
	*ret_marks = 0;
	for (uint32_t i = 0; i < marks->filter->n; i++)
		if (matches >> i & 1)
			*ret_marks |= 1u << marks->filter->expressions[i].kind;
	/* As in pprof, which hides first: no stack begins at what is hidden. */
	if (*ret_marks >> FRAME_FILTER_HIDE & 1)
		*ret_marks &= ~(1u << FRAME_FILTER_SHOW_FROM);
	return 0;
}

static int match_all(struct frame_marks *marks, const struct names *names, uint64_t *ret_matches)
{
	own(own_pool_free) struct pool *pool = NULL;
	int r = pool_new(&pool);

	*ret_matches = 0;
	for (uint32_t i = 0; r == 0 && i < names_n_frames(names); i++) {
		struct names_frame is = names_frame(names, i);
		bool has_path = is.object < names_n_objects(names);
		const char *shown = is.name;
		uint64_t matches;

		if (is.name && is.name[0])
			shown = frame_filter_name(marks->filter, &is, pool);
		if (is.name && !shown)
			return -ENOMEM;
		r = matches_of(marks, &is, shown,
			       has_path ? names_objects(names)[is.object].path : NULL, &matches);
		*ret_matches |= matches;
	}
	return r;
}

int frame_filter_unmatched(const struct frame_filter *filter, const struct names *names,
			   void (*tell)(void *context, const char *option, const char *expression),
			   void *context)
{
	own(own_frame_marks_free) struct frame_marks *marks = NULL;
	uint64_t matches;
	int r;

	if (!filter || !filter->n)
		return 0;
	r = frame_marks_new(filter, &marks);
	if (r == 0)
		r = match_all(marks, names, &matches);
	for (uint32_t i = 0; r == 0 && i < filter->n; i++)
		if (!(matches >> i & 1))
			tell(context, frame_filter_option(filter->expressions[i].kind),
			     filter->expressions[i].text);
	return r;
}
