/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cfi/rules.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/index.h"

_Static_assert(RULE_CACHE_SLOTS == 1 << (64 - 52), "rule_slot() takes the top bits");

struct rule_table {
	pthread_mutex_t lock;
	/* It has its full size from the start: readers need no lock for what they know the number
	   of. The kernel gives the pages when they are touched. */
	struct wire_rule *rules;
	uint32_t n_rules;
	uint64_t refused;
	struct index by_rule;
};

int rule_table_new(struct rule_table **ret_book)
{
	const struct wire_rule gap = { .cfa = WIRE_CFA_NONE };
	const struct wire_rule full = { .cfa = WIRE_CFA_UNSUPPORTED,
					.extra = RULE_UNSUPPORTED_FULL };
	own(own_rule_table_free) struct rule_table *book = calloc(1, sizeof(*book));

	if (!book)
		return -ENOMEM;
	pthread_mutex_init(&book->lock, NULL);
	book->rules = reallocarray(NULL, WIRE_MAX_RULES, sizeof(*book->rules));
	if (!book->rules || rule_table_add(book, &gap) != RULE_GAP ||
	    rule_table_add(book, &full) != RULE_FULL)
		return -ENOMEM;
	*ret_book = take_ptr(book);
	return 0;
}

void rule_table_free(struct rule_table *book)
{
	if (!book)
		return;
	free(book->rules);
	index_free(&book->by_rule);
	pthread_mutex_destroy(&book->lock);
	free(book);
}

static uint16_t find_or_add(struct rule_table *book, const struct wire_rule *rule)
{
	uint64_t hash = hash_bytes(rule, sizeof(*rule));
	struct index_cursor cursor;
	uint32_t n = book->n_rules;

	for (uint32_t i = index_first(&book->by_rule, hash, &cursor); i != INDEX_NONE;
	     i = index_next(&book->by_rule, &cursor)) {
		if (memcmp(&book->rules[i], rule, sizeof(*rule)) == 0)
			return (uint16_t)i;
	}
	if (n == WIRE_MAX_RULES || index_add(&book->by_rule, hash, n)) {
		book->refused++;
		return RULE_FULL;
	}
	book->rules[n] = *rule;
	/* Who reads the count without the lock finds the rules it counts. */
	__atomic_store_n(&book->n_rules, n + 1, __ATOMIC_RELEASE);
	return (uint16_t)n;
}

uint16_t rule_table_add(struct rule_table *book, const struct wire_rule *rule)
{
	uint16_t number;

	pthread_mutex_lock(&book->lock);
	number = find_or_add(book, rule);
	pthread_mutex_unlock(&book->lock);
	return number;
}

const struct wire_rule *rule_table_rules(const struct rule_table *book, uint32_t *ret_n)
{
	*ret_n = __atomic_load_n(&book->n_rules, __ATOMIC_ACQUIRE);
	return book->rules;
}

uint64_t rule_table_refused(const struct rule_table *book)
{
	return __atomic_load_n(&book->refused, __ATOMIC_RELAXED);
}
