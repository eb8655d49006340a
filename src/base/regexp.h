/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions with a bound on their memory: regcomp() writes out what is repeated, so that
 * `((((a{1,200}){1,200}){1,200}){1,200})` takes all that the machine has.
 */
#ifndef STACKTALLY_BASE_REGEXP_H
#define STACKTALLY_BASE_REGEXP_H

#include <regex.h>

/* So much longer, at most, is an expression with all repetitions written out. */
#define REGEXP_REPEATED_MAX 4096u

/* As regcomp() of an extended expression. REG_ESPACE, too, for one that repeats too much. */
int regexp_compile(regex_t *ret_regex, const char *text, int flags);

#endif
