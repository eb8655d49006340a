// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/stack_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

int stack_sets_open(const struct stack_keeping *keeping, const struct epoch_stacks_options *options,
		    struct stack_sets *ret_sets)
{
	struct epoch_stacks_options kept = *options;
	struct stack_sets sets = { .keeping = keeping };
	int r = 0;

	kept.of_event = keeping->of_event;
	while (r == 0 && sets.n < keeping->n_sets) {
		r = epoch_stacks_new(&kept, &sets.list[sets.n]);
		sets.n += r == 0;
	}
	if (r < 0) {
		stack_sets_close(&sets);
		return r;
	}
	*ret_sets = sets;
	return 0;
}

void stack_sets_close(struct stack_sets *sets)
{
	for (uint32_t i = 0; i < sets->n; i++)
		epoch_stacks_free(sets->list[i]);
	*sets = (struct stack_sets){ 0 };
}

int stack_sets_forget(const struct stack_sets *sets, struct images *images, struct tally *tally)
{
	uint32_t n = tally_n_addresses(tally);
	own(own_free) struct tally_address *before = malloc((n ? n : 1) * sizeof(*before));
	own(own_free) uint32_t *ids = calloc(images_n(images), sizeof(*ids));

	if (!before || !ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < sets->n; i++)
		epoch_stacks_mark_images(sets->list[i], tally, ids);
	if (n)
		memcpy(before, tally_addresses(tally), n * sizeof(*before));
	tally_reset(tally);
	images_forget(images, ids);
	for (uint32_t i = 0; i < sets->n; i++) {
		int r = epoch_stacks_rebase(sets->list[i], tally, before, ids);

		if (r < 0)
			return r;
	}
	return 0;
}
