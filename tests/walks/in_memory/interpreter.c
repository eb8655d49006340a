// SPDX-License-Identifier: GPL-2.0-or-later
#include "user_walk/bpf_helpers.h"

#include "languages/interpreter.bpf.h"
#include "tests/walks/in_memory/interpreter.h"
#include "tests/walks/in_memory/java.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAX_RUNS  64
#define MAX_NAMES 256

/* All languages. */
const volatile __u32 languages = ~0u;

/* The helpers have no context: this is of the walk that is in progress. */
static struct replay {
	struct wire_interpreter is;
	struct wire_java_process machine;
	struct java_places places;
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
	return map == &scratch		? (void *)&replay.slot
	       : map == &interpreters	? (void *)&replay.is
	       : map == &java_processes ? (void *)&replay.machine
	       : map == &java_places	? (void *)&replay.places
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

/* Writes the functions of the walk's frames. */
static void put_run(char *text, size_t size)
{
	const struct scratch *slot = &replay.slot;
	size_t used = 0;

	for (uint32_t i = 0; i < slot->walk_n && used < size; i++) {
		if (slot->frames[i] & WIRE_FRAME_SCRIPT)
			used += put_frame_text(text + used, size - used, slot->frames[i]);
		if (used + 1 < size)
			text[used++] = i + 1 < slot->walk_n ? ';' : '\n';
	}
	if (used < size)
		text[used] = '\0';
}

/* ---- Java ---- */

/* The walk of a machine's process; what earlier walks have found out stays. */
static struct java_walk *begin(const struct interpreter_start *start,
			       const struct interpreter_memory *memory)
{
	replay.is = start->is;
	replay.machine = start->machine;
	replay.memory = *memory;
	replay.slot.interp.language = LANGUAGE_JAVA;
	replay.slot.interp.java_walk.is = start->machine;
	replay.slot.interp.java_walk.kind = JAVA_NONE;
	replay.slot.interp.java_walk.frozen.chunk = 0;
	replay.slot.window.size = 0;
	replay.slot.walk = (struct unwind_walk){
		.pc = start->pc,
		.known = UNWIND_ALL_KNOWN,
		.exact = 1,
	};
	memcpy(replay.slot.walk.registers, start->registers, sizeof(start->registers));
	return &replay.slot.interp.java_walk;
}

/* Whether the walk is at code that the machine has generated. */
static bool is_in_code_cache(const struct scratch *slot)
{
	const struct wire_java_process *is = &slot->interp.java_walk.is;

	return slot->walk.pc - is->low < is->high - is->low;
}

uint32_t java_callers(const struct interpreter_start *start,
		      const struct interpreter_memory *memory, struct java_caller *ret_callers,
		      uint32_t most, uint32_t *ret_reason)
{
	struct java_walk *java = begin(start, memory);
	struct unwind_walk *walk = &replay.slot.walk;
	uint32_t n = 0;

	*ret_reason = WIRE_SCRIPT_KNOWN;
	while (n < most && is_in_code_cache(&replay.slot)) {
		if (java_step(0)) {
			*ret_reason = java->reason;
			break;
		}
		ret_callers[n++] = (struct java_caller){
			.pc = walk->pc,
			.sp = walk->registers[UNWIND_SP],
			.fp = walk->registers[UNWIND_FP],
			.has_fp = UNWIND_KNOWS(walk, UNWIND_FP),
		};
	}
	return n;
}

void java_code_at(const struct interpreter_start *start, const struct interpreter_memory *memory,
		  uint64_t address, struct java_code *ret_code)
{
	struct java_walk *java = begin(start, memory);
	uint64_t name;

	*ret_code = (struct java_code){ .kind = (uint32_t)java_find_here(java, address) };
	if (ret_code->kind == JAVA_NONE)
		return;
	ret_code->begin = java->other.code;
	ret_code->end = java->other.code_end;
	ret_code->entry = java->other.entry;
	name = JAVA_IN(java, java->is.blob_name, uint64_t);
	if (bpf_probe_read_user_str(ret_code->name, sizeof(ret_code->name), (const void *)name) < 0)
		ret_code->name[0] = '\0';
}

/* The functions of generated code, up to native code: a run, or none if there is none. */
static uint32_t java_run(const struct interpreter_start *start,
			 const struct interpreter_memory *memory, char *text, size_t size)
{
	struct scratch *slot = &replay.slot;

	begin(start, memory);
	frames_begin(slot, 0);
	while (is_in_code_cache(slot) && frames_add_native(slot)) {
		int end = java_step(0);

		java_place(0);
		if (end)
			break;
	}
	put_run(text, size);
	return slot->walk_n > 0;
}

/* ---- JavaScript ---- */

#define FILE_BYTES (1u << 30) /* an address that is farther from a file is not in it */

/* Whether the walk is at code of V8: its builtins, or generated. */
static bool is_in_v8(const struct scratch *slot, bool *ret_generated)
{
	const struct interpreter_walk *interp = &slot->interp;

	*ret_generated = slot->walk.pc - interp->bias >= FILE_BYTES;
	return *ret_generated || slot->walk.pc - interp->evaluator < interp->evaluator_size;
}

/* Goes to the caller by the frame pointer, which all of V8's code keeps. */
static bool step_by_frame_pointer(struct unwind_walk *walk)
{
	uint64_t fp = walk->registers[UNWIND_FP], words[2];

	if (bpf_probe_read_user(words, sizeof(words), (const void *)fp))
		return false;
	walk->registers[UNWIND_SP] = fp + sizeof(words);
	walk->registers[UNWIND_FP] = words[0];
	walk->pc = words[1];
	walk->exact = 0;
	return true;
}

/* The functions of V8's code, up to code in C++: a run, or none if there is none. */
static uint32_t javascript_run(char *text, size_t size)
{
	struct scratch *slot = &replay.slot;
	bool generated;

	slot->walk.exact = 1;
	interp_begin(0, 0);
	while (is_in_v8(slot, &generated) && frames_add_native(slot)) {
		const struct left_frame left = { .sp = slot->walk.registers[UNWIND_SP],
						 .fp = slot->walk.registers[UNWIND_FP] };

		slot->walk.callee_owner = generated ? UNWIND_GENERATED : 0;
		if (!step_by_frame_pointer(&slot->walk))
			break;
		slot->interp.n_native++;
		if (javascript_sees_function(slot, &left))
			javascript_place(0);
	}
	put_run(text, size);
	return slot->walk_n > 0;
}

/* ---- all languages ---- */

uint32_t interpreter_runs(const struct interpreter_start *start,
			  const struct interpreter_memory *memory, char *text, size_t size)
{
	struct scratch *slot = &replay.slot;
	size_t used = 0;
	uint32_t n = 0;

	memset(&replay, 0, sizeof(replay));
	if (start->is.language == LANGUAGE_JAVA)
		return java_run(start, memory, text, size);
	replay.is = start->is;
	replay.memory = *memory;
	replay.task.thread.fsbase = start->thread;
	slot->interpreter = 1;
	slot->interpreter_bias = start->bias;
	slot->walk.pc = start->pc;
	slot->walk.known = UNWIND_ALL_KNOWN;
	memcpy(slot->walk.registers, start->registers, sizeof(start->registers));
	text[0] = '\0';
	if (start->is.language == LANGUAGE_JAVASCRIPT)
		return javascript_run(text, size);
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

/* ---- where a walk begins, in a file ---- */

/* What is as large in each version. */
#define START_BYTES                                                                                \
	(offsetof(struct interpreter_start, machine) - offsetof(struct interpreter_start, bias))

/* A structure that may grow, with its size. */
static void write_sized(const void *from, uint64_t size, FILE *file)
{
	fwrite(&size, sizeof(size), 1, file);
	fwrite(from, size, 1, file);
}

static bool read_sized(void *to, uint64_t most, FILE *file)
{
	uint64_t size;

	return fread(&size, sizeof(size), 1, file) == 1 && size <= most &&
	       fread(to, size, 1, file) == 1;
}

void interpreter_start_write(const struct interpreter_start *start, FILE *file)
{
	write_sized(&start->is, sizeof(start->is), file);
	fwrite(&start->bias, START_BYTES, 1, file);
	if (start->is.language == LANGUAGE_JAVA)
		write_sized(&start->machine, sizeof(start->machine), file);
}

int interpreter_start_read(FILE *file, struct interpreter_start *ret_start)
{
	memset(ret_start, 0, sizeof(*ret_start));
	if (!read_sized(&ret_start->is, sizeof(ret_start->is), file) ||
	    fread(&ret_start->bias, START_BYTES, 1, file) != 1)
		return -1;
	return ret_start->is.language != LANGUAGE_JAVA ||
			       read_sized(&ret_start->machine, sizeof(ret_start->machine), file)
		       ? 0
		       : -1;
}
