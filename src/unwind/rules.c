/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/rules.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/index.h"

_Static_assert(RULE_CACHE_SLOTS == 1 << (64 - 52), "rule_slot() takes the top bits");

struct expression {
	uint16_t size;
	uint8_t bytes[];
};

struct rule_book {
	pthread_mutex_t lock;
	/* Both arrays have their full size from the start: readers need no lock for what they know
	   the number of. The kernel gives the pages when they are touched. */
	struct wire_rule *rules;
	struct expression **expressions; /* from RULE_FIRST_EXPRESSION on */
	uint32_t n_rules, n_expressions;
	uint64_t refused;
	struct index by_rule, by_expression;
};

int rule_book_new(struct rule_book **ret_book)
{
	const struct wire_rule gap = { .cfa = WIRE_CFA_NONE };
	const struct wire_rule full = { .cfa = WIRE_CFA_UNSUPPORTED,
					.extra = RULE_UNSUPPORTED_FULL };
	own(own_rule_book_free) struct rule_book *book = calloc(1, sizeof(*book));

	if (!book)
		return -ENOMEM;
	pthread_mutex_init(&book->lock, NULL);
	book->rules = calloc(WIRE_MAX_RULES, sizeof(*book->rules));
	book->expressions = calloc(RULE_MAX_EXPRESSIONS, sizeof(struct expression *));
	if (!book->rules || !book->expressions || rule_book_add(book, &gap) != RULE_GAP ||
	    rule_book_add(book, &full) != RULE_FULL)
		return -ENOMEM;
	*ret_book = take_ptr(book);
	return 0;
}

void rule_book_free(struct rule_book *book)
{
	if (!book)
		return;
	for (uint32_t i = 0; i < book->n_expressions; i++)
		free(book->expressions[i]);
	free(book->expressions);
	free(book->rules);
	index_free(&book->by_rule);
	index_free(&book->by_expression);
	pthread_mutex_destroy(&book->lock);
	free(book);
}

static uint16_t find_or_add(struct rule_book *book, const struct wire_rule *rule)
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

uint16_t rule_book_add(struct rule_book *book, const struct wire_rule *rule)
{
	uint16_t number;

	pthread_mutex_lock(&book->lock);
	number = find_or_add(book, rule);
	pthread_mutex_unlock(&book->lock);
	return number;
}

static int32_t find_or_add_expression(struct rule_book *book, const uint8_t *bytes, size_t size)
{
	uint64_t hash = hash_bytes(bytes, size);
	struct index_cursor cursor;
	uint32_t n = book->n_expressions;
	struct expression *added;

	for (uint32_t i = index_first(&book->by_expression, hash, &cursor); i != INDEX_NONE;
	     i = index_next(&book->by_expression, &cursor)) {
		const struct expression *known = book->expressions[i];

		if (known->size == size && memcmp(known->bytes, bytes, size) == 0)
			return RULE_FIRST_EXPRESSION + (int32_t)i;
	}
	added = n < RULE_MAX_EXPRESSIONS ? malloc(sizeof(*added) + size) : NULL;
	if (!added)
		return RULE_UNSUPPORTED_UNKEPT;
	added->size = (uint16_t)size;
	memcpy(added->bytes, bytes, size);
	if (index_add(&book->by_expression, hash, n)) {
		free(added);
		return RULE_UNSUPPORTED_UNKEPT;
	}
	book->expressions[n] = added;
	__atomic_store_n(&book->n_expressions, n + 1, __ATOMIC_RELEASE);
	return RULE_FIRST_EXPRESSION + (int32_t)n;
}

int32_t rule_book_add_expression(struct rule_book *book, const uint8_t *bytes, size_t size)
{
	int32_t number;

	if (size > RULE_MAX_EXPRESSION_SIZE)
		return RULE_UNSUPPORTED_UNKEPT;
	pthread_mutex_lock(&book->lock);
	number = find_or_add_expression(book, bytes, size);
	pthread_mutex_unlock(&book->lock);
	return number;
}

const struct wire_rule *rule_book_rules(const struct rule_book *book, uint32_t *ret_n)
{
	*ret_n = __atomic_load_n(&book->n_rules, __ATOMIC_ACQUIRE);
	return book->rules;
}

const uint8_t *rule_book_expression(const struct rule_book *book, int32_t number, size_t *ret_size)
{
	uint32_t n = __atomic_load_n(&book->n_expressions, __ATOMIC_ACQUIRE);
	const struct expression *expression;

	if (number < RULE_FIRST_EXPRESSION || (uint32_t)number - RULE_FIRST_EXPRESSION >= n)
		return NULL;
	expression = book->expressions[number - RULE_FIRST_EXPRESSION];
	*ret_size = expression->size;
	return expression->bytes;
}

uint64_t rule_book_refused(const struct rule_book *book)
{
	return __atomic_load_n(&book->refused, __ATOMIC_RELAXED);
}
