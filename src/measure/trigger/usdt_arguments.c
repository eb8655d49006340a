// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/usdt_arguments.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#if defined(__x86_64__)

/* The names of a register's lower 8, 4, 2 and 1 bytes. */
static const struct {
	const char *names[4];
	uint32_t offset;
} registers[] = {
#define NAMED(r, e, x, l, member)                                                                  \
	{                                                                                          \
		{ r, e, x, l }, offsetof(struct user_regs_struct, member)                          \
	}
	NAMED("rax", "eax", "ax", "al", rax),	   NAMED("rbx", "ebx", "bx", "bl", rbx),
	NAMED("rcx", "ecx", "cx", "cl", rcx),	   NAMED("rdx", "edx", "dx", "dl", rdx),
	NAMED("rsi", "esi", "si", "sil", rsi),	   NAMED("rdi", "edi", "di", "dil", rdi),
	NAMED("rbp", "ebp", "bp", "bpl", rbp),	   NAMED("rsp", "esp", "sp", "spl", rsp),
	NAMED("r8", "r8d", "r8w", "r8b", r8),	   NAMED("r9", "r9d", "r9w", "r9b", r9),
	NAMED("r10", "r10d", "r10w", "r10b", r10), NAMED("r11", "r11d", "r11w", "r11b", r11),
	NAMED("r12", "r12d", "r12w", "r12b", r12), NAMED("r13", "r13d", "r13w", "r13b", r13),
	NAMED("r14", "r14d", "r14w", "r14b", r14), NAMED("r15", "r15d", "r15w", "r15b", r15),
#undef NAMED
};

/* Takes a register behind its %; *ret_wide: it is one of 64 bits. False: it is another one. */
static bool take_register(const char **at, uint32_t *ret_offset, bool *ret_wide)
{
	size_t size = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		for (int j = 0; j < 4; j++) {
			const char *name = registers[i].names[j];

			if (strlen(name) != size || strncmp(*at, name, size) != 0)
				continue;
			*at += size;
			*ret_offset = registers[i].offset;
			*ret_wide = j == 0;
			return true;
		}
	}
	return false;
}

static bool take_number(const char **at, int64_t *ret_number)
{
	char *end;

	if (**at != '-' && (**at < '0' || **at > '9'))
		return false;
	errno = 0;
	*ret_number = strtoll(*at, &end, 0);
	if (errno || end == *at)
		return false;
	*at = end;
	return true;
}

/* Takes "(%BASE)" or "(%BASE,%INDEX,SCALE)", behind a number. */
static bool take_memory(const char **at, struct event_value *value)
{
	bool wide;
	int64_t scale = 1;

	if (strncmp(*at, "(%", 2) != 0)
		return false;
	*at += 2;
	if (!take_register(at, &value->offset, &wide) || !wide)
		return false;
	if (strncmp(*at, ",%", 2) == 0) {
		*at += 2;
		if (!take_register(at, &value->index.offset, &wide) || !wide)
			return false;
		if (**at == ',') {
			(*at)++;
			if (!take_number(at, &scale) || scale < 1 || scale > 8)
				return false;
		}
		value->index.scale = (uint32_t)scale;
	}
	value->kind = EVENT_VALUE_MEMORY;
	return *(*at)++ == ')';
}

static bool take_operand(const char **at, struct event_value *value)
{
	bool wide;

	if (**at == '$') {
		(*at)++;
		value->kind = EVENT_VALUE_CONSTANT;
		return take_number(at, &value->number);
	}
	if (**at == '%') {
		(*at)++;
		return take_register(at, &value->offset, &wide);
	}
	if (**at != '(' && !take_number(at, &value->number))
		return false;
	return take_memory(at, value);
}

const uint32_t usdt_arguments_address = offsetof(struct user_regs_struct, rip);

#else

const uint32_t usdt_arguments_address = offsetof(struct user_regs_struct, pc);

static bool take_operand(const char **at, struct event_value *value)
{
	(void)at, (void)value;
	return false;
}

#endif

/* Of "-4@": a signed number of 4 bytes. */
static bool take_size(const char **at, struct event_value *value)
{
	value->is_signed = **at == '-';
	*at += value->is_signed;
	value->size = (uint32_t)(**at - '0');
	if (value->size != 1 && value->size != 2 && value->size != 4 && value->size != 8)
		return false;
	(*at)++;
	return *(*at)++ == '@';
}

uint32_t usdt_arguments_parse(const char *text, struct event_value ret_list[USDT_ARGUMENTS_MAX])
{
	uint32_t n = 0;

	for (text += strspn(text, " "); *text && n < USDT_ARGUMENTS_MAX; n++) {
		struct event_value value = { .text = EVENT_TEXT_NONE };
		const char *at = text, *end = text + strcspn(text, " ");

		/* A word may not be read beyond its end: none of its parts has a blank. */
		if (!take_size(&at, &value) || !take_operand(&at, &value) || at != end)
			value = (struct event_value){ .size = 0 };
		else if (value.size == sizeof(uint64_t))
			value.text = EVENT_TEXT_USER;
		ret_list[n] = value;
		text = end + strspn(end, " ");
	}
	return n;
}
