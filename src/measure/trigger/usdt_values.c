// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/usdt_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "trigger/usdt_arguments.h"

/* More do not fit into the steps of an expression. */
#define WAYS_MAX 16

/* How the sites have an argument. */
struct ways {
	struct event_value list[WAYS_MAX];
	uint32_t n_sites[WAYS_MAX];
	uint32_t n;
	uint8_t *of_site; /* its number in the list */
};

static void clear(struct ways *ways)
{
	free(ways->of_site);
}

static struct event_value argument_of(const struct site *site, uint32_t number)
{
	struct event_value value;

	memcpy(&value, site->arguments + number * sizeof(value), sizeof(value));
	return value;
}

static uint32_t way_of(struct ways *ways, const struct event_value *value)
{
	for (uint32_t i = 0; i < ways->n; i++)
		if (event_value_is_alike(&ways->list[i], value))
			return i;
	if (ways->n < WAYS_MAX)
		ways->list[ways->n++] = *value;
	else
		return WAYS_MAX;
	return ways->n - 1;
}

/* False: not all sites have it, or they have it in too many ways. */
static bool find_ways(const struct sites *sites, uint32_t number, struct ways *ways)
{
	for (uint32_t i = 0; i < sites->n; i++) {
		struct event_value value = { 0 };
		uint32_t way;

		if (number < sites->items[i].n_arguments)
			value = argument_of(&sites->items[i], number);
		way = value.size ? way_of(ways, &value) : WAYS_MAX;
		if (way == WAYS_MAX)
			return false;
		ways->of_site[i] = (uint8_t)way;
		ways->n_sites[way]++;
	}
	return true;
}

static uint32_t in_page(const struct site *site)
{
	return (uint32_t)site->offset & EVENT_VALUE_IN_PAGE;
}

/* Whether the end of an address tells in which way its site has the argument. */
static bool are_told_apart(const struct sites *sites, const struct ways *ways)
{
	uint8_t way_at[EVENT_VALUE_IN_PAGE + 1] = { 0 }; /* 1 more; 0: none */

	for (uint32_t i = 0; i < sites->n; i++) {
		uint8_t *way = &way_at[in_page(&sites->items[i])];

		if (*way && *way != ways->of_site[i] + 1)
			return false;
		*way = (uint8_t)(ways->of_site[i] + 1);
	}
	return true;
}

static void append(const struct sites *sites, const struct ways *ways, uint32_t way,
		   struct event_value_site *list, uint32_t *n)
{
	for (uint32_t i = 0; i < sites->n; i++)
		if (ways->of_site[i] == way)
			list[(*n)++] =
				(struct event_value_site){ .in_page = in_page(&sites->items[i]),
							   .value = ways->list[way] };
}

/* The way of the most sites comes last: these need not be looked for. */
static int list_sites(const struct sites *sites, const struct ways *ways,
		      struct event_value_site **ret_list)
{
	struct event_value_site *list = calloc(sites->n, sizeof(*list));
	uint32_t most = 0, n = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 1; i < ways->n; i++)
		if (ways->n_sites[i] > ways->n_sites[most])
			most = i;
	for (uint32_t i = 0; i < ways->n; i++)
		if (i != most)
			append(sites, ways, i, list, &n);
	append(sites, ways, most, list, &n);
	*ret_list = list;
	return 0;
}

/*
 * Sites may have it in different sizes, of which the largest is that of the whole. It has a sign if
 * it has one anywhere: a constant is an int where a variable is a size_t.
 */
static struct event_value by_site(const struct ways *ways, const struct event_value_site *list,
				  uint32_t n)
{
	struct event_value whole = { .kind = EVENT_VALUE_BY_SITE,
				     .text = EVENT_TEXT_USER,
				     .offset = usdt_arguments_address,
				     .sites = list,
				     .n_sites = n };

	for (uint32_t i = 0; i < ways->n; i++) {
		const struct event_value *way = &ways->list[i];

		whole.size = way->size > whole.size ? way->size : whole.size;
		whole.is_signed |= way->is_signed;
		if (way->text != EVENT_TEXT_USER)
			whole.text = EVENT_TEXT_NONE;
	}
	return whole;
}

static int add_argument(struct sites *sites, uint32_t number)
{
	own(clear) struct ways ways = { .of_site = calloc(sites->n, sizeof(*ways.of_site)) };
	struct event_value value;
	char name[16];
	int r = 0;

	if (!ways.of_site)
		return -ENOMEM;
	if (!find_ways(sites, number, &ways) || !are_told_apart(sites, &ways))
		return 0;
	value = ways.list[0];
	if (ways.n > 1) {
		r = list_sites(sites, &ways, &sites->arguments[number]);
		if (r < 0)
			return r;
		value = by_site(&ways, sites->arguments[number], sites->n);
	}
	snprintf(name, sizeof(name), "arg%u", number + 1);
	return value_list_add(&sites->values, name, &value);
}

int usdt_values_add(struct sites *sites)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && sites->n && i < USDT_ARGUMENTS_MAX; i++)
		r = add_argument(sites, i);
	return r;
}
