// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/java_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LAMBDA "$$Lambda"

static char *skip_digits(char *at)
{
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

/* "+0x00007f00a4c01200", or with another sign; JFR has a hash behind it, "/1003752023". */
static char *skip_address(char *at)
{
	if (!strchr("+./", *at) || at[1] != '0' || at[2] != 'x' || !isxdigit((unsigned char)at[3]))
		return at;
	at += 3;
	while (isxdigit((unsigned char)*at))
		at++;
	return *at == '/' && isdigit((unsigned char)at[1]) ? skip_digits(at + 1) : at;
}

/* Leaves out what a class without a name has in its name: its address, and a lambda's number. */
static char *skip_numbers(char *at, const char *name, const char *written)
{
	size_t lambda = strlen(LAMBDA);
	bool is_lambda =
		(size_t)(written - name) >= lambda && memcmp(written - lambda, LAMBDA, lambda) == 0;

	if (is_lambda && *at == '$' && isdigit((unsigned char)at[1]))
		at = skip_digits(at + 1);
	return skip_address(at);
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
