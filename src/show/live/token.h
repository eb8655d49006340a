/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The secret in the address of a live page: 128 random bits as hexadecimal digits. */
#ifndef STACKTALLY_LIVE_TOKEN_H
#define STACKTALLY_LIVE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define TOKEN_DIGITS 32

/* Makes a token of getrandom()'s bytes. 0, or -EIO when there are none. */
int token_make(char ret_token[TOKEN_DIGITS + 1]);

/*
 * The token in the file at `path`, which no one else may write or read; the file is made, with a
 * new token, if it is missing. 0 or a negative errno with `err` set.
 */
int token_of_file(const char *path, char ret_token[TOKEN_DIGITS + 1], struct error *err);

/*
 * Whether the `size` bytes of `other`, which need not end with NUL, are the token. Takes the same
 * time wherever they differ, so that a token cannot be guessed digit by digit.
 */
bool token_equal(const char token[TOKEN_DIGITS + 1], const char *other, size_t size);

#endif
