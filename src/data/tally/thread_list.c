// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/thread_list.h"

#include <stdlib.h>

#include "base/grow.h"

int thread_list_add(struct thread_list *list, const struct listed_thread *thread)
{
	int r = grow(&list->threads, &list->capacity, list->n + 1);

	if (r == 0)
		list->threads[list->n++] = *thread;
	return r;
}

void thread_list_clear(struct thread_list *list)
{
	free(list->threads);
	*list = (struct thread_list){ 0 };
}

static int compare(const void *one, const void *other)
{
	const struct listed_thread *a = one, *b = other;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void thread_list_sort(struct thread_list *list)
{
	if (list->n)
		qsort(list->threads, list->n, sizeof(*list->threads), compare);
}

struct listed_thread *thread_list_find(const struct thread_list *list, uint32_t tgid, uint32_t tid)
{
	const struct listed_thread key = { .tgid = tgid, .tid = tid };

	return list->n ? bsearch(&key, list->threads, list->n, sizeof(key), compare) : NULL;
}

static struct listed_thread *next_of(const struct thread_list *list,
				     const struct listed_thread *thread)
{
	return thread->waits_for ? thread_list_find(list, thread->tgid, thread->waits_for) : NULL;
}

/* Whether the chain of waits that begins at a thread leads back to it. */
static bool is_in_cycle(const struct thread_list *list, const struct listed_thread *thread)
{
	const struct listed_thread *at = next_of(list, thread);

	for (uint32_t i = 0; at && at != thread && i < list->n; i++)
		at = next_of(list, at);
	return at == thread;
}

uint32_t thread_list_find_cycles(struct thread_list *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct listed_thread *thread = &list->threads[i];

		thread->in_cycle = is_in_cycle(list, thread);
		n += thread->in_cycle;
	}
	return n;
}
