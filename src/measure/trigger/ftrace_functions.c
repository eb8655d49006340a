// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/ftrace_functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/partition.h"
#include "base/pool.h"
#include "trigger/matcher.h"
#include "trigger/nearest.h"

/* From a function's first byte to the instruction ftrace patches: past ENDBR, BTI and the like. */
#define PATCH_SITE_MAX 32

struct reader {
	const struct matcher *matcher;
	struct nearest *nearest;
	bool with_addresses;
	struct ftrace_functions *functions;
};

const char *ftrace_functions_key(const char *name, const char *module, size_t module_size,
				 char buffer[FTRACE_FUNCTIONS_KEY_SIZE])
{
	if (!module)
		return name;
	snprintf(buffer, FTRACE_FUNCTIONS_KEY_SIZE, "%s\t%.*s", name, (int)module_size - 2,
		 module + 1);
	return buffer;
}

static bool has_key(const struct ftrace_functions *functions, const char *key)
{
	struct index_cursor cursor;
	uint32_t i = index_first(&functions->by_key, hash_bytes(key, strlen(key)), &cursor);

	while (i != INDEX_NONE && strcmp(functions->keys[i], key) != 0)
		i = index_next(&functions->by_key, &cursor);
	return i != INDEX_NONE;
}

static int add_key(struct ftrace_functions *functions, const char *key)
{
	int r;

	if (has_key(functions, key))
		return 0;
	r = grow(&functions->keys, &functions->keys_capacity, functions->n_keys + 1);
	if (r < 0)
		return r;
	functions->keys[functions->n_keys] = pool_string(functions->pool, key);
	if (!functions->keys[functions->n_keys])
		return -ENOMEM;
	r = index_add(&functions->by_key, hash_bytes(key, strlen(key)), functions->n_keys);
	if (r < 0)
		return r;
	functions->n_keys++;
	return 0;
}

static int add_site(struct ftrace_functions *functions, uint64_t site)
{
	int r = grow(&functions->sites, &functions->sites_capacity, functions->n_sites + 1);

	if (r < 0)
		return r;
	functions->sites[functions->n_sites++] = site;
	return 0;
}

static int read_line(void *context, char *line, size_t size)
{
	const struct reader *reader = context;
	const char *at = line, *module = NULL;
	char *name, *name_end, *module_end = NULL, buffer[FTRACE_FUNCTIONS_KEY_SIZE];
	uint64_t site = 0;
	int r;

	if (reader->with_addresses && !lines_hex(&at, line + size, &site))
		return 0;
	name = line + (at - line);
	name += strspn(name, " \t");
	name_end = name + strcspn(name, " \t");
	if (*name_end) {
		module = name_end + strspn(name_end, " \t");
		module_end = *module == '[' ? strchr(module, ']') : NULL;
		*name_end = '\0';
	}
	if (strncmp(name, "__ftrace_invalid_address__", 26) == 0)
		return 0;
	if (!matcher_matches(reader->matcher, name)) {
		if (reader->nearest)
			nearest_add(reader->nearest, name);
		return 0;
	}
	r = add_key(reader->functions,
		    module_end ? ftrace_functions_key(name, module,
						      (size_t)(module_end + 1 - module), buffer)
			       : name);
	return r == 0 && site ? add_site(reader->functions, site) : r;
}

static int compare_sites(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

int ftrace_functions_read(int fd, bool with_addresses, const struct matcher *matcher,
			  struct nearest *nearest, struct ftrace_functions *ret_functions)
{
	struct reader reader = { .matcher = matcher,
				 .nearest = nearest,
				 .with_addresses = with_addresses,
				 .functions = ret_functions };
	int r;

	*ret_functions = (struct ftrace_functions){ 0 };
	r = pool_new(&ret_functions->pool);
	if (r < 0)
		return r;
	r = lines_read(fd, UINT64_MAX, read_line, &reader);
	if (r < 0)
		return r;
	if (ret_functions->n_sites > 0)
		qsort(ret_functions->sites, ret_functions->n_sites, sizeof(*ret_functions->sites),
		      compare_sites);
	return 0;
}

void ftrace_functions_clear(struct ftrace_functions *functions)
{
	pool_free(functions->pool);
	free(functions->keys);
	index_free(&functions->by_key);
	free(functions->sites);
	*functions = (struct ftrace_functions){ 0 };
}

static bool has_site(const struct ftrace_functions *functions, uint64_t address)
{
	size_t at = partition_point(i, functions->n_sites, functions->sites[i] < address);

	return at < functions->n_sites && functions->sites[at] - address < PATCH_SITE_MAX;
}

bool ftrace_functions_have(const struct ftrace_functions *functions, const char *key,
			   uint64_t address)
{
	if (!has_key(functions, key))
		return false;
	/* Of several functions with this name only those with a patch site can be traced. */
	return functions->n_sites == 0 || !address || has_site(functions, address);
}
