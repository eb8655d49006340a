// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/maps.h"

#include <string.h>
#include <sys/sysmacros.h>

#define DELETED " (deleted)"

/* Parses a number in `base` 10 or 16; false when there is none or it exceeds 64 bits. */
static bool number(const char **at, const char *end, unsigned int base, uint64_t *ret_value)
{
	const char *from = *at, *p = from;
	uint64_t value = 0;

	for (; p < end; p++) {
		unsigned int digit;

		if (*p >= '0' && *p <= '9')
			digit = (unsigned int)(*p - '0');
		else if (base == 16 && *p >= 'a' && *p <= 'f')
			digit = (unsigned int)(*p - 'a') + 10;
		else
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (p == from)
		return false;
	*at = p;
	*ret_value = value;
	return true;
}

static bool character(const char **at, const char *end, char expected)
{
	if (*at >= end || **at != expected)
		return false;
	(*at)++;
	return true;
}

static bool access_flags(const char **at, const char *end, uint32_t *ret_access)
{
	static const char set[] = "rwxs", unset[] = "---p";
	uint32_t access = 0;

	if (end - *at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		if ((*at)[i] == set[i])
			access |= 1u << i;
		else if ((*at)[i] != unset[i])
			return false;
	}
	*at += 4;
	*ret_access = access;
	return true;
}

static bool parse(const char *at, const char *end, struct maps_line *line)
{
	uint64_t major_number, minor_number;

	if (!number(&at, end, 16, &line->start) || !character(&at, end, '-') ||
	    !number(&at, end, 16, &line->end) || !character(&at, end, ' ') ||
	    !access_flags(&at, end, &line->access) || !character(&at, end, ' ') ||
	    !number(&at, end, 16, &line->offset) || !character(&at, end, ' ') ||
	    !number(&at, end, 16, &major_number) || !character(&at, end, ':') ||
	    !number(&at, end, 16, &minor_number) || !character(&at, end, ' ') ||
	    !number(&at, end, 10, &line->inode))
		return false;
	if (line->start >= line->end || major_number > UINT32_MAX || minor_number > UINT32_MAX)
		return false;
	if (at < end && *at != ' ')
		return false;
	line->device = makedev((unsigned int)major_number, (unsigned int)minor_number);
	while (at < end && *at == ' ')
		at++;
	line->name = at;
	line->name_size = (size_t)(end - at);
	return memchr(at, '\0', line->name_size) == NULL;
}

bool maps_next(const char **at, const char *end, struct maps_line *ret_line)
{
	while (*at < end) {
		const char *from = *at;
		const char *newline = memchr(from, '\n', (size_t)(end - from));
		struct maps_line line;

		*at = newline ? newline + 1 : end;
		if (parse(from, newline ? newline : end, &line)) {
			*ret_line = line;
			return true;
		}
	}
	return false;
}

size_t maps_name(const struct maps_line *line, char *ret_name, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < line->name_size && n + 1 < size; i++) {
		if (line->name_size - i >= 4 && memcmp(line->name + i, "\\012", 4) == 0) {
			ret_name[n++] = '\n';
			i += 3;
		} else {
			ret_name[n++] = line->name[i];
		}
	}
	if (size)
		ret_name[n] = '\0';
	return n;
}

size_t maps_name_undeleted(const char *name, size_t size)
{
	size_t suffix = strlen(DELETED);

	if (size > suffix && memcmp(name + size - suffix, DELETED, suffix) == 0)
		return size - suffix;
	return size;
}
