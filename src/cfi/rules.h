/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The book of unwinding rules: gives each distinct rule (bpf/unwind_wire.h) a number, the same
 * for all files, which is what rows hold.
 *
 * Rules are only ever added, never changed or removed: numbers stay good for the life of the
 * book. One book serves several threads; each of them asks through a cache of its own, which
 * answers nearly all questions without a lock. Must not know: files, rows, the kernel's maps.
 */
#ifndef STACKTALLY_CFI_RULES_H
#define STACKTALLY_CFI_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "bpf/unwind_wire.h"

/* Numbers that every book has. */
#define RULE_GAP  0 /* WIRE_CFA_NONE: nothing is known of this code */
#define RULE_FULL 1 /* WIRE_CFA_UNSUPPORTED: the rule found no number left */

/* What the `extra` of a WIRE_CFA_UNSUPPORTED rule says: why there is none. */
enum rule_unsupported {
	RULE_UNSUPPORTED_FULL,	     /* the book was full */
	RULE_UNSUPPORTED_MALFORMED,  /* the call frame instructions make no sense */
	RULE_UNSUPPORTED_OTHER,	     /* an offset, a register out of range ... */
	RULE_UNSUPPORTED_EXPRESSION, /* one of a form that no rule has */
};

struct rule_table;

int rule_table_new(struct rule_table **ret_book);
void rule_table_free(struct rule_table *book);
DEFINE_OWN(struct rule_table, rule_table_free)

#define RULE_CACHE_SLOTS 4096

/* What one thread asked last; zeroed to begin with. For one book. */
struct rule_cache {
	struct wire_rule rules[RULE_CACHE_SLOTS];
	uint16_t numbers[RULE_CACHE_SLOTS]; /* 0: empty */
};

/* The number of a rule; RULE_FULL, and counted, when the book has no room for it. */
uint16_t rule_table_add(struct rule_table *book, const struct wire_rule *rule);

static inline uint32_t rule_slot(const struct wire_rule *rule)
{
	uint64_t halves[2];

	__builtin_memcpy(halves, rule, sizeof(halves));
	halves[0] = (halves[0] ^ (halves[1] << 29 | halves[1] >> 35)) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(halves[0] >> 52);
}

/* The same, fast. */
static inline uint16_t rule_number(struct rule_table *book, struct rule_cache *cache,
				   const struct wire_rule *rule)
{
	uint32_t slot = rule_slot(rule);
	uint64_t is[2], have[2];

	__builtin_memcpy(is, rule, sizeof(is));
	__builtin_memcpy(have, &cache->rules[slot], sizeof(have));
	if (cache->numbers[slot] && is[0] == have[0] && is[1] == have[1])
		return cache->numbers[slot];
	cache->rules[slot] = *rule;
	cache->numbers[slot] = rule_table_add(book, rule);
	return cache->numbers[slot];
}

/* All rules by number; the array stays where it is, and grows behind `*ret_n`. */
const struct wire_rule *rule_table_rules(const struct rule_table *book, uint32_t *ret_n);

/* How many questions were answered with RULE_FULL (per cache, at its first asking). */
uint64_t rule_table_refused(const struct rule_table *book);

#endif
