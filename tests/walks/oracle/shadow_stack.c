// SPDX-License-Identifier: GPL-2.0-or-later
#include "shadow_stack.h"

#include <stdlib.h>
#include <string.h>

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static void list_push(struct shadow_list *list, struct shadow_entry entry)
{
	if (list->n == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 64;
		list->entries =
			must(realloc(list->entries, list->capacity * sizeof(*list->entries)));
	}
	list->entries[list->n++] = entry;
}

void shadow_push(struct shadow_stack *stack, struct shadow_entry entry)
{
	if (entry.interrupted)
		stack->counts.signals++;
	else
		stack->counts.calls++;
	list_push(&stack->list, entry);
}

void shadow_copy(struct shadow_stack *to, const struct shadow_stack *from)
{
	memset(to, 0, sizeof(*to));
	for (size_t i = 0; i < from->list.n; i++)
		list_push(&to->list, from->list.entries[i]);
}

void shadow_reset(struct shadow_stack *stack)
{
	stack->list.n = 0;
	for (size_t i = 0; i < stack->n_parked; i++)
		free(stack->parked[i].entries);
	stack->n_parked = 0;
}

void shadow_free(struct shadow_stack *stack)
{
	shadow_reset(stack);
	free(stack->list.entries);
	free(stack->parked);
	memset(stack, 0, sizeof(*stack));
}

bool shadow_return(struct shadow_stack *stack, uint64_t slot, uint64_t to)
{
	const struct shadow_entry *top = shadow_top(stack);

	if (!top || top->interrupted || top->slot != slot || top->address != to)
		return false;
	stack->counts.returns++;
	stack->list.n--;
	return true;
}

bool shadow_sigreturn(struct shadow_stack *stack)
{
	size_t n = stack->list.n;

	while (n && !stack->list.entries[n - 1].interrupted)
		n--;
	if (!n)
		return false;
	stack->list.n = n - 1;
	return true;
}

/* The number of entries that remain when control goes to `target`. */
static size_t kept(const struct shadow_list *list, const struct shadow_target *target)
{
	size_t n = list->n;

	while (n && (list->entries[n - 1].area != target->area ||
		     list->entries[n - 1].slot < target->sp))
		n--;
	return n;
}

static void park(struct shadow_stack *stack)
{
	if (stack->list.n) {
		stack->parked = must(
			realloc(stack->parked, (stack->n_parked + 1) * sizeof(*stack->parked)));
		stack->parked[stack->n_parked++] = stack->list;
	} else {
		free(stack->list.entries);
	}
	stack->list = (struct shadow_list){};
}

static void unpark(struct shadow_stack *stack, size_t i)
{
	struct shadow_list list = stack->parked[i];

	stack->parked[i] = stack->parked[--stack->n_parked];
	park(stack);
	stack->list = list;
}

void shadow_moved(struct shadow_stack *stack, const struct shadow_target *target)
{
	size_t n;

	for (size_t i = stack->n_parked; i-- > 0;) {
		const struct shadow_list *list = &stack->parked[i];
		const struct shadow_entry *top = &list->entries[list->n - 1];

		if (top->slot + 8 == target->sp && top->address == target->pc) {
			unpark(stack, i);
			stack->list.n--;
			stack->counts.resumed++;
			return;
		}
	}
	n = kept(&stack->list, target);
	if (n) {
		stack->list.n = n;
		stack->counts.dropped++;
		return;
	}
	for (size_t i = stack->n_parked; i-- > 0;) {
		n = kept(&stack->parked[i], target);
		if (n) {
			unpark(stack, i);
			stack->list.n = n;
			stack->counts.dropped++;
			return;
		}
	}
	park(stack);
	list_push(&stack->list, (struct shadow_entry){ .slot = target->sp,
						       .address = target->at_sp,
						       .area = target->area });
	stack->counts.fresh++;
}
