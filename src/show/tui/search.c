// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/search.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/regexp.h"

struct search {
	char *text;
	bool exact;
	regex_t regex;
	bool *finds;
	uint32_t n, capacity;
};

static bool has_capital(const char *text)
{
	for (; *text; text++) {
		if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

static int new_with_text(const char *text, struct search **ret_search)
{
	struct search *search = calloc(1, sizeof(*search));

	if (search)
		search->text = strdup(text);
	if (!search || !search->text) {
		free(search);
		return -ENOMEM;
	}
	search->exact = true;
	*ret_search = search;
	return 0;
}

int search_new(const char *expression, char *ret_why, size_t size, struct search **ret_search)
{
	int flags = REG_NOSUB | (has_capital(expression) ? 0 : REG_ICASE);
	struct search *search = NULL;
	int r = new_with_text(expression, &search);

	if (r < 0)
		return r;
	r = regexp_compile(&search->regex, expression, flags);
	if (r) {
		regerror(r, &search->regex, ret_why, size);
		search_free(search);
		return -EINVAL;
	}
	search->exact = false;
	*ret_search = search;
	return 0;
}

int search_new_name(const char *name, struct search **ret_search)
{
	return new_with_text(name, ret_search);
}

void search_free(struct search *search)
{
	if (!search)
		return;
	if (!search->exact)
		regfree(&search->regex);
	free(search->text);
	free(search->finds);
	free(search);
}

const char *search_text(const struct search *search)
{
	return search->text;
}

int search_update(struct search *search, const struct flame_frame *frames, uint32_t n_frames)
{
	int r = grow(&search->finds, &search->capacity, n_frames);

	if (r < 0)
		return r;
	for (; search->n < n_frames; search->n++) {
		const char *name = frames[search->n].name;

		search->finds[search->n] = search->exact
						   ? strcmp(name, search->text) == 0
						   : regexec(&search->regex, name, 0, NULL, 0) == 0;
	}
	return 0;
}

bool search_finds(const struct search *search, uint32_t frame)
{
	return search && frame < search->n && search->finds[frame];
}
