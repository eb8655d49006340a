// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * java_forged FORGERY: a program that describes itself as a Java virtual machine, with a method in
 * its code cache that uses the CPU for two seconds. FORGERY is what is wrong with it:
 *
 *   nothing   the method is Forged.run
 *   segments  the map of segments leads in a circle
 *   scopes    the function that is inlined is inlined in itself, without end
 *   name      the method's name has 65,535 characters, not all of which exist
 *   points    the method has 2^28 points of debug information
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- what is described ---- */

struct member {
	const char *type, *field, *text;
	int32_t is_static, reserved;
	uint64_t offset;
	const void *address;
};

struct type {
	const char *name, *super;
	uint64_t reserved, size;
};

#define TEXT 32

struct symbol {
	uint16_t length;
	char text[TEXT];
};

struct klass {
	struct symbol *name;
};

struct pool {
	struct klass *holder;
	uint16_t file;
	struct symbol *symbols[4];
};

struct const_method {
	struct pool *pool;
	uint32_t words, flags;
	uint16_t name, signature, code_size;
};

struct method {
	struct const_method *constant;
};

struct point {
	int32_t pc, scope, object, flags;
};

struct block {
	uint64_t length;
	uint8_t used, reserved[7];
};

/* A block of the code cache: a blob, and its code. */
struct blob {
	struct block block;
	const char *name;
	uint8_t *code, *code_end;
	int32_t frame_words, compile_id, entry_bci, original_pc;
	uint8_t *entry, *osr_entry, *deopt, *deopt_handle;
	struct method *method;
	uint8_t *scopes;
	int32_t metadata, points, points_end, reserved;
	struct method *methods[1];
	uint8_t scope_bytes[8];
	struct point list[2];
	uint8_t bytes[256];
};

struct space {
	uint8_t *low, *high;
};

struct heap {
	struct space memory, segments;
	int32_t shift;
};

struct heaps {
	int32_t n;
	struct heap **data;
};

struct queue {
	uint8_t *buffer;
	int32_t limit, end;
};

struct codelet {
	const char *description;
	int32_t size;
};

static int32_t major = 17;
static struct heaps *heaps;
static uint8_t *low, *high, *call_stub_return;
static struct queue *interpreter;

#define BLOB(member) (offsetof(struct blob, member) - sizeof(struct block))
#define MEMBER(type, field, in, member)                                                            \
	{                                                                                          \
		type, field, "", 0, 0, offsetof(struct in, member), 0                              \
	}
#define IN_BLOB(type, field, member)                                                               \
	{                                                                                          \
		type, field, "", 0, 0, BLOB(member), 0                                             \
	}
#define STATIC(type, field, variable)                                                              \
	{                                                                                          \
		type, field, "", 1, 0, 0, &(variable)                                              \
	}

static struct member members[] = {
	STATIC("Abstract_VM_Version", "_vm_major_version", major),
	STATIC("CodeCache", "_heaps", heaps),
	STATIC("CodeCache", "_low_bound", low),
	STATIC("CodeCache", "_high_bound", high),
	STATIC("AbstractInterpreter", "_code", interpreter),
	STATIC("StubRoutines", "_call_stub_return_address", call_stub_return),
	MEMBER("GrowableArrayBase", "_len", heaps, n),
	MEMBER("GrowableArray<int>", "_data", heaps, data),
	MEMBER("CodeHeap", "_memory", heap, memory),
	MEMBER("CodeHeap", "_segmap", heap, segments),
	MEMBER("CodeHeap", "_log2_segment_size", heap, shift),
	MEMBER("VirtualSpace", "_low_boundary", space, low),
	MEMBER("VirtualSpace", "_high_boundary", space, high),
	MEMBER("HeapBlock::Header", "_used", block, used),
	IN_BLOB("CodeBlob", "_name", name),
	IN_BLOB("CodeBlob", "_frame_size", frame_words),
	IN_BLOB("CodeBlob", "_code_begin", code),
	IN_BLOB("CodeBlob", "_code_end", code_end),
	IN_BLOB("CompiledMethod", "_method", method),
	IN_BLOB("CompiledMethod", "_scopes_data_begin", scopes),
	IN_BLOB("CompiledMethod", "_deopt_handler_begin", deopt),
	IN_BLOB("CompiledMethod", "_deopt_mh_handler_begin", deopt_handle),
	IN_BLOB("nmethod", "_entry_bci", entry_bci),
	IN_BLOB("nmethod", "_compile_id", compile_id),
	IN_BLOB("nmethod", "_orig_pc_offset", original_pc),
	IN_BLOB("nmethod", "_verified_entry_point", entry),
	IN_BLOB("nmethod", "_osr_entry_point", osr_entry),
	IN_BLOB("nmethod", "_metadata_offset", metadata),
	IN_BLOB("nmethod", "_scopes_pcs_offset", points),
	IN_BLOB("nmethod", "_dependencies_offset", points_end),
	MEMBER("Method", "_constMethod", method, constant),
	MEMBER("ConstMethod", "_constants", const_method, pool),
	MEMBER("ConstMethod", "_constMethod_size", const_method, words),
	MEMBER("ConstMethod", "_flags", const_method, flags),
	MEMBER("ConstMethod", "_name_index", const_method, name),
	MEMBER("ConstMethod", "_signature_index", const_method, signature),
	MEMBER("ConstMethod", "_code_size", const_method, code_size),
	MEMBER("ConstantPool", "_pool_holder", pool, holder),
	MEMBER("ConstantPool", "_source_file_name_index", pool, file),
	MEMBER("Klass", "_name", klass, name),
	MEMBER("Symbol", "_length", symbol, length),
	MEMBER("Symbol", "_body", symbol, text),
	MEMBER("StubQueue", "_stub_buffer", queue, buffer),
	MEMBER("StubQueue", "_buffer_limit", queue, limit),
	MEMBER("StubQueue", "_queue_end", queue, end),
	MEMBER("InterpreterCodelet", "_description", codelet, description),
	MEMBER("InterpreterCodelet", "_size", codelet, size),
	MEMBER("PcDesc", "_pc_offset", point, pc),
	MEMBER("PcDesc", "_scope_decode_offset", point, scope),
	{ 0 },
};

static struct type types[] = {
	{ "HeapBlock", "", 0, sizeof(struct block) },
	{ "ConstMethod", "", 0, sizeof(struct const_method) },
	{ "ConstantPool", "", 0, offsetof(struct pool, symbols) },
	{ "PcDesc", "", 0, sizeof(struct point) },
	{ 0 },
};

struct member *gHotSpotVMStructs = members;
uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct member);
uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct member, type);
uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct member, field);
uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(struct member, is_static);
uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct member, offset);
uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct member, address);
struct type *gHotSpotVMTypes = types;
uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct type);
uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct type, name);
uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct type, size);

/* ---- the machine ---- */

#define SEGMENT 128
#define CACHE	(64 * SEGMENT * 8)
#define BLOCK	(8 * SEGMENT)

static uint8_t segments[CACHE / SEGMENT + 1];
static struct symbol class_name = { 6, "Forged" }, method_name = { 3, "run" },
		     signature = { 3, "()V" };
static struct klass klass = { &class_name };
static struct pool pool = { &klass, 0, { 0, &method_name, &signature } };
static struct const_method constant = { &pool, sizeof(constant) / 8, 0, 1, 2, 1 };
static struct method method = { &constant };

static struct blob *make_blob(unsigned number, const char *name, int32_t words)
{
	struct blob *blob = (struct blob *)(low + number * BLOCK);

	blob->block = (struct block){ BLOCK / SEGMENT, 1, { 0 } };
	blob->name = name;
	blob->code = blob->entry = blob->bytes;
	blob->code_end = blob->bytes + sizeof(blob->bytes);
	blob->frame_words = words;
	blob->entry_bci = -1;
	for (unsigned i = 0; i < BLOCK / SEGMENT; i++)
		segments[number * (BLOCK / SEGMENT) + i] = (uint8_t)i;
	return blob;
}

static void make_interpreter(void)
{
	static struct queue queue;
	struct blob *blob = make_blob(0, "Interpreter", 0);
	struct codelet *codelet = (struct codelet *)blob->bytes;

	*codelet = (struct codelet){ "method entry point (kind = zerolocals)", 64 };
	queue = (struct queue){ blob->bytes, 64, 64 };
	interpreter = &queue;
}

/* push %rbp; sub $16,%rsp; 1: dec %rdi; jne 1b; add $16,%rsp; pop %rbp; ret */
static struct blob *make_method(void)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x83, 0xec, 0x10, 0x48, 0xff, 0xcf,
					0x75, 0xfb, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3 };
	struct blob *blob = make_blob(2, "nmethod", 4);

	memcpy(blob->bytes, code, sizeof(code));
	blob->compile_id = 1;
	blob->method = blob->methods[0] = &method;
	blob->metadata = BLOB(methods);
	blob->scopes = blob->scope_bytes;
	blob->points = BLOB(list);
	blob->points_end = blob->points + sizeof(blob->list);
	/* At 1: in nothing, method 1, before its first bytecode. */
	memcpy(blob->scope_bytes, (uint8_t[]){ 0, 0, 1, 1 }, 4);
	blob->list[0] = (struct point){ 0, 1, 0, 0 };
	blob->list[1] = (struct point){ 200, 1, 0, 0 };
	return blob;
}

/* push %rbp; mov %rsp,%rbp; call METHOD; pop %rbp; ret */
static void (*make_stub(const struct blob *called))(uint64_t)
{
	struct blob *blob = make_blob(1, "StubRoutines (1)", 0);
	uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3 };
	int32_t distance = (int32_t)(called->entry - (blob->bytes + 9));

	memcpy(code + 5, &distance, sizeof(distance));
	memcpy(blob->bytes, code, sizeof(code));
	call_stub_return = blob->bytes + 9;
	return (void (*)(uint64_t))blob->bytes;
}

static void make_heaps(void)
{
	static struct heap heap, *list[1] = { &heap };
	static struct heaps all = { 1, list };

	heap = (struct heap){ { low, high }, { segments, segments + sizeof(segments) }, 7 };
	heaps = &all;
}

static void forge(const char *what, struct blob *blob)
{
	if (strcmp(what, "segments") == 0)
		memset(segments + 2 * (BLOCK / SEGMENT), 1, 2 * (BLOCK / SEGMENT));
	if (strcmp(what, "segments") == 0)
		segments[2 * (BLOCK / SEGMENT)] = 0xfe;
	if (strcmp(what, "scopes") == 0)
		blob->scope_bytes[1] = 1;
	if (strcmp(what, "name") == 0)
		method_name.length = 65535;
	if (strcmp(what, "points") == 0)
		blob->points_end = INT32_MAX;
}

int main(int argc, char **argv)
{
	void (*run)(uint64_t);
	struct blob *blob;

	low = mmap(NULL, CACHE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	if (argc != 2 || low == MAP_FAILED)
		return 2;
	high = low + CACHE;
	memset(segments, 0xff, sizeof(segments));
	blob = make_method();
	run = make_stub(blob);
	make_interpreter();
	make_heaps();
	forge(argv[1], blob);
	while (clock() < 2 * CLOCKS_PER_SEC)
		run(10000000);
	return 0;
}
