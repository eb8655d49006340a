// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kernel_alias.h"

#include <stdio.h>
#include <string.h>

#include "arch/machine.h"

#define PADDING_PREFIX "__pfx_" /* before the name of the function that is padded */

bool kernel_alias_is_boundary(const char *name, bool *ret_end)
{
	size_t length = strlen(name);
	bool end = length >= 9 && strcmp(name + length - 9, "_text_end") == 0;

	*ret_end = end || strcmp(name, "_etext") == 0 || strcmp(name, "_einittext") == 0;
	return *ret_end || strcmp(name, "_text") == 0 || strcmp(name, "_stext") == 0 ||
	       strcmp(name, "_sinittext") == 0 ||
	       (name[0] == '_' && length >= 11 && strcmp(name + length - 11, "_text_start") == 0);
}

bool kernel_alias(const char *name, char *ret_alias, size_t size)
{
	static const struct {
		const char *prefix, *alias;
	} known[] = {
		{ "__do_sys_", ARCH_SYSCALL_PREFIX },
		{ "__pi_", "" },
	};
	size_t padding = strlen(PADDING_PREFIX);

	if (strncmp(name, PADDING_PREFIX, padding) != 0)
		padding = 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = strlen(known[i].prefix);
		int n;

		if (strncmp(name + padding, known[i].prefix, length) != 0)
			continue;
		n = snprintf(ret_alias, size, "%.*s%s%s", (int)padding, name, known[i].alias,
			     name + padding + length);
		return n > 0 && (size_t)n < size;
	}
	return false;
}

static bool is_weak(char type)
{
	return type == 'W' || type == 'w';
}

bool kernel_alias_is_better(const char *name, char type, const char *known, char known_type)
{
	char alias[KERNEL_ALIAS_SIZE];
	bool end, boundary = kernel_alias_is_boundary(name, &end);
	bool known_boundary = kernel_alias_is_boundary(known, &end);

	if (boundary != known_boundary)
		return known_boundary;
	if (kernel_alias(known, alias, sizeof(alias)) && strcmp(alias, name) == 0)
		return true;
	return is_weak(known_type) && !is_weak(type);
}
