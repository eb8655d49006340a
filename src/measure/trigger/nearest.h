/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names most similar to one that was not found, collected while thousands are looked at.
 */
#ifndef STACKTALLY_TRIGGER_NEAREST_H
#define STACKTALLY_TRIGGER_NEAREST_H

#include <stddef.h>
#include <stdint.h>

#define NEAREST_MAX	 5
#define NEAREST_NAME_MAX 128

struct nearest {
	char wanted[NEAREST_NAME_MAX]; /* "": collects nothing */
	uint32_t n;
	struct {
		uint32_t distance;
		char name[NEAREST_NAME_MAX];
	} found[NEAREST_MAX]; /* nearest first */
};

/* Names are compared with the pattern without its wildcards. */
void nearest_init(struct nearest *nearest, const char *pattern);
/* Considers a name. */
void nearest_add(struct nearest *nearest, const char *name);

/* Fills the buffer with "; did you mean a, b or c?", or "" when no name is similar. */
void nearest_describe(const struct nearest *nearest, char *buffer, size_t size);

#endif
