// SPDX-License-Identifier: GPL-2.0-or-later
#include "gauge/sum_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/libbpf.h>

#include "base/grow.h"
#include "stacktally.skel.h"

/* ---- opening and closing ---- */

void sum_sets_configure(struct stacktally *skeleton, uint32_t sets)
{
	bpf_map__set_max_entries(skeleton->maps.sums, sets);
}

static size_t sets_size(const struct sum_sets *sums)
{
	return (size_t)sums->n_sets * WIRE_EPOCHS * sizeof(struct wire_sums);
}

static int take_sum(void *context, const void *record, size_t size);

int sum_sets_open(struct sum_sets *sums, struct stacktally *skeleton, struct drain *drain,
		  struct error *err)
{
	const struct bpf_map *map = skeleton->maps.sums;
	void *sets;

	*sums = (struct sum_sets){ .stacks = stack_sets_of(drain_stacks(drain), 0),
				   .n_sets = bpf_map__max_entries(map) / WIRE_EPOCHS };
	sets = mmap(NULL, sets_size(sums), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (sets == MAP_FAILED)
		return error_set(err, -errno, "cannot map the sums: %s", strerror(errno));
	sums->sets = sets;
	drain_set_taker(drain, WIRE_KIND_SUM,
			&(struct record_taker){ sizeof(struct wire_sum), take_sum, sums });
	return 0;
}

void sum_sets_close(struct sum_sets *sums)
{
	if (sums->sets)
		munmap(sums->sets, sets_size(sums));
	free(sums->early);
	*sums = (struct sum_sets){ 0 };
}

/* ---- draining ---- */

/* Adds values to a stack, now or when it has come. */
static int add_sum(struct sum_sets *sums, const struct wire_hash *stack,
		   const struct stack_sum *sum)
{
	int r = epoch_stacks_sum(sums->stacks, stack, sum);

	if (r != -ENOENT)
		return r;
	r = grow(&sums->early, &sums->early_capacity, sums->n_early + 1);
	if (r == 0)
		sums->early[sums->n_early++] = (struct early_sum){ *stack, *sum };
	return r;
}

static int take_sum(void *context, const void *record, size_t size)
{
	const struct wire_sum *sum = record;

	(void)size;
	return add_sum(context, &sum->hash,
		       &(struct stack_sum){
			       .n = sum->n, .sum = sum->sum, .largest = sum->largest });
}

static int drain_sets(struct sum_sets *sums, uint32_t epoch)
{
	struct wire_sums *sets = sums->sets + epoch * sums->n_sets;

	for (uint32_t i = 0; i < sums->n_sets; i++) {
		for (uint32_t way = 0; way < WIRE_SUMS; way++) {
			struct wire_hash hash = { sets[i].low[way], sets[i].high[way] };
			struct stack_sum sum = { .n = sets[i].n[way],
						 .sum = sets[i].sum[way],
						 .largest = sets[i].largest[way] };
			int r;

			if (!sum.n)
				continue;
			sets[i].n[way] = 0;
			r = add_sum(sums, &hash, &sum);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Adds the values whose stack has come by now. */
static int add_early(struct sum_sets *sums)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sums->n_early; i++) {
		struct early_sum early = sums->early[i];
		int r = epoch_stacks_sum(sums->stacks, &early.stack, &early.sum);

		if (r == -ENOENT)
			sums->early[n++] = early;
		else if (r < 0)
			return r;
	}
	sums->n_early = n;
	return 0;
}

int sum_sets_drain(struct sum_sets *sums, uint32_t epoch)
{
	int r = drain_sets(sums, epoch);

	return r < 0 ? r : add_early(sums);
}

uint64_t sum_sets_lose(struct sum_sets *sums)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < sums->n_early; i++)
		lost += sums->early[i].sum.n;
	sums->n_early = 0;
	return lost;
}

int sum_sets_add_stack(struct epoch_stacks *stacks, struct tally *tally,
		       const struct wire_stack *stack, const uint64_t *frames)
{
	return epoch_stacks_enter(stacks, tally, stack, frames, 1);
}
