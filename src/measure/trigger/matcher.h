/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns for names, compiled once and compared with thousands of names: wildcards (`*` and `?`)
 * or POSIX extended regular expressions, which must match the whole name.
 */
#ifndef STACKTALLY_TRIGGER_MATCHER_H
#define STACKTALLY_TRIGGER_MATCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/own.h"

struct matcher;

/* 0, -ENOMEM, or -EINVAL for a pattern that does not compile or is longer than 4096 bytes. */
int matcher_new(const char *pattern, bool regexp, struct matcher **ret_matcher, struct error *err);
void matcher_free(struct matcher *matcher);
DEFINE_OWN(struct matcher, matcher_free)

bool matcher_matches(const struct matcher *matcher, const char *name);

/* Whether it matches one name only: no regular expression, no wildcards. */
bool matcher_is_name(const struct matcher *matcher);

/* The pattern as the regular expression that bcc shows for it: "c*" is "^c.*$". */
void matcher_describe(const char *pattern, bool regexp, char *buffer, size_t size);

#endif
