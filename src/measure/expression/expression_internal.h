/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct parser, and what expression*.c share: expression_operands.c reads numbers, names and what
 * is in parentheses, expression.c what joins them. A recursive descent makes the steps as it reads:
 * each part leaves its value in a register, and the part beside it uses the next one.
 */
#ifndef STACKTALLY_EXPRESSION_EXPRESSION_INTERNAL_H
#define STACKTALLY_EXPRESSION_EXPRESSION_INTERNAL_H

#include "expression/expression.h"
#include "expression/lexer.h"

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

/* ---- expression_operands.c ---- */

/* Each returns -EINVAL with an error set: of the whole, and of what is at the next word. */
int parser_fail(struct parser *parser, const char *what);
int parser_fail_here(struct parser *parser, const char *what);
/* 0, or that the expression is too long if `r` is negative. */
int parser_steps(struct parser *parser, int r);
/* One level deeper; the caller counts `nested` down. 0, or that it is too deep. */
int parser_nest(struct parser *parser);

/* Reads the next word. */
void parser_advance(struct parser *parser);
/* The same, if the word is this sign. */
bool parser_take_sign(struct parser *parser, const char *sign);

/* Puts a number into a register. */
int parser_put_number(struct parser *parser, uint32_t to, uint64_t number);
/* A number, a name, a string, or what is in parentheses; to a register. */
int parser_primary(struct parser *parser, uint32_t to, struct operand *ret);

/* ---- expression.c ---- */

/* A whole condition. */
int parser_or(struct parser *parser, uint32_t to, struct operand *ret);

#endif
