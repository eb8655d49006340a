// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/function_entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cfi/instruction.h"

#define CHECK_MAX      16 /* instructions before the end of a stack check */
#define GROWTH_MAX     80 /* instructions that have the stack grown: arguments are saved and loaded */
#define LOOP_CODE_MAX  8192
#define LOOP_NODES_MAX 2048
#define OUTSIDE	       UINT32_MAX

static int32_t read_32(const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Whether a jump to the first byte may be in the code. Cheap: most functions have none. */
static bool may_come_back(const uint8_t *code, size_t size)
{
	for (size_t i = 0; i + 2 <= size && i <= 126; i++)
		if ((int8_t)code[i + 1] == -(int)(i + 2) &&
		    ((code[i] & 0xf0) == 0x70 || code[i] == 0xeb || (code[i] & 0xfc) == 0xe0))
			return true;
	for (size_t i = 1; i + 4 <= size; i++)
		if (read_32(code + i) == -(int32_t)(i + 4) &&
		    (code[i - 1] == 0xe9 || (code[i - 1] & 0xf0) == 0x80))
			return true;
	return false;
}

/* The place to which a jump or call at `at` goes, as an offset in the function; OUTSIDE. */
static uint32_t target_of(const struct instruction *is, size_t at, size_t size)
{
	int64_t target = (int64_t)at + is->size + is->offset;

	return target < 0 || target >= (int64_t)size ? OUTSIDE : (uint32_t)target;
}

static bool moves_stack_pointer(const struct instruction *is)
{
	switch (is->kind) {
	case INSTRUCTION_OTHER:
	case INSTRUCTION_STORE:
	case INSTRUCTION_JUMP:
	case INSTRUCTION_BRANCH:
		break;
	case INSTRUCTION_MOVE:
	case INSTRUCTION_ADDRESS:
	case INSTRUCTION_LOAD:
		if (is->reg == REGISTER_SP)
			return true;
		break;
	default:
		return true;
	}
	return is->written & (1u << REGISTER_SP);
}

/* ---- Go's stack check ---- */

/* Whether the code at `at` calls something and then jumps to the first byte. */
static bool grows_stack(const uint8_t *code, size_t size, size_t at)
{
	bool called = false;

	for (int i = 0; i < GROWTH_MAX && at < size; i++) {
		const struct instruction is = instruction_decode(code + at, size - at);

		switch (is.kind) {
		case INSTRUCTION_UNKNOWN:
		case INSTRUCTION_BRANCH:
		case INSTRUCTION_RETURN:
		case INSTRUCTION_STOP:
		case INSTRUCTION_JUMP_SOMEWHERE:
			return false;
		case INSTRUCTION_JUMP:
			return called && target_of(&is, at, size) == 0;
		case INSTRUCTION_CALL:
		case INSTRUCTION_CALL_SOMEWHERE:
			called = true;
			break;
		default:
			break;
		}
		at += is.size;
	}
	return false;
}

/* Where the function goes on behind its stack check; 0: it has none. */
static uint32_t behind_check(const uint8_t *code, size_t size)
{
	uint32_t behind = 0;
	size_t at = 0;

	for (int i = 0; i < CHECK_MAX && at < size; i++) {
		const struct instruction is = instruction_decode(code + at, size - at);
		uint32_t target;

		if (moves_stack_pointer(&is) || is.kind == INSTRUCTION_JUMP)
			break;
		target = target_of(&is, at, size);
		at += is.size;
		if (is.kind == INSTRUCTION_BRANCH && target != OUTSIDE &&
		    grows_stack(code, size, target))
			behind = (uint32_t)at;
	}
	return behind;
}

/* ---- loops ---- */

/* An instruction. */
struct node {
	uint32_t at;
	uint32_t next[2]; /* where control goes on, as offsets in the function */
	uint8_t n_next;
	bool leaves;	 /* a branch that leaves the function */
	bool moves;	 /* moves the stack pointer */
	bool comes_back; /* the first byte can be reached from it */
};

/* The instructions that can be reached. */
struct flow {
	struct node nodes[LOOP_NODES_MAX];
	uint16_t number[LOOP_CODE_MAX]; /* of the node at this offset, from 1 on; 0: none */
	uint32_t n;
};

/* Adds the instruction at `at`. False: where it goes on is not known. */
static bool add(struct flow *flow, const uint8_t *code, size_t size, uint32_t at)
{
	const struct instruction is = instruction_decode(code + at, size - at);
	struct node node = { .at = at, .moves = moves_stack_pointer(&is) };
	bool falls = is.kind != INSTRUCTION_JUMP && is.kind != INSTRUCTION_RETURN &&
		     is.kind != INSTRUCTION_STOP;

	if (is.kind == INSTRUCTION_UNKNOWN || is.kind == INSTRUCTION_JUMP_SOMEWHERE ||
	    flow->n == LOOP_NODES_MAX || (falls && at + is.size >= size))
		return false;
	if (falls)
		node.next[node.n_next++] = at + is.size;
	if (is.kind == INSTRUCTION_JUMP || is.kind == INSTRUCTION_BRANCH) {
		uint32_t target = target_of(&is, at, size);

		if (target != OUTSIDE)
			node.next[node.n_next++] = target;
		node.leaves = target == OUTSIDE && falls;
	}
	flow->nodes[flow->n++] = node;
	flow->number[at] = (uint16_t)flow->n;
	return true;
}

/* The list of nodes is also that of the nodes whose successors are still to be added. */
static bool follow(struct flow *flow, const uint8_t *code, size_t size)
{
	if (!add(flow, code, size, 0))
		return false;
	for (uint32_t i = 0; i < flow->n; i++)
		for (uint32_t j = 0; j < flow->nodes[i].n_next; j++) {
			uint32_t to = flow->nodes[i].next[j];

			if (flow->number[to] == 0 && !add(flow, code, size, to))
				return false;
		}
	return true;
}

static struct node *node_at(struct flow *flow, uint32_t at)
{
	return &flow->nodes[flow->number[at] - 1];
}

/*
 * Marks the nodes from which control can come back to the first byte; `with_moves`: also by way of
 * instructions that move the stack pointer.
 */
static void mark_loop(struct flow *flow, bool with_moves)
{
	bool changed = true;

	for (uint32_t i = 0; i < flow->n; i++)
		flow->nodes[i].comes_back = false;
	while (changed) {
		changed = false;
		for (uint32_t i = flow->n; i > 0; i--) {
			struct node *node = &flow->nodes[i - 1];

			if (node->comes_back || (node->moves && !with_moves))
				continue;
			for (uint32_t j = 0; j < node->n_next; j++)
				if (node->next[j] == 0 || node_at(flow, node->next[j])->comes_back)
					node->comes_back = changed = true;
		}
	}
}

/* Whether control gets to this place, which is outside of the loop, from the loop only. */
static bool only_from_loop(const struct flow *flow, uint32_t at)
{
	for (uint32_t i = 0; i < flow->n; i++) {
		const struct node *node = &flow->nodes[i];

		for (uint32_t j = 0; j < node->n_next && !node->comes_back; j++)
			if (node->next[j] == at)
				return false;
	}
	return true;
}

static bool add_exit(struct function_entry *exits, uint32_t at)
{
	uint32_t i = exits->n;

	for (uint32_t j = 0; j < exits->n; j++)
		if (exits->at[j] == at)
			return true;
	if (exits->n == FUNCTION_ENTRY_MAX)
		return false;
	for (; i > 0 && exits->at[i - 1] > at; i--)
		exits->at[i] = exits->at[i - 1];
	exits->at[i] = at;
	exits->n++;
	return true;
}

/* The places behind the loop. False: one of them may be reached more than once in a call. */
static bool find_exits(struct flow *flow, struct function_entry *ret_exits)
{
	for (uint32_t i = 0; i < flow->n; i++) {
		const struct node *node = &flow->nodes[i];

		if (!node->comes_back)
			continue;
		if (node->moves || node->leaves)
			return false;
		for (uint32_t j = 0; j < node->n_next; j++)
			if (!node_at(flow, node->next[j])->comes_back &&
			    (!only_from_loop(flow, node->next[j]) ||
			     !add_exit(ret_exits, node->next[j])))
				return false;
	}
	return ret_exits->n > 0;
}

/* Whether the stack pointer is moved before the first jump or return. */
static bool makes_frame(const uint8_t *code, size_t size)
{
	for (size_t at = 0; at < size;) {
		const struct instruction is = instruction_decode(code + at, size - at);

		if (is.kind == INSTRUCTION_UNKNOWN || is.kind == INSTRUCTION_JUMP ||
		    is.kind == INSTRUCTION_BRANCH || is.kind == INSTRUCTION_RETURN)
			return false;
		if (moves_stack_pointer(&is))
			return true;
		at += is.size;
	}
	return false;
}

/*
 * A function that has removed its frame when it jumps to its first byte calls itself, at the end of
 * its work. That is a call.
 */
static void leave_loop(const uint8_t *code, size_t size, struct function_entry *entry)
{
	own(own_free) struct flow *flow = NULL;
	struct function_entry exits = { 0 };

	if (makes_frame(code, size))
		return;
	flow = calloc(1, sizeof(*flow));
	if (!flow || size > LOOP_CODE_MAX || !follow(flow, code, size)) {
		entry->turns = true;
		return;
	}
	mark_loop(flow, false);
	if (!node_at(flow, 0)->comes_back)
		return;
	mark_loop(flow, true);
	if (find_exits(flow, &exits))
		*entry = exits;
	else
		entry->turns = true;
}

bool function_entry_find(const uint8_t *code, size_t size, struct function_entry *ret_entry)
{
	*ret_entry = (struct function_entry){ .n = 1 };
	if (!may_come_back(code, size))
		return false;
	ret_entry->at[0] = behind_check(code, size);
	if (ret_entry->at[0] == 0)
		leave_loop(code, size, ret_entry);
	return ret_entry->at[0] > 0 || ret_entry->turns;
}

uint32_t function_entry_behind_test(const uint8_t *code, size_t size)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
	static const uint8_t test[] = { 0x48, 0x85, 0xff };	     /* test %rdi,%rdi */
	size_t at = 0;

	if (size >= sizeof(landing) && memcmp(code, landing, sizeof(landing)) == 0)
		at = sizeof(landing);
	if (size < at + sizeof(test) + 2 || memcmp(code + at, test, sizeof(test)) != 0)
		return 0;
	at += sizeof(test);
	return (code[at] & 0xfe) == 0x74 || (code[at] == 0x0f && (code[at + 1] & 0xfe) == 0x84)
		       ? (uint32_t)at
		       : 0;
}
