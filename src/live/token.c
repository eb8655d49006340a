// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/token.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

int token_make(char ret_token[TOKEN_DIGITS + 1])
{
	unsigned char bytes[TOKEN_DIGITS / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool token_equal(const char token[TOKEN_DIGITS + 1], const char *other, size_t size)
{
	volatile unsigned char different = 0;

	if (size != TOKEN_DIGITS)
		return false;
	for (size_t i = 0; i < TOKEN_DIGITS; i++)
		different |= (unsigned char)(token[i] ^ other[i]);
	return different == 0;
}
