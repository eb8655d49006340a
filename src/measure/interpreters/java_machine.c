// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/java_machine.h"

#include <errno.h>
#include <string.h>

#include "interpreters/java_frozen.h"

#define MAX_ADDRESS   (1ull << 47)
#define MAX_CACHE     (2ull << 30) /* bytes of a code cache: branches in it have 32 bits */
#define MAX_CODELETS  1024	   /* of the interpreter; 270 are usual */
#define MAX_TEXT      64
#define ENTRY_CODELET "method entry point" /* of native ones: "native method entry point" */

/* Bytes of metadata objects' headers that the walk reads; offsets are below. */
#define MAX_OFFSET 88
#define MAX_CONST  56 /* of a ConstMethod */

/* An offset, and the member of struct wire_java_process that it goes to. */
struct offset {
	uint16_t field;	 /* enum java_field */
	uint16_t member; /* offset, of 16 bits */
};

#define TO(member) offsetof(struct wire_java_process, member)

static const struct offset offsets[] = {
	{ JAVA_BLOB_NAME, TO(blob_name) },
	{ JAVA_BLOB_FRAME_SIZE, TO(blob_frame_size) },
	{ JAVA_NMETHOD_COMPILE_ID, TO(compile_id) },
	{ JAVA_NMETHOD_ENTRY_BCI, TO(entry_bci) },
	{ JAVA_NMETHOD_OSR_ENTRY, TO(osr_entry) },
	{ JAVA_NMETHOD_ORIGINAL_PC, TO(original_pc) },
	{ JAVA_NMETHOD_POINTS, TO(points) },
	{ JAVA_METHOD_CONST, TO(method_const) },
	{ JAVA_CONST_POOL, TO(const_pool) },
	{ JAVA_CONST_NAME, TO(const_name) },
	{ JAVA_CONST_SIGNATURE, TO(const_signature) },
	{ JAVA_CONST_CODE_SIZE, TO(const_code_size) },
	{ JAVA_CONST_WORDS, TO(const_words) },
	{ JAVA_POOL_HOLDER, TO(pool_holder) },
	{ JAVA_POOL_FILE, TO(pool_file) },
	{ JAVA_CLASS_NAME, TO(class_name) },
	{ JAVA_SYMBOL_LENGTH, TO(symbol_length) },
	{ JAVA_SYMBOL_TEXT, TO(symbol_text) },
};

/* Blobs that tell by pointers where code and debug information are: JDK 17 to 22. */
static const struct offset by_pointer[] = {
	{ JAVA_BLOB_CODE_BEGIN, TO(blob_code) },
	{ JAVA_BLOB_CODE_END, TO(blob_code_end) },
	{ JAVA_COMPILED_METHOD, TO(method) },
	{ JAVA_NMETHOD_ENTRY, TO(entry) },
	{ JAVA_COMPILED_DEOPT, TO(deopt) },
	{ JAVA_COMPILED_DEOPT_HANDLE, TO(deopt_handle) },
	{ JAVA_NMETHOD_METADATA, TO(metadata) },
	{ JAVA_COMPILED_SCOPES, TO(scopes) },
	{ JAVA_NMETHOD_DEPENDENCIES, TO(points_end) },
};

/* Blobs that tell it by offsets, and have debug information elsewhere: from JDK 25 on. */
static const struct offset by_offset[] = {
	{ JAVA_BLOB_CODE_OFFSET, TO(blob_code) },
	{ JAVA_BLOB_DATA_OFFSET, TO(blob_code_end) },
	{ JAVA_NMETHOD_METHOD, TO(method) },
	{ JAVA_NMETHOD_ENTRY_OFFSET, TO(entry) },
	{ JAVA_NMETHOD_SCOPES, TO(scopes) },
	{ JAVA_NMETHOD_IMMUTABLE, TO(apart) },
	{ JAVA_NMETHOD_IMMUTABLE_SIZE, TO(apart_size) },
	{ JAVA_BLOB_MUTABLE, TO(changing) },
	{ JAVA_BLOB_MUTABLE_SIZE, TO(changing_size) },
	{ JAVA_BLOB_RELOCATION_SIZE, TO(metadata) },
};

#define N(list) (sizeof(list) / sizeof((list)[0]))

/* Members that are in the header of a blob, of which the BPF program copies what it needs. */
static bool is_of_blob(uint16_t field)
{
	return field < JAVA_METHOD_CONST;
}

static bool put(struct wire_java_process *to, const struct java_fields *fields,
		const struct offset *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t at = fields->at[list[i].field];
		uint16_t value = (uint16_t)at;

		if (at > (is_of_blob(list[i].field) ? JAVA_HEADER_ROOM - 32 : MAX_OFFSET))
			return false;
		memcpy((char *)to + list[i].member, &value, sizeof(value));
		if (is_of_blob(list[i].field) && at / 8 + 2 > to->header_size)
			to->header_size = (uint8_t)(at / 8 + 2);
	}
	return true;
}

/* The handlers that a deoptimized method returns to; a second one is not in all releases. */
static bool put_handlers(struct wire_java_process *to, const struct java_fields *fields)
{
	const struct offset handler = {
		java_has(fields, JAVA_NMETHOD_DEOPT) ? JAVA_NMETHOD_DEOPT
						     : JAVA_NMETHOD_DEOPT_ENTRY,
		TO(deopt),
	};
	const struct offset second = { JAVA_NMETHOD_DEOPT_HANDLE, TO(deopt_handle) };

	if (!put(to, fields, &handler, 1))
		return false;
	to->deopt_handle = to->deopt;
	return !java_has(fields, JAVA_NMETHOD_DEOPT_HANDLE) || put(to, fields, &second, 1);
}

/* Offsets and sizes; what does not fit, or NULL. */
static const char *put_structures(struct wire_java_process *to, const struct java_fields *fields)
{
	uint64_t block = fields->sizes[JAVA_SIZE_HEAP_BLOCK], used = fields->at[JAVA_BLOCK_USED],
		 const_size = fields->sizes[JAVA_SIZE_CONST_METHOD],
		 pool_size = fields->sizes[JAVA_SIZE_CONSTANT_POOL],
		 flags = fields->at[java_has(fields, JAVA_CONST_FLAGS) ? JAVA_CONST_FLAGS
								       : JAVA_CONST_FLAGS_FLAGS];

	to->code_apart = java_has(fields, JAVA_BLOB_CODE_BEGIN);
	to->debug_apart = !to->code_apart;
	if (!put(to, fields, offsets, N(offsets)))
		return "structures of methods";
	if (to->code_apart ? !put(to, fields, by_pointer, N(by_pointer))
			   : !put(to, fields, by_offset, N(by_offset)) || !put_handlers(to, fields))
		return "structures of compiled methods";
	if ((block != 8 && block != 16) || used >= block)
		return "blocks of the code cache";
	if (const_size > MAX_OFFSET || pool_size > MAX_OFFSET || flags > MAX_CONST)
		return "sizes of structures";
	if (fields->sizes[JAVA_SIZE_POINT] != 16 || fields->at[JAVA_POINT_PC] != 0 ||
	    fields->at[JAVA_POINT_SCOPE] != 4)
		return "debug information";
	to->block_header = (uint8_t)block;
	to->block_used = (uint8_t)used;
	to->const_size = (uint16_t)const_size;
	to->const_flags = (uint16_t)flags;
	to->pool_size = (uint16_t)pool_size;
	return NULL;
}

/* ---- the code cache ---- */

static int read_word(const struct java_memory *memory, uint64_t address, void *ret_word)
{
	return memory->read(memory->data, ret_word, sizeof(uint64_t), address) ? -EAGAIN : 0;
}

static int read_int(const struct java_memory *memory, uint64_t address, uint32_t *ret_int)
{
	return memory->read(memory->data, ret_int, sizeof(*ret_int), address) ? -EAGAIN : 0;
}

static bool is_range(uint64_t low, uint64_t high, uint64_t most)
{
	return low && low < high && high < MAX_ADDRESS && high - low <= most;
}

static int read_heap(const struct java_memory *memory, const struct java_fields *fields,
		     uint64_t heap, struct wire_java_heap *to, uint32_t *ret_shift)
{
	uint64_t space = heap + fields->at[JAVA_HEAP_MEMORY];
	uint64_t segments = heap + fields->at[JAVA_HEAP_SEGMENTS];
	int r = read_word(memory, space + fields->at[JAVA_SPACE_LOW], &to->low);

	if (r == 0)
		r = read_word(memory, space + fields->at[JAVA_SPACE_HIGH], &to->high);
	if (r == 0)
		r = read_word(memory, segments + fields->at[JAVA_SPACE_LOW], &to->segments);
	if (r == 0)
		r = read_int(memory, heap + fields->at[JAVA_HEAP_SHIFT], ret_shift);
	return r;
}

/* 0; -EAGAIN: it is not made yet; 1: it does not fit. */
static int read_cache(const struct java_memory *memory, const struct java_fields *fields,
		      struct wire_java_process *to)
{
	uint64_t array, data, heap;
	uint32_t n, shift = 0;
	int r = read_word(memory, fields->at[JAVA_CACHE_LOW], &to->low);

	if (r == 0)
		r = read_word(memory, fields->at[JAVA_CACHE_HIGH], &to->high);
	if (r == 0)
		r = read_word(memory, fields->at[JAVA_CACHE_HEAPS], &array);
	if (r == 0)
		r = read_int(memory, array + fields->at[JAVA_ARRAY_LENGTH], &n);
	if (r == 0)
		r = read_word(memory, array + fields->at[JAVA_ARRAY_DATA], &data);
	if (r < 0 || n == 0)
		return -EAGAIN;
	if (n > JAVA_HEAPS || !is_range(to->low, to->high, MAX_CACHE))
		return 1;
	for (uint32_t i = 0; i < n; i++) {
		struct wire_java_heap *at = &to->heaps[i];

		r = read_word(memory, data + i * sizeof(heap), &heap);
		if (r == 0)
			r = read_heap(memory, fields, heap, at, &shift);
		if (r < 0)
			return r;
		if (!is_range(at->low, at->high, MAX_CACHE) || at->low < to->low ||
		    at->high > to->high || at->segments >= MAX_ADDRESS || shift < 4 || shift > 12 ||
		    (i > 0 && shift != to->segment_shift))
			return 1;
		to->segment_shift = (uint8_t)shift;
	}
	to->n_heaps = (uint8_t)n;
	return 0;
}

/* ---- the interpreter ---- */

static bool is_entry(const struct java_memory *memory, uint64_t text)
{
	char description[MAX_TEXT] = "";

	return memory->read(memory->data, description, sizeof(description) - 1, text) == 0 &&
	       strstr(description, ENTRY_CODELET) != NULL;
}

/* Where in the interpreter methods are entered: from the first such codelet to the last one. */
static void read_entries(const struct java_memory *memory, const struct java_fields *fields,
			 uint64_t end, struct wire_java_process *to)
{
	uint64_t at = to->interpreter_low;
	uint64_t text, size_at = fields->at[JAVA_CODELET_SIZE];
	uint32_t size;

	for (uint32_t i = 0; i < MAX_CODELETS && at < end; i++, at += size) {
		if (read_word(memory, at + fields->at[JAVA_CODELET_DESCRIPTION], &text) < 0 ||
		    read_int(memory, at + size_at, &size) < 0 || size == 0 || size > end - at)
			return;
		if (!is_entry(memory, text))
			continue;
		if (!to->entry_low)
			to->entry_low = at;
		to->entry_high = at + size;
	}
}

/* As read_cache(). */
static int read_interpreter(const struct java_memory *memory, const struct java_fields *fields,
			    struct wire_java_process *to)
{
	uint64_t queue;
	uint32_t limit = 0, end = 0;
	int r = read_word(memory, fields->at[JAVA_INTERPRETER_CODE], &queue);

	if (r < 0 || !queue)
		return -EAGAIN;
	r = read_word(memory, queue + fields->at[JAVA_QUEUE_BUFFER], &to->interpreter_low);
	if (r == 0)
		r = read_int(memory, queue + fields->at[JAVA_QUEUE_LIMIT], &limit);
	if (r == 0)
		r = read_int(memory, queue + fields->at[JAVA_QUEUE_END], &end);
	if (r == 0)
		r = read_word(memory, fields->at[JAVA_CALL_STUB_RETURN], &to->call_stub_return);
	if (r < 0 || !limit || !end || !to->call_stub_return)
		return -EAGAIN;
	to->interpreter_high = to->interpreter_low + limit;
	if (to->interpreter_low < to->low || to->interpreter_high > to->high ||
	    to->interpreter_high < to->interpreter_low || end > limit ||
	    to->call_stub_return < to->low || to->call_stub_return >= to->high)
		return 1;
	read_entries(memory, fields, to->interpreter_low + end, to);
	return to->entry_low ? 0 : -EAGAIN;
}

/* Whether the first blob of the interpreter's heap is found by the map of segments. */
static int check_blob(const struct java_memory *memory, const struct wire_java_process *is)
{
	uint64_t segment, block, code = 0;
	uint8_t back = 1, used = 0;

	for (uint32_t i = 0; i < is->n_heaps; i++) {
		const struct wire_java_heap *heap = &is->heaps[i];

		if (is->interpreter_low < heap->low || is->interpreter_low >= heap->high)
			continue;
		segment = (is->interpreter_low - heap->low) >> is->segment_shift;
		for (uint32_t hops = 0; back && hops < 32; hops++) {
			if (memory->read(memory->data, &back, 1, heap->segments + segment) ||
			    back == 0xff || back > segment)
				return 1;
			segment -= back;
		}
		block = heap->low + (segment << is->segment_shift);
		if (back || memory->read(memory->data, &used, 1, block + is->block_used) ||
		    used != 1 ||
		    memory->read(memory->data, &code, is->code_apart ? 8 : 4,
				 block + is->block_header + is->blob_code))
			return 1;
		if (!is->code_apart)
			code += block + is->block_header;
		return code <= is->interpreter_low && is->interpreter_low - code < 4096 ? 0 : 1;
	}
	return 1;
}

/* ---- all of it ---- */

/*
 * Compressed numbers: from JDK 20 on no byte of them is 0, and their values are one less. That is
 * in no table.
 */
#define EXCLUDES_ZERO 20

static int refuse(struct wire_java_process *process, const char *what, const char **ret_why)
{
	process->refused = WIRE_SCRIPT_DISAGREES;
	*ret_why = what;
	return 0;
}

static const char *lacks_static(const struct java_fields *fields)
{
	static const struct {
		uint16_t field;
		const char *what;
	} needed[] = {
		{ JAVA_CACHE_HEAPS, "the code cache" },
		{ JAVA_CACHE_LOW, "the code cache" },
		{ JAVA_CACHE_HIGH, "the code cache" },
		{ JAVA_ARRAY_LENGTH, "arrays" },
		{ JAVA_ARRAY_DATA, "arrays" },
		{ JAVA_HEAP_MEMORY, "code heaps" },
		{ JAVA_HEAP_SEGMENTS, "code heaps" },
		{ JAVA_HEAP_SHIFT, "code heaps" },
		{ JAVA_SPACE_LOW, "reserved memory" },
		{ JAVA_SPACE_HIGH, "reserved memory" },
		{ JAVA_INTERPRETER_CODE, "the interpreter" },
		{ JAVA_QUEUE_BUFFER, "stub queues" },
		{ JAVA_QUEUE_LIMIT, "stub queues" },
		{ JAVA_QUEUE_END, "stub queues" },
		{ JAVA_CODELET_SIZE, "codelets" },
		{ JAVA_CODELET_DESCRIPTION, "codelets" },
		{ JAVA_CALL_STUB_RETURN, "the call stub" },
		{ JAVA_MAJOR_VERSION, "the version" },
	};

	for (size_t i = 0; i < N(needed); i++)
		if (fields->at[needed[i].field] >= MAX_ADDRESS)
			return needed[i].what;
	return NULL;
}

int java_machine_read(const struct java_memory *memory, const struct wire_java *exports,
		      uint64_t bias, struct wire_java_process *ret_process, const char **ret_why)
{
	struct wire_java_process process = { .bias = bias };
	struct java_fields fields;
	const char *lacks;
	uint32_t major;
	int r = java_fields_read(memory, exports, bias, &fields);

	*ret_why = NULL;
	*ret_process = process;
	if (r == -EAGAIN)
		return r;
	if (r < 0)
		return refuse(ret_process, "the tables", ret_why);
	lacks = lacks_static(&fields);
	if (!lacks)
		lacks = put_structures(&process, &fields);
	if (lacks)
		return refuse(ret_process, lacks, ret_why);
	r = read_int(memory, fields.at[JAVA_MAJOR_VERSION], &major);
	if (r == 0)
		r = read_cache(memory, &fields, &process);
	if (r == 0)
		r = read_interpreter(memory, &fields, &process);
	if (r == 0)
		r = check_blob(memory, &process);
	if (r < 0)
		return r;
	if (r > 0)
		return refuse(ret_process, "addresses", ret_why);
	process.excluded = major >= EXCLUDES_ZERO;
	java_frozen_read(memory, exports, bias, &fields, &process);
	*ret_process = process;
	return 0;
}
