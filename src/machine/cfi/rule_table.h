/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of unwinding rules: gives each distinct rule (bpf/unwind_wire.h) a number, which is
 * what rows hold. Rules repeat so much that all files of a distribution share some 4,000.
 *
 * Rules are only added, never changed or removed: a number stays valid as long as the table. All
 * functions but rule_table_free() may be called from several threads at once; each compilation
 * has a cache of its own, which answers most lookups without the lock. Must not know: files, rows,
 * the kernel's maps.
 */
#ifndef STACKTALLY_CFI_RULE_TABLE_H
#define STACKTALLY_CFI_RULE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "bpf/unwind_wire.h"

/* Numbers that every table has. */
#define RULE_GAP  0 /* WIRE_CFA_NONE: nothing is known of this code */
#define RULE_FULL 1 /* WIRE_CFA_UNSUPPORTED: the table had no room for the rule */

/* The `extra` of a WIRE_CFA_UNSUPPORTED rule: why it is not supported. */
enum rule_unsupported {
	RULE_UNSUPPORTED_FULL,	     /* the table was full */
	RULE_UNSUPPORTED_MALFORMED,  /* the call frame information is malformed */
	RULE_UNSUPPORTED_OTHER,	     /* an offset or a register is out of range */
	RULE_UNSUPPORTED_EXPRESSION, /* an expression of a form that no rule has */
};

struct rule_table;

int rule_table_new(struct rule_table **ret_rules);
void rule_table_free(struct rule_table *rules);
DEFINE_OWN(struct rule_table, rule_table_free)

#define RULE_CACHE_SLOTS 4096

/* The rules that one thread looked up last in one table; zeroed at first. */
struct rule_cache {
	struct wire_rule rules[RULE_CACHE_SLOTS];
	uint16_t numbers[RULE_CACHE_SLOTS]; /* 0: empty */
};

/* The number of a rule, which is added if it is new. RULE_FULL when there is no room for it. */
uint16_t rule_table_add(struct rule_table *rules, const struct wire_rule *rule);

/* The number of a rule; RULE_FULL if the table has it not. */
uint16_t rule_table_find(struct rule_table *rules, const struct wire_rule *rule);

static inline uint32_t rule_slot(const struct wire_rule *rule)
{
	uint64_t halves[2];

	__builtin_memcpy(halves, rule, sizeof(halves));
	halves[0] = (halves[0] ^ (halves[1] << 29 | halves[1] >> 35)) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(halves[0] >> 52);
}

/* The same through a cache. */
static inline uint16_t rule_number(struct rule_table *rules, struct rule_cache *cache,
				   const struct wire_rule *rule)
{
	uint32_t slot = rule_slot(rule);
	uint64_t is[2], have[2];

	__builtin_memcpy(is, rule, sizeof(is));
	__builtin_memcpy(have, &cache->rules[slot], sizeof(have));
	if (cache->numbers[slot] && is[0] == have[0] && is[1] == have[1])
		return cache->numbers[slot];
	cache->rules[slot] = *rule;
	cache->numbers[slot] = rule_table_add(rules, rule);
	return cache->numbers[slot];
}

/* All rules by number. The array never moves; other threads may add rules behind `*ret_n`. */
const struct wire_rule *rule_table_rules(const struct rule_table *rules, uint32_t *ret_n);

/* How often rule_table_add() returned RULE_FULL. */
uint64_t rule_table_refused(const struct rule_table *rules);

#endif
