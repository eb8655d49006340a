// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "expression/expression_internal.h"
#include "expression/steps.h"

#define NESTED_MAX 32 /* parentheses, signs and negations within each other */

/* ---- errors ---- */

int parser_fail(struct parser *parser, const char *what)
{
	return error_usage(parser->err, "argument %s: %s", parser->option, what);
}

int parser_fail_here(struct parser *parser, const char *what)
{
	switch (parser->word.kind) {
	case WORD_END:
		return error_usage(parser->err, "argument %s: %s at its end", parser->option, what);
	case WORD_OPEN:
		return parser_fail(parser, "a string has no closing quote");
	case WORD_TOO_LONG:
		return parser_fail(parser, "a name or a string has more than 127 characters");
	default:
		return error_usage(parser->err, "argument %s: %s at '%.60s'", parser->option, what,
				   parser->word.at);
	}
}

int parser_steps(struct parser *parser, int r)
{
	return r < 0 ? parser_fail(parser, "the expression is too long") : 0;
}

/* Names for a message, with commas between them. */
struct name_list {
	char text[900];
	size_t used;
	bool cut;
};

static void add_name(void *context, const char *name)
{
	struct name_list *list = context;
	size_t capacity = sizeof(list->text) - list->used;
	int n = list->cut ? 0
			  : snprintf(list->text + list->used, capacity, "%s%s",
				     list->used ? ", " : "", name);

	list->cut |= (size_t)n >= capacity - sizeof(", ...");
	if (list->cut)
		list->text[list->used] = '\0';
	else
		list->used += (size_t)n;
}

static int no_such_value(struct parser *parser, const char *name)
{
	struct name_list list = { 0 };

	parser->values->list(parser->values->context, add_name, &list);
	return error_usage(parser->err,
			   "argument %s: the events have no value '%.100s'; they have %s%s",
			   parser->option, name, list.used ? list.text : "none",
			   list.cut ? ", ..." : "");
}

/* ---- words ---- */

void parser_advance(struct parser *parser)
{
	lexer_next(&parser->at, &parser->word);
}

bool parser_take_sign(struct parser *parser, const char *sign)
{
	if (!word_is(&parser->word, sign))
		return false;
	parser_advance(parser);
	return true;
}

int parser_nest(struct parser *parser)
{
	return parser->nested++ == NESTED_MAX ? parser_fail(parser, "it is nested too deeply") : 0;
}

/* ---- numbers and names ---- */

static const struct type {
	const char *name;
	uint32_t size;
	bool is_signed;
} types[] = {
	{ "char", 1, true }, { "s8", 1, true },	       { "u8", 1, false },     { "short", 2, true },
	{ "s16", 2, true },  { "u16", 2, false },      { "int", 4, true },     { "s32", 4, true },
	{ "u32", 4, false }, { "unsigned", 4, false }, { "long", 8, true },    { "s64", 8, true },
	{ "u64", 8, false }, { "ssize_t", 8, true },   { "size_t", 8, false },
};

/* The type of a cast, whose opening parenthesis was read. */
static const struct type *cast_type(const struct parser *parser)
{
	const char *behind = parser->at;
	struct word next;

	lexer_next(&behind, &next);
	if (parser->word.kind != WORD_NAME || !word_is(&next, ")"))
		return NULL;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, parser->word.text) == 0)
			return &types[i];
	return NULL;
}

int parser_put_number(struct parser *parser, uint32_t to, uint64_t number)
{
	return parser_steps(parser, steps_add(parser->program,
					      &(struct wire_step){ .op = WIRE_STEP_NUMBER,
								   .to = (__u8)to,
								   .number = (int64_t)number }));
}

static int parse_name(struct parser *parser, uint32_t to, struct operand *ret)
{
	struct event_value value = { 0 };
	char name[LEXER_NAME_SIZE];
	int r;

	memcpy(name, parser->word.text, sizeof(name));
	r = parser->values->find(parser->values->context, name, &value, parser->err);
	if (r == -ENOENT)
		return no_such_value(parser, name);
	if (r < 0)
		return r;
	parser_advance(parser);
	*ret = (struct operand){ .value = value, .unit = value.unit };
	if (event_value_is_text(&value)) {
		ret->kind = OPERAND_TEXT;
		return 0;
	}
	ret->wide = !value.is_signed && value.size == sizeof(uint64_t);
	r = steps_load(parser->program, &value, to);
	if (r < 0 && value.kind == EVENT_VALUE_BY_SITE)
		return error_usage(parser->err,
				   "argument %s: the expression is too long with '%.100s', which "
				   "the %u sites of the probe have in different places",
				   parser->option, name, value.n_sites);
	return parser_steps(parser, r);
}

static int parse_cast(struct parser *parser, uint32_t to, const struct type *type,
		      struct operand *ret)
{
	int r;

	parser_advance(parser);
	parser_advance(parser);
	r = parser_primary(parser, to, ret);
	if (r < 0)
		return r;
	if (ret->kind != OPERAND_NUMBER)
		return parser_fail(parser, "a string is no number");
	*ret = (struct operand){ .wide = !type->is_signed && type->size == sizeof(uint64_t),
				 .unit = ret->unit };
	return parser_steps(parser,
			    steps_add(parser->program,
				      &(struct wire_step){
					      .op = WIRE_STEP_CAST,
					      .flags = type->is_signed ? WIRE_STEP_SIGNED : 0,
					      .to = (__u8)to,
					      .size = type->size }));
}

static int parse_parenthesis(struct parser *parser, uint32_t to, struct operand *ret)
{
	const struct type *type = cast_type(parser);
	int r;

	if (type)
		return parse_cast(parser, to, type, ret);
	r = parser_or(parser, to, ret);
	if (r < 0)
		return r;
	return parser_take_sign(parser, ")") ? 0 : parser_fail_here(parser, "a ) is missing");
}

static int parse_minus(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r;

	if (parser->word.kind == WORD_NUMBER) {
		*ret = (struct operand){ .is_constant = true, .is_negative = true };
		if (parser->word.number > (uint64_t)INT64_MAX + 1)
			return parser_fail_here(parser, "the number is too small");
		r = parser_put_number(parser, to, 0 - parser->word.number);
		parser_advance(parser);
		return r;
	}
	r = parser_primary(parser, to, ret);
	if (r < 0)
		return r;
	if (ret->kind != OPERAND_NUMBER)
		return parser_fail(parser, "a string is no number");
	*ret = (struct operand){ .unit = ret->unit };
	r = parser_put_number(parser, to + 1, (uint64_t)-1);
	return r < 0 ? r
		     : parser_steps(parser,
				    steps_operate(parser->program, WIRE_STEP_MUL, to, true));
}

static int parse_word(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r;

	switch (parser->word.kind) {
	case WORD_NUMBER:
		*ret = (struct operand){ .is_constant = true,
					 .wide = parser->word.number > INT64_MAX };
		r = parser_put_number(parser, to, parser->word.number);
		parser_advance(parser);
		return r;
	case WORD_STRING:
		*ret = (struct operand){ .kind = OPERAND_LITERAL };
		memcpy(ret->literal, parser->word.text, sizeof(ret->literal));
		parser_advance(parser);
		return 0;
	case WORD_NAME:
		return parse_name(parser, to, ret);
	default:
		return parser_fail_here(parser, "a value is missing");
	}
}

int parser_primary(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r = parser_nest(parser);

	if (r < 0)
		return r;
	/* An address with an index, and the number of a minus, take the register behind it. */
	if (to + 1 >= WIRE_REGISTERS)
		return parser_fail(parser, "it is nested too deeply");
	if (parser_take_sign(parser, "("))
		r = parse_parenthesis(parser, to, ret);
	else if (parser_take_sign(parser, "-"))
		r = parse_minus(parser, to, ret);
	else
		r = parse_word(parser, to, ret);
	parser->nested--;
	return r;
}
