// SPDX-License-Identifier: GPL-2.0-or-later
#include "expression/lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS	"0123456789"

/* Longer ones first. */
static const char *const signs[] = { "&&", "||", "==", "!=", "!~", "<=", ">=", "<<",
				     ">>", "&",	 "|",  "^",  "!",  "~",	 "<",  ">",
				     "+",  "-",	 "*",  "/",  "%",  "(",	 ")" };

/* Ends the word behind `size` characters. */
static void take(const char **at, size_t size, enum word_kind kind, struct word *word)
{
	word->kind = size < sizeof(word->text) ? kind : WORD_TOO_LONG;
	if (size < sizeof(word->text)) {
		memcpy(word->text, *at, size);
		word->text[size] = '\0';
	}
	*at += size;
}

static void take_number(const char **at, struct word *word)
{
	char *end;

	errno = 0;
	word->number = strtoull(*at, &end, 0);
	word->kind = errno || strspn(end, LETTERS DIGITS) ? WORD_UNKNOWN : WORD_NUMBER;
	*at = end;
}

static void take_string(const char **at, struct word *word)
{
	const char quote[] = { **at, '\0' };
	size_t size;

	(*at)++;
	size = strcspn(*at, quote);
	if (!(*at)[size]) {
		word->kind = WORD_OPEN;
		*at += size;
		return;
	}
	take(at, size, WORD_STRING, word);
	(*at)++;
}

void lexer_next(const char **at, struct word *ret_word)
{
	*at += strspn(*at, " \t\n");
	*ret_word = (struct word){ .kind = WORD_END, .at = *at };
	if (!**at)
		return;
	if (strchr(LETTERS, **at)) {
		take(at, strspn(*at, LETTERS DIGITS), WORD_NAME, ret_word);
		return;
	}
	if (isdigit((unsigned char)**at)) {
		take_number(at, ret_word);
		return;
	}
	if (**at == '"' || **at == '\'') {
		take_string(at, ret_word);
		return;
	}
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (strncmp(*at, signs[i], strlen(signs[i])) != 0)
			continue;
		take(at, strlen(signs[i]), WORD_SIGN, ret_word);
		return;
	}
	ret_word->kind = WORD_UNKNOWN;
	(*at)++;
}

bool word_is(const struct word *word, const char *sign)
{
	return word->kind == WORD_SIGN && strcmp(word->text, sign) == 0;
}
