// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/java_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LAMBDA	"$$Lambda"
#define ADDRESS "+0x"

/* Leaves out what a class without a name has in its name: its address, and a lambda's number. */
static char *skip_numbers(char *at, const char *name, const char *written)
{
	size_t lambda = strlen(LAMBDA);
	bool is_lambda =
		(size_t)(written - name) >= lambda && memcmp(written - lambda, LAMBDA, lambda) == 0;

	if (is_lambda && *at == '$' && isdigit((unsigned char)at[1])) {
		at++;
		while (isdigit((unsigned char)*at))
			at++;
	}
	if (strncmp(at, ADDRESS, strlen(ADDRESS)) == 0) {
		at += strlen(ADDRESS);
		while (isxdigit((unsigned char)*at))
			at++;
	}
	return at;
}

void java_name_show(char *name)
{
	char *to = name, *at = name;

	if (*name == '[') /* a stub */
		return;
	while (*at) {
		char *next = skip_numbers(at, name, to);

		if (next != at) {
			at = next;
			continue;
		}
		*to++ = *at == '/' ? '.' : *at;
		at++;
	}
	*to = '\0';
}
