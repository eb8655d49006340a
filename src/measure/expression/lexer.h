/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of an expression. */
#ifndef STACKTALLY_EXPRESSION_LEXER_H
#define STACKTALLY_EXPRESSION_LEXER_H

#include <stdbool.h>
#include <stdint.h>

#define LEXER_NAME_SIZE 128 /* of a name or a string, with its NUL */

enum word_kind {
	WORD_END,
	WORD_NAME,
	WORD_NUMBER,
	WORD_STRING,
	WORD_SIGN, /* an operator or a parenthesis */
	WORD_TOO_LONG,
	WORD_OPEN,    /* a string that does not end */
	WORD_UNKNOWN, /* any other character, or a number beyond 64 bits */
};

struct word {
	enum word_kind kind;
	const char *at; /* in the text */
	uint64_t number;
	char text[LEXER_NAME_SIZE]; /* of a name, a string without its quotes, or an operator */
};

/* Reads the word at *at, which moves behind it. */
void lexer_next(const char **at, struct word *ret_word);

/* Whether the word is this operator. */
bool word_is(const struct word *word, const char *sign);

#endif
