// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/entry_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "view/profile.h"

/* One pass of a radix sort, by 16 bits of the count. */
static void sort_by(const struct tally_entry *entries, const uint32_t *from, uint32_t n,
		    unsigned int shift, uint32_t *places, uint32_t *to)
{
	uint32_t sum = 0;

	memset(places, 0, 65536 * sizeof(*places));
	for (uint32_t i = 0; i < n; i++)
		places[entries[i].count >> shift & 0xffff]++;
	for (uint32_t i = 0; i < 65536; i++) {
		uint32_t here = places[i];

		places[i] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < n; i++)
		to[places[entries[from[i]].count >> shift & 0xffff]++] = from[i];
}

/* The entries' numbers, ascending by count. */
static int rank(const struct tally_entry *entries, uint32_t n, uint32_t **ret_ranked)
{
	own(own_free) uint32_t *ranked = reallocarray(NULL, (size_t)n + 1, sizeof(*ranked));
	own(own_free) uint32_t *spare = reallocarray(NULL, (size_t)n + 1, sizeof(*spare));
	own(own_free) uint32_t *places = reallocarray(NULL, 65536, sizeof(*places));
	uint64_t most = 0;

	if (!ranked || !spare || !places)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		ranked[i] = i;
		if (entries[i].count > most)
			most = entries[i].count;
	}
	for (unsigned int shift = 0; shift < 64 && most >> shift; shift += 16) {
		uint32_t *sorted = spare;

		sort_by(entries, ranked, n, shift, places, sorted);
		spare = ranked;
		ranked = sorted;
	}
	*ret_ranked = take_ptr(ranked);
	return 0;
}

/* Makes indices of the entries before those of the entries behind. */
static int renumber(const uint32_t *ranked, uint32_t n, uint32_t *entry_of, uint32_t n_of)
{
	own(own_free) uint32_t *places = reallocarray(NULL, (size_t)n + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		places[ranked[i]] = i;
	for (uint32_t i = 0; i < n_of; i++)
		if (entry_of[i] != PROFILE_NO_ENTRY)
			entry_of[i] = places[entry_of[i]];
	return 0;
}

/* Puts the entries at their ranks, cycle by cycle, as a second list would take as much memory. */
static void arrange(struct tally_entry *entries, uint32_t n, uint32_t *ranked)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tally_entry first = entries[i];
		uint32_t at = i;

		while (ranked[at] != i) {
			uint32_t from = ranked[at];

			entries[at] = entries[from];
			ranked[at] = at;
			at = from;
		}
		entries[at] = first;
		ranked[at] = at;
	}
}

int entry_ranks_apply(struct tally_entry *entries, uint32_t n, uint32_t *entry_of, uint32_t n_of)
{
	own(own_free) uint32_t *ranked = NULL;
	int r = rank(entries, n, &ranked);

	if (r == 0 && entry_of)
		r = renumber(ranked, n, entry_of, n_of);
	if (r == 0)
		arrange(entries, n, ranked);
	return r;
}
