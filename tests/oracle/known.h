/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mismatches that have an explanation. A file of lines
 *
 *	OBJECT FUNCTION KIND why
 *
 * FUNCTION may be a pattern, as may OBJECT; KIND is `wrong` or how the short walk ends.
 */
#ifndef STACKTALLY_TESTS_KNOWN_H
#define STACKTALLY_TESTS_KNOWN_H

#include <stdbool.h>
#include <stdio.h>

struct known;

/* From a file (NULL: none). Exits when it cannot be read. */
struct known *known_read(const char *path);
void known_free(struct known *known);

/* `name`: "function+0x1 (object)". Counts the line that matches. */
bool known_match(struct known *known, const char *name, const char *kind);
/* Each line that matched, with how often; and where nothing did. */
void known_print(const struct known *known, FILE *out);

#endif
