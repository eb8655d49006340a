// SPDX-License-Identifier: GPL-2.0-or-later
#include "user_walk/bpf_helpers.h"

#include "bpf/stack_copy.bpf.h"
#include "languages/interpreter.bpf.h"
#include "user_walk/pages.h"
#include "user_walk/user_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All languages. */
const volatile __u32 languages = ~0u;

/* Ids of names that were sent; as in the BPF programs' map, one that is forgotten is sent again. */
#define SENT_IDS   16384u
#define SENT_TRIES 8u /* places that an id may have */

struct user_walk {
	struct user_walk_options options;
	struct wire_config config;
	struct pages *pages;
	uint32_t segment; /* of blocks, which was looked up last */
	struct wire_java_process machine;
	struct task_struct task;
	int failed; /* of options.take */
	struct java_places places;
	uint64_t sent[SENT_IDS];
	struct scratch slot;
};

/* The helpers have no context: the walk that is in progress; NULL: none is. */
static struct user_walk *walking;

/* ---- the helpers ---- */

static long bpf_probe_read_user(void *to, uint64_t size, const void *from)
{
	return pages_read(walking->pages, to, size, (uint64_t)from);
}

static long bpf_probe_read_user_str(void *to, uint64_t size, const void *from)
{
	char *text = to;

	for (uint64_t i = 0; i < size; i++) {
		if (bpf_probe_read_user(&text[i], 1, (const char *)from + i))
			return -EFAULT;
		if (!text[i])
			return (long)i + 1;
	}
	if (size)
		text[size - 1] = '\0';
	return (long)size;
}

static long bpf_probe_read_kernel(void *to, uint64_t size, const void *from)
{
	memmove(to, from, size);
	return 0;
}

/* The machine of a process; copied, because the kernel has it. */
static void *look_up_machine(uint32_t tgid)
{
	return interpreters_java(walking->options.interpreters, (pid_t)tgid, &walking->machine)
		       ? &walking->machine
		       : NULL;
}

/* The place of an id; without one, that of the id that it replaces. */
static uint64_t *sent_place(uint64_t id)
{
	uint32_t first = (uint32_t)(id * 0x9fb21c651e98df25ull >> 40);
	uint64_t *place = NULL;

	for (uint32_t i = 0; i < SENT_TRIES; i++) {
		place = &walking->sent[(first + i) % SENT_IDS];
		if (!*place || *place == id)
			return place;
	}
	return place;
}

static const void *look_up_sent(uint64_t id)
{
	const uint64_t *place = sent_place(id);

	return *place == id ? place : NULL;
}

static const void *look_up(const void *map, uint32_t key)
{
	const struct user_walk_options *with = &walking->options;

	if (map == &scratch)
		return &walking->slot;
	if (map == &java_places)
		return &walking->places;
	if (map == &interpreters)
		return interpreters_at(with->interpreters, key);
	if (map == &java_processes)
		return look_up_machine(key);
	if (map == &unwind_processes)
		return unwind_process(with->unwind, key);
	if (map == &unwind_rules)
		return unwind_rule(with->unwind, key);
	if (map == &unwind_segments && key < WIRE_MAX_SEGMENTS) {
		walking->segment = key;
		return &walking->segment;
	}
	if (map == &walking->segment && key < WIRE_SEGMENT_BLOCKS)
		return unwind_block(with->unwind, walking->segment * WIRE_SEGMENT_BLOCKS + key);
	return NULL;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint64_t id;
	uint32_t number;

	memcpy(&number, key, sizeof(number));
	if (map != &sent_scripts)
		return (void *)look_up(map, number);
	memcpy(&id, key, sizeof(id));
	return (void *)look_up_sent(id);
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	uint64_t id;

	(void)value;
	(void)flags;
	if (map == &sent_scripts) {
		memcpy(&id, key, sizeof(id));
		*sent_place(id) = id;
	}
	return 0;
}

static long bpf_ringbuf_output(void *to, const void *data, uint64_t size, uint64_t flags)
{
	int r = walking->options.take(walking->options.context, data, size);

	(void)to;
	(void)flags;
	if (r < 0)
		walking->failed = r;
	return r;
}

/* How full the ring is, which is none. */
static uint64_t bpf_ringbuf_query(void *of, uint64_t what)
{
	(void)of;
	(void)what;
	return 0;
}

static void *bpf_get_current_task_btf(void)
{
	return &walking->task;
}

static uint64_t bpf_get_current_task(void)
{
	return (uint64_t)&walking->task;
}

/* User space knows all mappings, so the program does not ask. */
static long bpf_find_vma(void *task, uint64_t address, void *each, void *context, uint64_t flags)
{
	(void)task;
	(void)address;
	(void)each;
	(void)context;
	(void)flags;
	return -ENOENT;
}

/* ---- the walk ---- */

int user_walk_new(const struct user_walk_options *options, struct user_walk **ret_walk)
{
	struct user_walk *walk = calloc(1, sizeof(*walk));
	int r = walk ? pages_new(options->memory, &walk->pages) : -ENOMEM;

	if (r < 0) {
		user_walk_free(walk);
		return r;
	}
	walk->options = *options;
	walk->config = *options->config;
	*ret_walk = walk;
	return 0;
}

void user_walk_free(struct user_walk *walk)
{
	if (walk)
		pages_free(walk->pages);
	free(walk);
}

bool user_walk_is_needed(const struct user_walk *walk, uint32_t tgid)
{
	const struct wire_process *process = unwind_process(walk->options.unwind, tgid);

	return process && process->n_interpreters;
}

int user_walk_stack(struct user_walk *walk, const struct user_walk_thread *thread,
		    struct wire_stack *stack, const uint64_t **ret_frames)
{
	struct scratch *slot = &walk->slot;
	__u32 end = WIRE_END_NONE;

	walking = walk;
	config = walk->config;
	unwind_changes++; /* layouts are looked up anew */
	walk->failed = 0;
	walk->task.thread.fsbase = thread->pointer;
	pages_begin(walk->pages, (pid_t)thread->tgid, (pid_t)thread->tid);
	slot->stack = *stack;
	slot->walk = *thread->begin;
	slot->asked.number = 0;
	walk_begin(slot, thread->tgid);
	slot->window.size = 0;
	slot->questions = 0;
	stack->n_user = (uint16_t)interpreter_walk(slot, 0, 0, false, &end);
	stack->end = (uint8_t)end;
	stack->unpaired = slot->stack.unpaired;
	stack->flags = slot->stack.flags | (slot->walk.assumed ? WIRE_STACK_ASSUMED : 0);
	*ret_frames = (const uint64_t *)slot->frames;
	walking = NULL;
	return walk->failed ? walk->failed : stack_copy_helps(end);
}
