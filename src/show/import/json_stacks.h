/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What readers of JSON have in common: its frames become addresses of the tally, its stacks, root
 * first, those of the tally, and its weights counts.
 */
#ifndef STACKTALLY_IMPORT_JSON_STACKS_H
#define STACKTALLY_IMPORT_JSON_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_reader.h"
#include "base/pool.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

/* In lists of numbers: null, or what is no such number. */
#define JSON_NONE UINT32_MAX

#define JSON_STACK_MAX 65536u /* frames; those nearer to the root are left out */

struct json_stacks {
	struct tally *tally; /* borrowed, as names are */
	struct names *names;
	struct pool *strings;
	struct tally_entry entry; /* of whom the stacks are */
	double each;		  /* what a weight of one counts */
	uint64_t total;
	uint32_t *stack; /* JSON_STACK_MAX, for readers to fill */
};

/* Of numbers. */
struct json_list {
	uint32_t *list;
	uint32_t n, capacity;
};

/* Both are empty. 0 or -ENOMEM; json_stacks_clear() is due in both cases. */
int json_stacks_start(struct json_stacks *stacks, struct tally *tally, struct names *names);
void json_stacks_clear(struct json_stacks *stacks);

/* Texts may be NULL. The id of the frame's address. 0 or a negative errno. */
int json_stacks_frame(struct json_stacks *stacks, const char *name, const char *module,
		      const char *file, uint32_t line, uint32_t *ret_id);

/* "gosvc (29752)": a thread, or a process with its id; or py-spy's `Thread 17778 "worker"`. */
void json_stacks_who(struct json_stacks *stacks, const char *name);

/*
 * What weights of this unit are counted as, and what the facts say of it: times are ns. False: the
 * unit is another one than that of the stacks before.
 */
bool json_stacks_unit(struct json_stacks *stacks, const char *unit, struct profile_meta *meta);

/* Counts the stack of `n` frames, leaf first. 0, -EDOM for a weight that counts nothing, -ERANGE
 * if the sum is too large, or another negative errno. */
int json_stacks_add(struct json_stacks *stacks, const uint32_t *frames, uint32_t n, bool cut,
		    double weight);

/* The string that is next, in the pool; *ret_text is NULL if another value is. 0 or -ENOMEM. */
int json_stacks_text(struct json_stacks *stacks, struct json_reader *json, const char **ret_text);

/* Reads a list of whole numbers; it is empty if another value is next. 0 or -ENOMEM. */
int json_list_read(struct json_reader *json, struct json_list *list);
void json_list_clear(struct json_list *list);
/* The number at an index, or JSON_NONE. */
static inline uint32_t json_list_at(const struct json_list *list, uint32_t at)
{
	return at < list->n ? list->list[at] : JSON_NONE;
}

/* Explains what a reader failed with. Returns `code`. */
int json_stacks_explain(int code, const struct json_reader *json, struct error *err);

#endif
