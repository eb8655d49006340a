// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/rule_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/index.h"

_Static_assert(RULE_CACHE_SLOTS == 1 << (64 - 52), "rule_slot() takes the top bits");

struct rule_table {
	pthread_mutex_t lock;
	/* Of full size from the start, so that it never moves: readers need no lock for numbers
	   that they have. The kernel allocates its pages as they are touched. */
	struct wire_rule *rules;
	uint32_t n_rules;
	uint64_t refused;
	struct index by_rule;
};

int rule_table_new(struct rule_table **ret_table)
{
	const struct wire_rule gap = { .cfa = WIRE_CFA_NONE };
	const struct wire_rule full = { .cfa = WIRE_CFA_UNSUPPORTED,
					.extra = RULE_UNSUPPORTED_FULL };
	own(own_rule_table_free) struct rule_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	pthread_mutex_init(&table->lock, NULL);
	table->rules = reallocarray(NULL, WIRE_MAX_RULES, sizeof(*table->rules));
	if (!table->rules || rule_table_add(table, &gap) != RULE_GAP ||
	    rule_table_add(table, &full) != RULE_FULL)
		return -ENOMEM;
	*ret_table = take_ptr(table);
	return 0;
}

void rule_table_free(struct rule_table *table)
{
	if (!table)
		return;
	free(table->rules);
	index_free(&table->by_rule);
	pthread_mutex_destroy(&table->lock);
	free(table);
}

/* The number of a rule, or INDEX_NONE; the lock is held. */
static uint32_t find(const struct rule_table *table, const struct wire_rule *rule, uint64_t hash)
{
	struct index_cursor cursor;
	uint32_t i = index_first(&table->by_rule, hash, &cursor);

	while (i != INDEX_NONE && memcmp(&table->rules[i], rule, sizeof(*rule)) != 0)
		i = index_next(&table->by_rule, &cursor);
	return i;
}

static uint16_t find_or_add(struct rule_table *table, const struct wire_rule *rule)
{
	uint64_t hash = hash_bytes(rule, sizeof(*rule));
	uint32_t n = table->n_rules, found = find(table, rule, hash);

	if (found != INDEX_NONE)
		return (uint16_t)found;
	if (n == WIRE_MAX_RULES || index_add(&table->by_rule, hash, n)) {
		table->refused++;
		return RULE_FULL;
	}
	table->rules[n] = *rule;
	/* Readers without the lock see a rule before the count that includes it. */
	__atomic_store_n(&table->n_rules, n + 1, __ATOMIC_RELEASE);
	return (uint16_t)n;
}

uint16_t rule_table_add(struct rule_table *table, const struct wire_rule *rule)
{
	uint16_t number;

	pthread_mutex_lock(&table->lock);
	number = find_or_add(table, rule);
	pthread_mutex_unlock(&table->lock);
	return number;
}

uint16_t rule_table_find(struct rule_table *table, const struct wire_rule *rule)
{
	uint32_t found;

	pthread_mutex_lock(&table->lock);
	found = find(table, rule, hash_bytes(rule, sizeof(*rule)));
	pthread_mutex_unlock(&table->lock);
	return found == INDEX_NONE ? RULE_FULL : (uint16_t)found;
}

const struct wire_rule *rule_table_rules(const struct rule_table *table, uint32_t *ret_n)
{
	*ret_n = __atomic_load_n(&table->n_rules, __ATOMIC_ACQUIRE);
	return table->rules;
}

uint64_t rule_table_refused(const struct rule_table *table)
{
	return __atomic_load_n(&table->refused, __ATOMIC_RELAXED);
}
