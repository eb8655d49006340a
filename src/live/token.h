/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A secret that nobody guesses: 128 random bits in hexadecimal digits. */
#ifndef STACKTALLY_LIVE_TOKEN_H
#define STACKTALLY_LIVE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_DIGITS 32

/* 0 or a negative errno. */
int token_make(char ret_token[TOKEN_DIGITS + 1]);

/* Whether both are the same, in a time that does not tell how much of them is. */
bool token_equal(const char token[TOKEN_DIGITS + 1], const char *other, size_t size);

#endif
