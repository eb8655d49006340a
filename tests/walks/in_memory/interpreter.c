// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/walks/in_memory/bpf_helpers.h"

/* What BPF programs do without saying so. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "languages/interpreter.bpf.h"
#include "tests/walks/in_memory/interpreter.h"

#include <stdio.h>
#include <string.h>

#define MAX_RUNS  64
#define MAX_NAMES 256

/* All languages. */
const volatile __u32 languages = ~0u;

/* The helpers have no context: this is of the walk that is in progress. */
static struct replay {
	struct interpreter_start start;
	struct interpreter_memory memory;
	struct scratch slot;
	struct task_struct task;
	struct wire_script_name names[MAX_NAMES];
	uint32_t n_names;
} replay;

static long bpf_probe_read_user(void *to, uint64_t size, const void *from)
{
	return replay.memory.read(replay.memory.data, to, size, (uint64_t)from);
}

static long bpf_probe_read_user_str(void *to, uint64_t size, const void *from)
{
	char *text = to;

	for (uint64_t i = 0; i < size; i++) {
		if (bpf_probe_read_user(&text[i], 1, (const char *)from + i))
			return -1;
		if (!text[i])
			return (long)i + 1;
	}
	text[size - 1] = '\0';
	return (long)size;
}

static long bpf_probe_read_kernel(void *to, uint64_t size, const void *from)
{
	memmove(to, from, size);
	return 0;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	(void)key;
	return map == &scratch	      ? (void *)&replay.slot
	       : map == &interpreters ? (void *)&replay.start.is
				      : NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags)
{
	(void)map;
	(void)key;
	(void)value;
	(void)flags;
	return 0;
}

static long bpf_ringbuf_output(void *to, const void *data, uint64_t size, uint64_t flags)
{
	(void)to;
	(void)flags;
	if (size != sizeof(replay.names[0]) || replay.n_names == MAX_NAMES)
		return -1;
	memcpy(&replay.names[replay.n_names++], data, size);
	return 0;
}

static uint64_t bpf_ringbuf_query(void *of, uint64_t what)
{
	(void)of;
	(void)what;
	return 0;
}

static void *bpf_get_current_task_btf(void)
{
	return &replay.task;
}

static uint64_t bpf_get_current_task(void)
{
	return (uint64_t)&replay.task;
}

static long bpf_find_vma(void *task, uint64_t address, void *each, void *context, uint64_t flags)
{
	(void)task;
	(void)address;
	(void)each;
	(void)context;
	(void)flags;
	return -1;
}

/* The characters of a text that have one byte, or its lowest. */
static int put_text(char *to, size_t size, const __u8 *text, uint32_t bytes, uint32_t kind)
{
	uint32_t each = kind == WIRE_TEXT_UTF8 ? 1 : kind;
	size_t n = 0;

	for (uint32_t i = 0; i < bytes && n + 1 < size; i += each)
		to[n++] = (char)text[i];
	if (size)
		to[n] = '\0';
	return (int)n;
}

static size_t put_frame_text(char *text, size_t size, uint64_t frame)
{
	uint64_t id = frame & WIRE_FRAME_ADDRESS;
	char name[WIRE_SCRIPT_TEXT + 1], file[WIRE_SCRIPT_TEXT + 1];

	for (uint32_t i = 0; i < replay.n_names; i++) {
		const struct wire_script_name *is = &replay.names[i];
		const char *base;

		if (is->id != id)
			continue;
		put_text(name, sizeof(name), is->name, is->name_size, is->name_kind);
		put_text(file, sizeof(file), is->file, is->file_size, is->file_kind);
		base = strrchr(file, '/');
		return (size_t)snprintf(text, size, "%s (%s)", name, base ? base + 1 : file);
	}
	return (size_t)snprintf(text, size, "[%llu]", (unsigned long long)id);
}

uint32_t interpreter_runs(const struct interpreter_start *start,
			  const struct interpreter_memory *memory, char *text, size_t size)
{
	struct scratch *slot = &replay.slot;
	size_t used = 0;
	uint32_t n = 0;

	memset(&replay, 0, sizeof(replay));
	replay.start = *start;
	replay.memory = *memory;
	replay.task.thread.fsbase = start->thread;
	slot->interpreter = 1;
	slot->interpreter_bias = start->bias;
	slot->walk.pc = start->pc;
	slot->walk.known = UNWIND_ALL_KNOWN;
	memcpy(slot->walk.registers, start->registers, sizeof(start->registers));
	text[0] = '\0';
	for (interp_begin(0, 0); slot->interp.anchor && n < MAX_RUNS; n++) {
		bool keep;
		uint64_t n_frames;

		language_arrives(0);
		n_frames = interp_settle_run(slot, &keep);
		for (uint64_t i = 0; i < n_frames && used < size; i++) {
			used += put_frame_text(text + used, size - used,
					       slot->frames[STAGED_AT + i]);
			if (used + 1 < size)
				text[used++] = i + 1 < n_frames ? ';' : '\n';
		}
		slot->interp.n_native++;
		language_run(0);
	}
	if (used < size)
		text[used] = '\0';
	return n;
}

void interpreter_start_write(const struct interpreter_start *start, FILE *file)
{
	uint64_t size = sizeof(start->is);

	fwrite(&size, sizeof(size), 1, file);
	fwrite(&start->is, sizeof(start->is), 1, file);
	fwrite(&start->bias, sizeof(*start) - offsetof(struct interpreter_start, bias), 1, file);
}

int interpreter_start_read(FILE *file, struct interpreter_start *ret_start)
{
	uint64_t size;

	memset(ret_start, 0, sizeof(*ret_start));
	return fread(&size, sizeof(size), 1, file) == 1 && size <= sizeof(ret_start->is) &&
			       fread(&ret_start->is, size, 1, file) == 1 &&
			       fread(&ret_start->bias,
				     sizeof(*ret_start) - offsetof(struct interpreter_start, bias),
				     1, file) == 1
		       ? 0
		       : -1;
}
