// SPDX-License-Identifier: GPL-2.0-or-later
#include "expression/expression.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "expression/expression_internal.h"
#include "expression/pattern.h"
#include "expression/steps.h"

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
		return parser_fail(parser,
				   "strings are compared by == != ~ and !~ with a string in "
				   "quotes, and numbers with numbers");
	if (wide && op >= WIRE_STEP_LT && op <= WIRE_STEP_GE &&
	    (left->is_negative || right->is_negative))
		return parser_fail(parser,
				   "an unsigned value is compared with a number below 0; (long) "
				   "or (int) before it makes it signed");
	*left = (struct operand){ .wide = wide && op < WIRE_STEP_EQ,
				  .is_bool = op >= WIRE_STEP_EQ,
				  .unit = op == WIRE_STEP_ADD || op == WIRE_STEP_SUB ? left->unit
										     : NULL };
	return parser_steps(parser, steps_operate(parser->program, op, to, !wide));
}

static int parse_level(struct parser *parser, uint32_t to, int level, struct operand *ret)
{
	const struct binary *binary;
	int r = parser_primary(parser, to, ret);

	while (r == 0 && (binary = FIND(parser, operators)) && binary->level >= level) {
		struct operand right;

		parser_advance(parser);
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
		return parser_fail(parser, "there are more than 4 strings");
	r = pattern_compile(text, wildcards, &patterns[n]);
	if (r == -E2BIG)
		return parser_fail(parser, "a string has more than 63 characters");
	if (r < 0)
		return parser_fail(parser, "a [set] or a \\ in a string does not end");
	*ret_number = n;
	return 0;
}

static int compare_text(struct parser *parser, uint32_t to, const struct event_value *value,
			const char *literal, bool wildcards)
{
	uint32_t pattern = 0;
	int r = add_pattern(parser, literal, wildcards, &pattern);

	return r < 0 ? r : parser_steps(parser, steps_match(parser->program, value, to, pattern));
}

/* Whether it is a string of the event, or an address of one. */
static bool is_text(const struct operand *operand)
{
	return operand->kind == OPERAND_TEXT ||
	       (operand->kind == OPERAND_NUMBER && operand->value.text != EVENT_TEXT_NONE);
}

static int put_not(struct parser *parser, uint32_t to)
{
	return parser_steps(parser,
			    steps_add(parser->program,
				      &(struct wire_step){ .op = WIRE_STEP_NOT, .to = (__u8)to }));
}

/* Behind a string of the event: a string in quotes or, as perf has it, a word without. */
static int parse_literal(struct parser *parser, uint32_t to, const char *sign, struct operand *left)
{
	bool negated = sign[0] == '!', wildcards = sign[strlen(sign) - 1] == '~';
	int r = compare_text(parser, to, &left->value, parser->word.text, wildcards);

	if (r == 0)
		parser_advance(parser);
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
	parser_advance(parser);
	if (literal_follows(parser, sign, ret))
		return parse_literal(parser, to, sign, ret);
	if (!binary)
		return parser_fail_here(parser,
					"~ compares a string of the event with one in quotes;");
	r = parse_level(parser, to + 1, 1, &right);
	return r < 0 ? r : operate(parser, binary->op, to, ret, &right);
}

/* ---- conditions ---- */

/* Makes an operand of && and || 0 or 1. */
static int as_bool(struct parser *parser, uint32_t to, struct operand *operand)
{
	int r;

	if (operand->kind != OPERAND_NUMBER)
		return parser_fail(parser, "a string is no condition: compare it with ==");
	if (operand->is_bool)
		return 0;
	r = parser_put_number(parser, to + 1, 0);
	*operand = (struct operand){ .is_bool = true };
	return r < 0 ? r
		     : parser_steps(parser, steps_operate(parser->program, WIRE_STEP_NE, to, true));
}

static int parse_not(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r;

	if (!parser_take_sign(parser, "!"))
		return parse_comparison(parser, to, ret);
	r = parser_nest(parser);
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

	while (r == 0 && parser_take_sign(parser, sign)) {
		uint32_t at;

		r = as_bool(parser, to, ret);
		if (r < 0)
			return r;
		at = parser->program->n;
		r = parser_steps(parser,
				 steps_add(parser->program, &(struct wire_step){ .op = (__u8)skip,
										 .to = (__u8)to }));
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

int parser_or(struct parser *parser, uint32_t to, struct operand *ret)
{
	int r = parser_nest(parser);

	if (r == 0)
		r = parse_chain(parser, to, "||", WIRE_STEP_IF, parse_and, ret);
	parser->nested--;
	return r;
}

bool expression_has_name(const char *text, const char *name)
{
	struct word word;

	do {
		lexer_next(&text, &word);
		if (word.kind == WORD_NAME && strcmp(word.text, name) == 0)
			return true;
	} while (word.kind != WORD_END);
	return false;
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
		return parser_fail(&parser, "the expression is too long");
	parser.program->n = 0;
	parser_advance(&parser);
	r = parser_or(&parser, 0, &result);
	if (r < 0)
		return r;
	if (parser.word.kind != WORD_END)
		return parser_fail_here(&parser, "an operator is missing");
	if (result.kind != OPERAND_NUMBER)
		return parser_fail(&parser, kind == EXPRESSION_CONDITION
						    ? "a string is no condition: compare it with =="
						    : "a string has no sum");
	parser.program->is_signed = !result.wide;
	if (ret_unit)
		*ret_unit = result.unit;
	return 0;
}
