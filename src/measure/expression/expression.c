// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recursive descent that makes the steps as it reads: each part leaves its value in a register,
 * and the part beside it uses the next one.
 */
#include "expression/expression.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "expression/lexer.h"
#include "expression/pattern.h"
#include "expression/steps.h"

#define NESTED_MAX 32 /* parentheses, signs and negations within each other */

struct parser {
	const char *option; /* for messages */
	const char *at;
	struct word word; /* the next one */
	const struct event_values *values;
	struct wire_expressions *expressions;
	struct wire_program *program;
	uint32_t nested;
	struct error *err;
};

enum operand_kind {
	OPERAND_NUMBER,	 /* in the register */
	OPERAND_TEXT,	 /* a string of the event */
	OPERAND_LITERAL, /* a string of the expression */
};

/* What a part of the expression is. */
struct operand {
	enum operand_kind kind;
	bool wide;		  /* an unsigned number of 64 bits */
	bool is_bool;		  /* 0 or 1 */
	bool is_constant;	  /* a number of the expression */
	bool is_negative;	  /* such a one, below 0 */
	struct event_value value; /* of a text, or of an address of one */
	const char *unit;
	char literal[LEXER_NAME_SIZE];
};

static int parse_or(struct parser *parser, uint32_t to, struct operand *ret);

/* ---- errors ---- */

static int fail(struct parser *parser, const char *what)
{
	return error_usage(parser->err, "argument %s: %s", parser->option, what);
}

static int fail_here(struct parser *parser, const char *what)
{
	switch (parser->word.kind) {
	case WORD_END:
		return error_usage(parser->err, "argument %s: %s at its end", parser->option, what);
	case WORD_OPEN:
		return fail(parser, "a string has no closing quote");
	case WORD_TOO_LONG:
		return fail(parser, "a name or a string has more than 127 characters");
	default:
		return error_usage(parser->err, "argument %s: %s at '%.60s'", parser->option, what,
				   parser->word.at);
	}
}

static int too_long(struct parser *parser, int r)
{
	return r < 0 ? fail(parser, "the expression is too long") : 0;
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

static void advance(struct parser *parser)
{
	lexer_next(&parser->at, &parser->word);
}

static bool take_sign(struct parser *parser, const char *sign)
{
	if (!word_is(&parser->word, sign))
		return false;
	advance(parser);
	return true;
}

static int nest(struct parser *parser)
{
	return parser->nested++ == NESTED_MAX ? fail(parser, "it is nested too deeply") : 0;
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

static int put_number(struct parser *parser, uint32_t to, uint64_t number)
{
	return too_long(parser, steps_add(parser->program,
					  &(struct wire_step){ .op = WIRE_STEP_NUMBER,
							       .to = (__u8)to,
							       .number = (int64_t)number }));
}

static int parse_name(struct parser *parser, uint32_t to, struct operand *ret)
{
	struct event_value value = { 0 };
	int r = parser->values->find(parser->values->context, parser->word.text, &value,
				     parser->err);

	if (r == -ENOENT)
		return no_such_value(parser, parser->word.text);
	if (r < 0)
		return r;
	advance(parser);
	*ret = (struct operand){ .value = value, .unit = value.unit };
	if (event_value_is_text(&value)) {
		ret->kind = OPERAND_TEXT;
		return 0;
	}
	ret->wide = !value.is_signed && value.size == sizeof(uint64_t);
	return too_long(parser, steps_load(parser->program, &value, to));
}

static int parse_primary(struct parser *parser, uint32_t to, struct operand *ret);

static int parse_cast(struct parser *parser, uint32_t to, const struct type *type,
		      struct operand *ret)
{
	int r;

	advance(parser);
	advance(parser);
	r = parse_primary(parser, to, ret);
	if (r < 0)
		return r;
	if (ret->kind != OPERAND_NUMBER)
		return fail(parser, "a string is no number");
	*ret = (struct operand){ .wide = !type->is_signed && type->size == sizeof(uint64_t),
				 .unit = ret->unit };
	return too_long(parser, steps_add(parser->program,
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
	r = parse_or(parser, to, ret);
	if (r < 0)
		return r;
	return take_sign(parser, ")") ? 0 : fail_here(parser, "a ) is missing");
}

static int parse_minus(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r;

	if (parser->word.kind == WORD_NUMBER) {
		*ret = (struct operand){ .is_constant = true, .is_negative = true };
		if (parser->word.number > (uint64_t)INT64_MAX + 1)
			return fail_here(parser, "the number is too small");
		r = put_number(parser, to, 0 - parser->word.number);
		advance(parser);
		return r;
	}
	r = parse_primary(parser, to, ret);
	if (r < 0)
		return r;
	if (ret->kind != OPERAND_NUMBER)
		return fail(parser, "a string is no number");
	*ret = (struct operand){ .unit = ret->unit };
	r = put_number(parser, to + 1, (uint64_t)-1);
	return r < 0 ? r
		     : too_long(parser, steps_operate(parser->program, WIRE_STEP_MUL, to, true));
}

static int parse_word(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r;

	switch (parser->word.kind) {
	case WORD_NUMBER:
		*ret = (struct operand){ .is_constant = true,
					 .wide = parser->word.number > INT64_MAX };
		r = put_number(parser, to, parser->word.number);
		advance(parser);
		return r;
	case WORD_STRING:
		*ret = (struct operand){ .kind = OPERAND_LITERAL };
		memcpy(ret->literal, parser->word.text, sizeof(ret->literal));
		advance(parser);
		return 0;
	case WORD_NAME:
		return parse_name(parser, to, ret);
	default:
		return fail_here(parser, "a value is missing");
	}
}

static int parse_primary(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r = nest(parser);

	if (r < 0)
		return r;
	/* An address with an index, and the number of a minus, take the register behind it. */
	if (to + 1 >= WIRE_REGISTERS)
		return fail(parser, "it is nested too deeply");
	if (take_sign(parser, "("))
		r = parse_parenthesis(parser, to, ret);
	else if (take_sign(parser, "-"))
		r = parse_minus(parser, to, ret);
	else
		r = parse_word(parser, to, ret);
	parser->nested--;
	return r;
}

/* ---- operators of numbers ---- */

static const struct binary {
	const char *sign;
	enum wire_step_op op;
	int level; /* the higher ones bind closer */
} operators[] = {
	{ "|", WIRE_STEP_OR, 1 },   { "^", WIRE_STEP_XOR, 2 },	{ "&", WIRE_STEP_AND, 3 },
	{ "<<", WIRE_STEP_SHL, 4 }, { ">>", WIRE_STEP_SHR, 4 }, { "+", WIRE_STEP_ADD, 5 },
	{ "-", WIRE_STEP_SUB, 5 },  { "*", WIRE_STEP_MUL, 6 },	{ "/", WIRE_STEP_DIV, 6 },
	{ "%", WIRE_STEP_MOD, 6 },
}, comparisons[] = {
	{ "==", WIRE_STEP_EQ, 0 }, { "!=", WIRE_STEP_NE, 0 }, { "<", WIRE_STEP_LT, 0 },
	{ "<=", WIRE_STEP_LE, 0 }, { ">", WIRE_STEP_GT, 0 },  { ">=", WIRE_STEP_GE, 0 },
};

static const struct binary *find_operator(const struct parser *parser, const struct binary *list,
					  size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word_is(&parser->word, list[i].sign))
			return &list[i];
	return NULL;
}

#define FIND(parser, list) find_operator((parser), (list), sizeof(list) / sizeof((list)[0]))

/* Two operands, in a register and the one behind it, become one. */
static int operate(struct parser *parser, enum wire_step_op op, uint32_t to, struct operand *left,
		   const struct operand *right)
{
	bool wide = left->wide || right->wide;

	if (left->kind != OPERAND_NUMBER || right->kind != OPERAND_NUMBER)
		return fail(parser, "strings are compared by == != ~ and !~ with a string in "
				    "quotes, and numbers with numbers");
	if (wide && op >= WIRE_STEP_LT && op <= WIRE_STEP_GE &&
	    (left->is_negative || right->is_negative))
		return fail(parser, "an unsigned value is compared with a number below 0; (long) "
				    "or (int) before it makes it signed");
	*left = (struct operand){ .wide = wide && op < WIRE_STEP_EQ,
				  .is_bool = op >= WIRE_STEP_EQ,
				  .unit = op == WIRE_STEP_ADD || op == WIRE_STEP_SUB ? left->unit
										     : NULL };
	return too_long(parser, steps_operate(parser->program, op, to, !wide));
}

static int parse_level(struct parser *parser, uint32_t to, int level, struct operand *ret)
{
	const struct binary *binary;
	int r = parse_primary(parser, to, ret);

	while (r == 0 && (binary = FIND(parser, operators)) && binary->level >= level) {
		struct operand right;

		advance(parser);
		r = parse_level(parser, to + 1, binary->level + 1, &right);
		if (r == 0)
			r = operate(parser, binary->op, to, ret, &right);
	}
	return r;
}

/* ---- strings ---- */

static int add_pattern(struct parser *parser, const char *text, bool wildcards,
		       uint32_t *ret_number)
{
	struct wire_pattern *patterns = parser->expressions->patterns;
	uint32_t n = 0;
	int r;

	while (n < WIRE_PATTERNS && patterns[n].end)
		n++;
	if (n == WIRE_PATTERNS)
		return fail(parser, "there are more than 4 strings");
	r = pattern_compile(text, wildcards, &patterns[n]);
	if (r == -E2BIG)
		return fail(parser, "a string has more than 63 characters");
	if (r < 0)
		return fail(parser, "a [set] or a \\ in a string does not end");
	*ret_number = n;
	return 0;
}

static int compare_text(struct parser *parser, uint32_t to, const struct event_value *value,
			const char *literal, bool wildcards)
{
	uint32_t pattern = 0;
	int r = add_pattern(parser, literal, wildcards, &pattern);

	return r < 0 ? r : too_long(parser, steps_match(parser->program, value, to, pattern));
}

/* Whether it is a string of the event, or an address of one. */
static bool is_text(const struct operand *operand)
{
	return operand->kind == OPERAND_TEXT ||
	       (operand->kind == OPERAND_NUMBER && operand->value.text != EVENT_TEXT_NONE);
}

static int put_not(struct parser *parser, uint32_t to)
{
	return too_long(parser, steps_add(parser->program, &(struct wire_step){ .op = WIRE_STEP_NOT,
										.to = (__u8)to }));
}

/* Behind a string of the event: a string in quotes or, as perf has it, a word without. */
static int parse_literal(struct parser *parser, uint32_t to, const char *sign, struct operand *left)
{
	bool negated = sign[0] == '!', wildcards = sign[strlen(sign) - 1] == '~';
	int r = compare_text(parser, to, &left->value, parser->word.text, wildcards);

	if (r == 0)
		advance(parser);
	if (r == 0 && negated)
		r = put_not(parser, to);
	*left = (struct operand){ .is_bool = true };
	return r;
}

/* Whether a string in the expression follows, behind this sign. */
static bool literal_follows(struct parser *parser, const char *sign, const struct operand *left)
{
	bool of_text = strcmp(sign, "==") == 0 || strcmp(sign, "!=") == 0 || strchr(sign, '~');

	return of_text && is_text(left) &&
	       (parser->word.kind == WORD_STRING ||
		(parser->word.kind == WORD_NAME && left->kind == OPERAND_TEXT));
}

static int parse_comparison(struct parser *parser, uint32_t to, struct operand *ret)
{
	const struct binary *binary;
	struct operand right;
	char sign[3];
	int r = parse_level(parser, to, 1, ret);

	if (r < 0)
		return r;
	binary = FIND(parser, comparisons);
	if (!binary && !word_is(&parser->word, "~") && !word_is(&parser->word, "!~"))
		return 0;
	snprintf(sign, sizeof(sign), "%.2s", parser->word.text);
	advance(parser);
	if (literal_follows(parser, sign, ret))
		return parse_literal(parser, to, sign, ret);
	if (!binary)
		return fail_here(parser, "~ compares a string of the event with one in quotes;");
	r = parse_level(parser, to + 1, 1, &right);
	return r < 0 ? r : operate(parser, binary->op, to, ret, &right);
}

/* ---- conditions ---- */

/* Makes an operand of && and || 0 or 1. */
static int as_bool(struct parser *parser, uint32_t to, struct operand *operand)
{
	int r;

	if (operand->kind != OPERAND_NUMBER)
		return fail(parser, "a string is no condition: compare it with ==");
	if (operand->is_bool)
		return 0;
	r = put_number(parser, to + 1, 0);
	*operand = (struct operand){ .is_bool = true };
	return r < 0 ? r : too_long(parser, steps_operate(parser->program, WIRE_STEP_NE, to, true));
}

static int parse_not(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r;

	if (!take_sign(parser, "!"))
		return parse_comparison(parser, to, ret);
	r = nest(parser);
	if (r == 0)
		r = parse_not(parser, to, ret);
	if (r == 0)
		r = as_bool(parser, to, ret);
	parser->nested--;
	return r < 0 ? r : put_not(parser, to);
}

/* A chain of one operator; what is behind the first part that decides is left out. */
static int parse_chain(struct parser *parser, uint32_t to, const char *sign, enum wire_step_op skip,
		       int (*part)(struct parser *parser, uint32_t to, struct operand *ret),
		       struct operand *ret)
{
	int r = part(parser, to, ret);

	while (r == 0 && take_sign(parser, sign)) {
		uint32_t at;

		r = as_bool(parser, to, ret);
		if (r < 0)
			return r;
		at = parser->program->n;
		r = too_long(parser,
			     steps_add(parser->program,
				       &(struct wire_step){ .op = (__u8)skip, .to = (__u8)to }));
		if (r == 0)
			r = part(parser, to, ret);
		if (r == 0)
			r = as_bool(parser, to, ret);
		if (r == 0)
			parser->program->steps[at].size = parser->program->n;
	}
	return r;
}

static int parse_and(struct parser *parser, uint32_t to, struct operand *ret)
{
	return parse_chain(parser, to, "&&", WIRE_STEP_UNLESS, parse_not, ret);
}

static int parse_or(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r = nest(parser);

	if (r == 0)
		r = parse_chain(parser, to, "||", WIRE_STEP_IF, parse_and, ret);
	parser->nested--;
	return r;
}

int expression_compile(enum expression_kind kind, const char *text,
		       const struct event_values *values, struct wire_expressions *expressions,
		       const char **ret_unit, struct error *err)
{
	struct parser parser = {
		.option = kind == EXPRESSION_CONDITION ? "--if" : "--sum",
		.at = text,
		.values = values,
		.expressions = expressions,
		.program = kind == EXPRESSION_CONDITION ? &expressions->condition
							: &expressions->value,
		.err = err,
	};
	struct operand result;
	int r;

	if (strlen(text) > EXPRESSION_SIZE)
		return fail(&parser, "the expression is too long");
	parser.program->n = 0;
	advance(&parser);
	r = parse_or(&parser, 0, &result);
	if (r < 0)
		return r;
	if (parser.word.kind != WORD_END)
		return fail_here(&parser, "an operator is missing");
	if (result.kind != OPERAND_NUMBER)
		return fail(&parser, kind == EXPRESSION_CONDITION
					     ? "a string is no condition: compare it with =="
					     : "a string has no sum");
	parser.program->is_signed = !result.wide;
	if (ret_unit)
		*ret_unit = result.unit;
	return 0;
}
