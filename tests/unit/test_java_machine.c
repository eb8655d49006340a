// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The description of a HotSpot virtual machine, from memory that is made here: tables as libjvm
 * exports them, a code cache and an interpreter.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "interpreters/java_frozen.h"
#include "interpreters/java_machine.h"

#define SIZE	  0x40000
#define STRIDE	  48
#define STRUCTS	  0x1000
#define TYPES	  0x8000
#define NAMES	  0x10000 /* texts, one after the other */
#define VALUES	  0x20000 /* static members, 16 bytes each */
#define HEAP	  0x21000 /* the description of the code heap */
#define QUEUE	  0x22000
#define CACHE	  0x30000 /* the code cache: one blob, of the interpreter */
#define CODE	  (CACHE + 0x80)
#define CACHE_END 0x38000
#define SEGMENTS  0x38000

struct memory {
	uint8_t bytes[SIZE];
	uint32_t names, n_structs, n_types;
	uint64_t statics;
	const char *without; /* left out */
};

static struct memory made;
static const struct wire_java exports = {
	.exports = { 0x100, 0x108, 0x110, 0x118, 0x120, 0x128, 0x130, 0x138, 0x140, 0x148, 0x150 },
};

static int read_made(void *data, void *to, size_t size, uint64_t address)
{
	struct memory *memory = data;

	if (address >= SIZE || size > SIZE - address)
		return -1;
	memcpy(to, memory->bytes + address, size);
	return 0;
}

static const struct java_memory memory = { read_made, &made };

static void put(uint64_t at, uint64_t value)
{
	memcpy(made.bytes + at, &value, sizeof(value));
}

static void put_int(uint64_t at, uint32_t value)
{
	memcpy(made.bytes + at, &value, sizeof(value));
}

static uint64_t name(const char *text)
{
	uint64_t at = NAMES + made.names;

	strcpy((char *)made.bytes + at, text);
	made.names += (uint32_t)strlen(text) + 1;
	return at;
}

static bool is_left_out(const char *type, const char *field)
{
	char both[128];

	snprintf(both, sizeof(both), "%s.%s", type, field);
	return made.without && strcmp(both, made.without) == 0;
}

static void member(const char *type, const char *field, uint64_t offset)
{
	uint64_t at = STRUCTS + made.n_structs * STRIDE;

	if (is_left_out(type, field))
		return;
	made.n_structs++;
	put(at, name(type));
	put(at + 8, name(field));
	put(at + 32, offset);
}

/* A static member with that value. */
static void global(const char *type, const char *field, uint64_t value)
{
	uint64_t at = STRUCTS + made.n_structs * STRIDE;

	if (is_left_out(type, field))
		return;
	made.n_structs++;
	put(at, name(type));
	put(at + 8, name(field));
	put_int(at + 24, 1);
	made.statics += 16;
	put(at + 40, VALUES + made.statics);
	put(VALUES + made.statics, value);
}

static void type(const char *text, uint64_t size)
{
	uint64_t at = TYPES + made.n_types++ * STRIDE;

	put(at, name(text));
	put(at + 24, size);
}

static void make_common(void)
{
	static const char *const fields[][2] = {
		{ "Method", "_constMethod" },
		{ "ConstMethod", "_constants" },
		{ "ConstantPool", "_pool_holder" },
		{ "Klass", "_name" },
		{ "ConstMethod", "_name_index" },
		{ "ConstMethod", "_signature_index" },
		{ "ConstMethod", "_code_size" },
		{ "ConstantPool", "_source_file_name_index" },
		{ "Symbol", "_length" },
		{ "Symbol", "_body" },
		{ "nmethod", "_entry_bci" },
		{ "nmethod", "_compile_id" },
		{ "nmethod", "_orig_pc_offset" },
		{ "nmethod", "_osr_entry_point" },
		{ "nmethod", "_scopes_pcs_offset" },
		{ "CodeBlob", "_name" },
		{ "CodeBlob", "_frame_size" },
		{ "ConstMethod", "_constMethod_size" },
	};

	for (uint32_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		member(fields[i][0], fields[i][1], 8 + 4 * i);
	member("GrowableArrayBase", "_len", 0);
	member("GrowableArray<int>", "_data", 8);
	member("CodeHeap", "_memory", 8);
	member("CodeHeap", "_segmap", 120);
	member("CodeHeap", "_log2_segment_size", 256);
	member("VirtualSpace", "_low_boundary", 0);
	member("VirtualSpace", "_high_boundary", 8);
	member("HeapBlock::Header", "_used", 4);
	member("StubQueue", "_stub_buffer", 8);
	member("StubQueue", "_buffer_limit", 20);
	member("StubQueue", "_queue_end", 28);
	member("InterpreterCodelet", "_size", 8);
	member("InterpreterCodelet", "_description", 0);
	member("PcDesc", "_pc_offset", 0);
	member("PcDesc", "_scope_decode_offset", 4);
	global("CodeCache", "_heaps", HEAP);
	global("CodeCache", "_low_bound", CACHE);
	global("CodeCache", "_high_bound", CACHE_END);
	global("AbstractInterpreter", "_code", QUEUE);
	global("StubRoutines", "_call_stub_return_address", CODE + 0x4000);
	type("HeapBlock", 8);
	type("ConstMethod", 56);
	type("ConstantPool", 72);
	type("PcDesc", 16);
}

/* As JDK 17 describes compiled methods. */
static void make_17(void)
{
	member("CodeBlob", "_code_begin", 88);
	member("CodeBlob", "_code_end", 96);
	member("CompiledMethod", "_method", 112);
	member("CompiledMethod", "_scopes_data_begin", 120);
	member("CompiledMethod", "_deopt_handler_begin", 128);
	member("CompiledMethod", "_deopt_mh_handler_begin", 136);
	member("nmethod", "_verified_entry_point", 224);
	member("nmethod", "_metadata_offset", 260);
	member("nmethod", "_dependencies_offset", 272);
	member("ConstMethod", "_flags", 28);
	global("Abstract_VM_Version", "_vm_major_version", 17);
	put(CACHE + 8 + 88, CODE);
}

/* As JDK 25 does. */
static void make_25(void)
{
	member("CodeBlob", "_code_offset", 88);
	member("CodeBlob", "_data_offset", 92);
	member("CodeBlob", "_mutable_data", 96);
	member("CodeBlob", "_mutable_data_size", 104);
	member("CodeBlob", "_relocation_size", 108);
	member("nmethod", "_method", 112);
	member("nmethod", "_deopt_handler_offset", 120);
	member("nmethod", "_deopt_mh_handler_offset", 124);
	member("nmethod", "_verified_entry_offset", 130);
	member("nmethod", "_scopes_data_offset", 132);
	member("nmethod", "_immutable_data", 136);
	member("nmethod", "_immutable_data_size", 144);
	member("ConstMethod", "_flags._flags", 28);
	global("Abstract_VM_Version", "_vm_major_version", 25);
	put_int(CACHE + 8 + 88, CODE - (CACHE + 8));
}

static void make_heap(void)
{
	put_int(HEAP, 1);	   /* the array, ... */
	put(HEAP + 8, HEAP + 16);  /* ... its elements, ... */
	put(HEAP + 16, HEAP + 32); /* ... and the heap */
	put(HEAP + 32 + 8, CACHE);
	put(HEAP + 32 + 16, CACHE_END);
	put(HEAP + 32 + 120, SEGMENTS);
	put_int(HEAP + 32 + 256, 7);
	for (uint32_t i = 1; i < (CACHE_END - CACHE) >> 7; i++)
		made.bytes[SEGMENTS + i] = 1;
	made.bytes[CACHE + 4] = 1; /* used */
	/* Codelets: the entries of native methods have another name in newer releases. */
	put(QUEUE + 8, CODE);
	put_int(QUEUE + 20, 0x2000);
	put_int(QUEUE + 28, 0x400);
	put(CODE, name("return entry points"));
	put_int(CODE + 8, 0x100);
	put(CODE + 0x100, name("method entry point (kind = zerolocals)"));
	put_int(CODE + 0x108, 0x200);
	put(CODE + 0x300, name("native method entry point (kind = native)"));
	put_int(CODE + 0x308, 0x100);
}

static void make(void (*release)(void), const char *without)
{
	static const uint64_t values[] = {
		STRUCTS, STRIDE, 0, 8, 24, 32, 40, TYPES, STRIDE, 0, 24
	};

	memset(&made, 0, sizeof(made));
	made.without = without;
	for (uint32_t i = 0; i < JAVA_N_EXPORTS; i++)
		put(exports.exports[i], values[i]);
	make_common();
	release();
	make_heap();
}

static void is_refused(const char *why)
{
	struct wire_java_process process;
	const char *said;

	assert_int_equal(java_machine_read(&memory, &exports, 0, &process, &said), 0);
	assert_int_equal(process.refused, WIRE_SCRIPT_DISAGREES);
	assert_string_equal(said, why);
}

static void a_machine_is_described(void **state)
{
	struct wire_java_process process;
	const char *why;

	(void)state;
	make(make_17, NULL);
	assert_int_equal(java_machine_read(&memory, &exports, 0, &process, &why), 0);
	assert_null(why);
	assert_int_equal(process.refused, 0);
	assert_int_equal(process.low, CACHE);
	assert_int_equal(process.heaps[0].segments, SEGMENTS);
	assert_int_equal(process.n_heaps, 1);
	assert_int_equal(process.interpreter_low, CODE);
	assert_int_equal(process.interpreter_high, CODE + 0x2000);
	assert_int_equal(process.entry_low, CODE + 0x100);
	assert_int_equal(process.entry_high, CODE + 0x400);
	assert_int_equal(process.deopt, 128);
	assert_int_equal(process.const_flags, 28);
	assert_false(process.debug_apart);
	assert_int_equal(process.excluded, 0);
	assert_true(process.header_size * 8 >= 272 + 8);

	make(make_25, NULL);
	assert_int_equal(java_machine_read(&memory, &exports, 0, &process, &why), 0);
	assert_int_equal(process.refused, 0);
	assert_true(process.debug_apart);
	assert_int_equal(process.excluded, 1);
	assert_int_equal(process.deopt_handle, 124);
	make(make_25, "nmethod._deopt_mh_handler_offset"); /* JDK 26 */
	assert_int_equal(java_machine_read(&memory, &exports, 0, &process, &why), 0);
	assert_int_equal(process.refused, 0);
	assert_int_equal(process.deopt_handle, 120);
}

static void what_does_not_fit_is_refused(void **state)
{
	static const char *const lacks[][2] = {
		{ "Method._constMethod", "structures of methods" },
		{ "Symbol._body", "structures of methods" },
		{ "CodeBlob._frame_size", "structures of methods" },
		{ "CodeBlob._code_end", "structures of compiled methods" },
		{ "CompiledMethod._deopt_handler_begin", "structures of compiled methods" },
		{ "nmethod._metadata_offset", "structures of compiled methods" },
		{ "ConstMethod._flags", "sizes of structures" },
		{ "HeapBlock::Header._used", "blocks of the code cache" },
		{ "PcDesc._pc_offset", "debug information" },
		{ "CodeCache._heaps", "the code cache" },
		{ "VirtualSpace._low_boundary", "reserved memory" },
		{ "AbstractInterpreter._code", "the interpreter" },
		{ "StubRoutines._call_stub_return_address", "the call stub" },
		{ "Abstract_VM_Version._vm_major_version", "the version" },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		make(make_17, lacks[i][0]);
		is_refused(lacks[i][1]);
	}
	make(make_17, NULL);
	put(STRUCTS + 32, 1 << 20); /* the first member, far out */
	is_refused("structures of methods");
	make(make_17, NULL);
	put(CACHE + 8 + 88, CODE + 8); /* the interpreter's blob begins behind it */
	is_refused("addresses");
	make(make_17, NULL);
	memset(made.bytes + SEGMENTS, 2, 8); /* the map leads before its beginning */
	is_refused("addresses");
	make(make_17, NULL);
	put(VALUES + 16 * 3, CACHE); /* the cache has no bytes */
	is_refused("addresses");
	make(make_17, NULL);
	put(exports.exports[JAVA_STRUCTS_STRIDE], 4096);
	is_refused("the tables");
}

static void one_that_begins_is_not_ready(void **state)
{
	struct wire_java_process process;
	const char *why;

	(void)state;
	make(make_17, NULL);
	put_int(HEAP, 0); /* no heap yet */
	assert_int_equal(java_machine_read(&memory, &exports, 0, &process, &why), -EAGAIN);
	make(make_17, NULL);
	put(QUEUE + 8, 0);
	put_int(QUEUE + 20, 0); /* no interpreter yet */
	assert_int_equal(java_machine_read(&memory, &exports, 0, &process, &why), -EAGAIN);
	make(make_17, NULL);
	put(exports.exports[JAVA_STRUCTS_STRIDE], 0); /* libjvm is not initialized */
	assert_int_equal(java_machine_read(&memory, &exports, 0, &process, &why), -EAGAIN);
	assert_int_equal(java_machine_read(&memory, &exports, SIZE, &process, &why), -EAGAIN);
}

/* Any byte of the memory may be any: no answer is out of its bounds. */
static void forged_memory_is_bounded(void **state)
{
	struct wire_java_process process;
	uint64_t random = 1;
	const char *why;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		if (i % 16 == 0)
			make(i % 32 ? make_17 : make_25, NULL);
		random = random * 6364136223846793005u + 1442695040888963407u;
		made.bytes[(random >> 33) % SIZE] = (uint8_t)(random >> 25);
		random = random * 6364136223846793005u + 1442695040888963407u;
		made.bytes[STRUCTS + (random >> 33) % 0x3000] = (uint8_t)(random >> 25);
		if (java_machine_read(&memory, &exports, 0, &process, &why) < 0 || process.refused)
			continue;
		assert_true(process.n_heaps <= JAVA_HEAPS);
		assert_true(process.header_size * 8 + process.block_header <= JAVA_HEADER_ROOM);
		assert_true(process.low < process.high);
		assert_true(process.segment_shift <= 12);
	}
}

#define VARIABLES 0x200 /* 16 bytes each */
#define FLAGS	  0x3a000

static const struct wire_java with_variables = {
	.exports = { 0x100, 0x108, 0x110, 0x118, 0x120, 0x128, 0x130, 0x138, 0x140, 0x148, 0x150 },
	.variables = { 0x200, 0x210, 0x220, 0x230, 0x240, 0x250, 0x260 },
};

static void option(uint32_t number, const char *text, uint8_t value)
{
	put(FLAGS + number * 24 + 8, text ? name(text) : 0);
	put(FLAGS + number * 24, FLAGS + 0x1000 + number);
	made.bytes[FLAGS + 0x1000 + number] = value;
}

/* As JDK 25 keeps frames of virtual threads, with objects' addresses of `oop` bytes. */
static void make_frozen(uint32_t oop, const char *without)
{
	const uint32_t values[JAVA_N_VARIABLES] = {
		[JAVA_CHUNK_STACK] = 48,  [JAVA_CHUNK_SP] = 24,	      [JAVA_CHUNK_BOTTOM] = 28,
		[JAVA_CHUNK_PARENT] = 40, [JAVA_CHUNK_OF] = 40 + oop, [JAVA_TAIL] = 32,
	};

	make(make_25, without);
	for (uint32_t i = 0; i < JAVA_N_VARIABLES; i++)
		put_int(VARIABLES + 16 * i, values[i]);
	global("CompressedOops", "_base", 0x800000000);
	global("CompressedOops", "_shift", 3);
	global("JVMFlag", "flags", FLAGS);
	global("JVMFlag", "numFlags", 4);
	member("JVMFlag", "_name", 8);
	member("JVMFlag", "_addr", 0);
	type("JVMFlag", 24);
	option(0, "UseCompressedOops", 1);
	option(1, "UseZGC", 0);
	option(2, "UseShenandoahGC", 0);
	option(3, NULL, 0);
}

static struct wire_java_process described(const struct wire_java *with)
{
	struct wire_java_process process;
	const char *why;

	assert_int_equal(java_machine_read(&memory, with, 0, &process, &why), 0);
	assert_int_equal(process.refused, 0);
	return process;
}

static void frames_in_the_heap_are_described(void **state)
{
	struct wire_java_process process;

	(void)state;
	make_frozen(4, NULL);
	process = described(&with_variables);
	assert_int_equal(process.chunk_stack, 48);
	assert_int_equal(process.chunk_bottom, 28);
	assert_int_equal(process.tail, 32);
	assert_int_equal(process.oop_size, 4);
	assert_int_equal(process.oop_shift, 3);
	assert_true(process.oop_base == 0x800000000);
	assert_int_equal(process.enter_return, VARIABLES);
	assert_false(java_frozen_is_early(&with_variables, &process));
	make_frozen(8, NULL);
	process = described(&with_variables);
	assert_int_equal(process.oop_size, 8);
	/* Without symbols the rest is as before. */
	process = described(&exports);
	assert_int_equal(process.chunk_stack, 0);
	assert_false(java_frozen_is_early(&exports, &process));
}

static void frames_in_the_heap_are_not_guessed(void **state)
{
	static const char *const lacks[] = { "CompressedOops._base", "CompressedOops._shift",
					     "JVMFlag.flags", "JVMFlag.numFlags", "JVMFlag._name" };
	struct wire_java_process process;

	(void)state;
	for (uint32_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		make_frozen(4, lacks[i]);
		process = described(&with_variables);
		assert_int_equal(process.chunk_stack, 0);
	}
	make_frozen(4, NULL);
	option(1, "UseZGC", 1); /* objects move at any time */
	assert_int_equal(described(&with_variables).chunk_stack, 0);
	make_frozen(4, NULL);
	option(2, "UseShenandoahGC", 1);
	assert_int_equal(described(&with_variables).chunk_stack, 0);
	make_frozen(12, NULL);
	assert_int_equal(described(&with_variables).chunk_stack, 0);
	make_frozen(4, NULL);
	put_int(VARIABLES + 16 * JAVA_TAIL, 4096);
	assert_int_equal(described(&with_variables).chunk_stack, 0);
	make_frozen(4, NULL);
	put_int(VARIABLES + 16 * JAVA_CHUNK_STACK, 0); /* its first classes are not loaded yet */
	process = described(&with_variables);
	assert_int_equal(process.chunk_stack, 0);
	assert_true(java_frozen_is_early(&with_variables, &process));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_described),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(one_that_begins_is_not_ready),
		cmocka_unit_test(frames_in_the_heap_are_described),
		cmocka_unit_test(frames_in_the_heap_are_not_guessed),
		cmocka_unit_test(forged_memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
