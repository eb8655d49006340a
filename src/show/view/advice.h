/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user can do about a report that lacks much: the callers or the names of code that a
 * runtime such as Java's or LuaJIT generates, or the functions of a program that is interpreted.
 */
#ifndef STACKTALLY_VIEW_ADVICE_H
#define STACKTALLY_VIEW_ADVICE_H

#include "tally/names.h"
#include "tally/tally.h"

#define ADVICE_SIZE 400

struct advice {
	/* A line each; "": there is no need. */
	char callers[ADVICE_SIZE], names[ADVICE_SIZE], functions[ADVICE_SIZE];
};

/* 0 or -ENOMEM. */
int advice_of(const struct tally *tally, const struct names *names, struct advice *ret_advice);

#endif
