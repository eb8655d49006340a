// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/simple_name.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Reads `at` and writes `to`. */
struct shortening {
	const char *at;
	char *start, *to;
	char *word;	  /* where the name begins: behind the last blank, unless in brackets */
	bool is_operator; /* blanks behind "operator" are part of the name */
};

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || (byte & 0x80);
}

static char closing(char opening)
{
	return opening == '(' ? ')' : opening == '<' ? '>' : opening == '[' ? ']' : '}';
}

/* The length of a group in brackets, these included; 0 if it has no end. */
static size_t group(const char *from)
{
	char wanted[64];
	uint32_t depth = 0;

	for (const char *at = from; *at; at++) {
		if (strchr("(<[{", *at)) {
			if (depth == sizeof(wanted))
				return 0;
			wanted[depth++] = closing(*at);
		} else if (*at == wanted[depth - 1]) {
			if (*at == '>' && at[-1] == '-')
				continue; /* -> */
			if (--depth == 0)
				return (size_t)(at - from) + 1;
		}
	}
	return 0;
}

static char last(const struct shortening *s)
{
	return s->to > s->start ? s->to[-1] : '\0';
}

static void copy(struct shortening *s, size_t n)
{
	memmove(s->to, s->at, n);
	s->to += n;
	s->at += n;
}

/* What stands behind parameters: " const", " [clone .cold]". */
static void skip_qualifiers(struct shortening *s)
{
	if (*s->at != ' ')
		return;
	while (*s->at && *s->at != '}' && strncmp(s->at, "::", 2) != 0)
		s->at++;
}

/* "operator" and what it is called by: "<<", "()", "->". */
static bool take_operator(struct shortening *s)
{
	size_t size = strlen("operator");

	if (strncmp(s->at, "operator", size) != 0 || is_word(s->at[size]) || is_word(last(s)))
		return false;
	s->is_operator = true;
	copy(s, size);
	if (strncmp(s->at, "()", 2) == 0 || strncmp(s->at, "[]", 2) == 0)
		copy(s, 2);
	else
		copy(s, strspn(s->at, "+-*/%^&|~!=<>,"));
	if (*s->at == ' ' && s->at[1] == '<')
		s->at++; /* operator<< <int> */
	return true;
}

/* Arguments of a template, or a name in angle brackets, as Rust has them: "<A as B>::f". */
static bool take_angle(struct shortening *s)
{
	size_t size = group(s->at);

	if (!size)
		return false;
	if (is_word(last(s)) || s->is_operator)
		s->at += size;
	else
		copy(s, size);
	return true;
}

/* Parameters, or a part of the name: "(anonymous namespace)", Go's "(*T)". */
static bool take_round(struct shortening *s)
{
	size_t size = group(s->at);

	if (!size)
		return false;
	if (s->to == s->word || last(s) == ':' || last(s) == '.') {
		copy(s, size);
		return true;
	}
	s->at += size;
	skip_qualifiers(s);
	s->is_operator = false;
	return true;
}

/* Go's type arguments and C++'s ABI tags, or a part of the name. */
static bool take_square(struct shortening *s)
{
	size_t size = group(s->at);

	if (!size)
		return false;
	if (is_word(last(s)))
		s->at += size;
	else
		copy(s, size);
	return true;
}

/* The next part of the name; false: it is not one that is understood. */
static bool take(struct shortening *s)
{
	switch (*s->at) {
	case '<':
		return take_angle(s);
	case '(':
		return take_round(s);
	case '[':
		return take_square(s);
	case ' ':
		copy(s, 1);
		if (!s->is_operator)
			s->word = s->to; /* a return type was before it */
		return true;
	default:
		if (!take_operator(s))
			copy(s, 1);
		return true;
	}
}

bool simple_name(const char *name, char *to)
{
	struct shortening s = { .at = name, .start = to, .to = to, .word = to };

	if (name[0] == '[' || name[0] == '-' || !strpbrk(name, "<(["))
		return false;
	while (*s.at)
		if (!take(&s))
			return false;
	while (s.to > s.word && s.to[-1] == ' ')
		s.to--;
	if (s.to == s.word)
		return false;
	*s.to = '\0';
	memmove(to, s.word, (size_t)(s.to - s.word) + 1);
	return true;
}
