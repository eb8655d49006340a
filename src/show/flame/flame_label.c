// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/flame_label.h"

#include <stddef.h>
#include <string.h>

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '>' || (unsigned char)c >= 0x80;
}

static bool ends_with(const char *text, size_t size, const char *end)
{
	size_t n = strlen(end);

	return size >= n && memcmp(text + size - n, end, n) == 0;
}

/* The bracket that closes the one at `at`, or NULL. The > of -> closes nothing. */
static const char *closing(const char *at, char open, char close)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && !(close == '>' && at[-1] == '-') && --depth == 0)
			return at;
	}
	return NULL;
}

/* The size of the symbol of an operator that may stand at `at`: "()", "<<", "->". */
static size_t operator_size(const char *name, size_t used, const char *at)
{
	if (!ends_with(name, used, "operator"))
		return 0;
	return strncmp(at, "()", 2) == 0 ? 2 : strspn(at, "<>=!+-*/%^&|~,[]");
}

/*
 * Takes away the groups that follow a word: f(int), map<K, V>. Others are names of their own:
 * (anonymous namespace), <T as Trait>.
 */
static void drop_groups(char *name, char open, char close)
{
	size_t used = 0, operator_end = 0;

	for (const char *at = name; *at;) {
		size_t keep = operator_size(name, used, at);
		bool follows = used && (is_word(name[used - 1]) || used == operator_end);
		const char *end = NULL;

		if (keep) {
			operator_end = used + keep;
		} else if (follows && *at == open) {
			end = closing(at, open, close);
			keep = end ? 0 : 1;
		} else {
			/* Arguments within angle brackets stay with them. */
			if (follows && *at == '<')
				end = closing(at, '<', '>');
			keep = end ? (size_t)(end + 1 - at) : 1;
			end = NULL;
		}
		memmove(name + used, at, keep);
		used += keep;
		at = end ? end + 1 : at + keep;
	}
	name[used] = '\0';
}

static void drop_end(char *name, const char *end)
{
	size_t size = strlen(name);

	if (ends_with(name, size, end))
		name[size - strlen(end)] = '\0';
}

/* Keeps what follows the last :: outside brackets; {closure} and operators keep what they are in.
 */
static void drop_namespaces(char *name)
{
	const char *last = NULL, *before = NULL, *slash = NULL, *start;
	int depth = 0;

	for (const char *at = name; *at; at++) {
		if (strchr("(<{[", *at)) {
			depth++;
		} else if (strchr(")>}]", *at) && depth > 0) {
			depth--;
		} else if (depth == 0 && at[0] == ':' && at[1] == ':') {
			before = last;
			last = ++at + 1;
		} else if (depth == 0 && *at == '/') {
			slash = at + 1;
		}
	}
	start = last && strchr("{<", *last) ? before : last;
	/* Go: the path of the package, but not the package. */
	if (!last && slash && strchr(slash, '.'))
		start = slash;
	if (start && *start)
		memmove(name, start, strlen(start) + 1);
}

void flame_label_shorten(char *name, enum flame_shorter step)
{
	if (*name == '[')
		return;
	switch (step) {
	case FLAME_NO_ARGUMENTS:
		drop_groups(name, '(', ')');
		drop_end(name, " const");
		break;
	case FLAME_NO_TEMPLATES:
		drop_groups(name, '<', '>');
		break;
	default:
		drop_namespaces(name);
	}
}
