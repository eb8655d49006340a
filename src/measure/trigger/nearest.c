// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TOO_FAR UINT32_MAX

void nearest_init(struct nearest *nearest, const char *pattern)
{
	size_t n = 0;

	*nearest = (struct nearest){ 0 };
	for (; *pattern; pattern++) {
		if (*pattern == '*' || *pattern == '?')
			continue;
		if (n + 1 == sizeof(nearest->wanted)) { /* nothing this long is a typing error */
			n = 0;
			break;
		}
		nearest->wanted[n++] = *pattern;
	}
	nearest->wanted[n] = '\0';
}

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
	if (a > b)
		a = b;
	return a < c ? a : c;
}

/* The Levenshtein distance of the two; TOO_FAR when more than `limit`. */
static uint32_t edits(const char *a, size_t na, const char *b, size_t nb, uint32_t limit)
{
	uint32_t row[NEAREST_NAME_MAX + 1];

	if (na > nb + limit || nb > na + limit)
		return TOO_FAR;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (uint32_t)j;
	for (size_t i = 1; i <= na; i++) {
		uint32_t diagonal = row[0], least = (uint32_t)i;

		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= nb; j++) {
			uint32_t above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
			if (row[j] < least)
				least = row[j];
		}
		if (least > limit)
			return TOO_FAR;
	}
	return row[nb] <= limit ? row[nb] : TOO_FAR;
}

/* `f` of `a::b::f(int)` and of `int f<int>(int)`. */
static size_t base_name(const char *name, const char **ret_base)
{
	size_t n = strcspn(name, "(<");

	*ret_base = name;
	for (size_t i = 0; i + 1 < n; i++)
		if (name[i] == ' ' || (name[i] == ':' && i > 0 && name[i - 1] == ':'))
			*ret_base = name + i + 1;
	return n - (size_t)(*ret_base - name);
}

/* The same function with other arguments, or in another namespace, as an inline one is. */
static bool is_namesake(const char *wanted, const char *name)
{
	const char *a, *b;
	size_t n = base_name(wanted, &a);

	return n >= 3 && base_name(name, &b) == n && memcmp(a, b, n) == 0;
}

/* Rates variants of the compiler ("f.isra.0") best, then typing errors, then longer names. */
static uint32_t distance(const char *wanted, const char *name)
{
	size_t n_wanted = strlen(wanted), n_name = strlen(name);
	uint32_t limit = n_wanted < 4 ? 1 : n_wanted < 12 ? 2 : 4;
	uint32_t d;

	if (n_name >= NEAREST_NAME_MAX)
		return TOO_FAR;
	if (n_wanted >= 3 && strncmp(name, wanted, n_wanted) == 0)
		return name[n_wanted] == '.' ? 0 : (uint32_t)(n_name - n_wanted) + 2;
	d = edits(wanted, n_wanted, name, n_name, limit);
	if (d == TOO_FAR && n_wanted >= 4 && strstr(name, wanted))
		return (uint32_t)(n_name - n_wanted) + 8;
	if (d == TOO_FAR && is_namesake(wanted, name))
		return NEAREST_NAME_MAX + 8;
	return d;
}

void nearest_add(struct nearest *nearest, const char *name)
{
	uint32_t d, at;

	if (!nearest->wanted[0])
		return;
	d = distance(nearest->wanted, name);
	if (d == TOO_FAR)
		return;
	for (at = 0; at < nearest->n; at++) {
		if (strcmp(nearest->found[at].name, name) == 0)
			return;
	}
	for (at = nearest->n; at > 0 && nearest->found[at - 1].distance > d; at--) {
		if (at < NEAREST_MAX)
			nearest->found[at] = nearest->found[at - 1];
	}
	if (at == NEAREST_MAX)
		return;
	nearest->found[at].distance = d;
	snprintf(nearest->found[at].name, sizeof(nearest->found[at].name), "%s", name);
	if (nearest->n < NEAREST_MAX)
		nearest->n++;
}

void nearest_describe(const struct nearest *nearest, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (uint32_t i = 0; i < nearest->n; i++) {
		bool last = i + 1 == nearest->n;
		int n = snprintf(buffer + used, size - used, "%s%s%s",
				 i == 0 ? "; did you mean "
				 : last ? " or "
					: ", ",
				 nearest->found[i].name, last ? "?" : "");

		if (n < 0 || (size_t)n >= size - used) {
			buffer[used] = '\0';
			return;
		}
		used += (size_t)n;
	}
}
