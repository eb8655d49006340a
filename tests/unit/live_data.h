/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tallies for tests of the live view. Their functions have names of one letter, which stand for
 * their addresses.
 */
#ifndef STACKTALLY_TESTS_LIVE_DATA_H
#define STACKTALLY_TESTS_LIVE_DATA_H

#include <string.h>

#include "live/model.h"

static inline struct tally *data_tally(void)
{
	struct tally *tally = NULL;

	assert_int_equal(tally_new(0, 0, &tally), 0);
	return tally;
}

static inline uint32_t data_stack(struct tally *tally, const char *stack)
{
	uint32_t ids[64], n = (uint32_t)strlen(stack), id = TALLY_STACK_NONE;

	for (uint32_t i = 0; i < n; i++) {
		const struct tally_address address = { .address = (uint64_t)stack[i], .image = 1 };

		assert_int_equal(tally_address(tally, &address, &ids[n - 1 - i]), 0);
	}
	assert_int_equal(tally_stack(tally, ids, n, 0, &id), 0);
	return id;
}

/* Counts `n` samples of process `tgid`; the stacks are letters, root first. */
static inline void data_count(struct tally *tally, uint64_t n, uint32_t tgid, const char *user,
			      const char *kernel)
{
	struct tally_entry entry = { .count = n, .tgid = tgid, .tid = tgid, .comm = "sh" };

	entry.user = data_stack(tally, user);
	entry.kernel = data_stack(tally, kernel);
	assert_int_equal(tally_add(tally, &entry), 0);
	tally_losses(tally)->events += n;
}

/* Names the addresses that `names` lacks: a callback of struct model_source. */
static inline int data_resolve(void *context, const struct tally *tally, struct names *names)
{
	(void)context;
	for (uint32_t i = names_n_addresses(names); i < tally_n_addresses(tally); i++) {
		const char letter[2] = { (char)tally_addresses(tally)[i].address };
		const struct names_frame frame = { .name = names_string(names, letter),
						   .module = names_string(names, "lib.so"),
						   .object = NAMES_NONE };
		int r = names_add_address(names, &frame, 1);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The names of the frames from the root to a node: "all;sh;a;b". */
static inline const char *data_path(const struct tree *tree, uint32_t node)
{
	static char text[1024];
	size_t at = sizeof(text) - 1;

	text[at] = '\0';
	for (;;) {
		const char *name = flame_frames_get(tree->frames, tree->nodes[node].frame)->name;
		size_t size = strlen(name);

		assert_true(at > size + 1);
		at -= size;
		memcpy(text + at, name, size);
		if (!node)
			return text + at;
		assert_true(tree->nodes[node].parent < node);
		node = tree->nodes[node].parent;
		text[--at] = ';';
	}
}

#endif
