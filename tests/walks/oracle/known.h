/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of explained mismatches, read from a file of lines
 *
 *	OBJECT FUNCTION KIND why
 *
 * OBJECT and FUNCTION may be patterns; KIND is `wrong` or the end of the short walk.
 */
#ifndef STACKTALLY_TESTS_KNOWN_H
#define STACKTALLY_TESTS_KNOWN_H

#include <stdbool.h>
#include <stdio.h>

struct known;

/* `path` may be NULL. Exits if the file cannot be read. */
struct known *known_read(const char *path);
void known_free(struct known *known);

/* `name`: "function+0x1 (object)". Counts the line that matches. */
bool known_match(struct known *known, const char *name, const char *kind);
/* The lines that matched and the mismatches that no line explains, with their counts. */
void known_print(const struct known *known, FILE *out);

#endif
