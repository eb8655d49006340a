/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HotSpot's description of its own structures, as a process has it in its memory: where members of
 * structures are, how large some types are, and addresses of static members. The memory may say
 * anything; what is read is bounded, and all numbers are as they were found.
 */
#ifndef STACKTALLY_INTERPRETERS_JAVA_FIELDS_H
#define STACKTALLY_INTERPRETERS_JAVA_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/interpreter_wire.h"

/* How a process's memory is read. 0: all was read. */
struct java_memory {
	int (*read)(void *data, void *to, size_t size, uint64_t address);
	void *data;
};

/* FIELD(ID, type, name): members; the value of a static one is its address in the process. */
/* clang-format off */
#define JAVA_FIELDS(FIELD)                                                                         \
	FIELD(MAJOR_VERSION, "Abstract_VM_Version", "_vm_major_version")                           \
	FIELD(CACHE_HEAPS, "CodeCache", "_heaps")                                                  \
	FIELD(CACHE_LOW, "CodeCache", "_low_bound")                                                \
	FIELD(CACHE_HIGH, "CodeCache", "_high_bound")                                              \
	FIELD(ARRAY_LENGTH, "GrowableArrayBase", "_len")                                           \
	FIELD(ARRAY_DATA, "GrowableArray<int>", "_data")                                           \
	FIELD(HEAP_MEMORY, "CodeHeap", "_memory")                                                  \
	FIELD(HEAP_SEGMENTS, "CodeHeap", "_segmap")                                                \
	FIELD(HEAP_SHIFT, "CodeHeap", "_log2_segment_size")                                        \
	FIELD(SPACE_LOW, "VirtualSpace", "_low_boundary")                                          \
	FIELD(SPACE_HIGH, "VirtualSpace", "_high_boundary")                                        \
	FIELD(BLOCK_USED, "HeapBlock::Header", "_used")                                            \
	FIELD(BLOB_NAME, "CodeBlob", "_name")                                                      \
	FIELD(BLOB_FRAME_SIZE, "CodeBlob", "_frame_size")                                          \
	FIELD(BLOB_CODE_BEGIN, "CodeBlob", "_code_begin")                                          \
	FIELD(BLOB_CODE_END, "CodeBlob", "_code_end")                                              \
	FIELD(BLOB_CODE_OFFSET, "CodeBlob", "_code_offset")                                        \
	FIELD(BLOB_DATA_OFFSET, "CodeBlob", "_data_offset")                                        \
	FIELD(BLOB_MUTABLE, "CodeBlob", "_mutable_data")                                           \
	FIELD(BLOB_MUTABLE_SIZE, "CodeBlob", "_mutable_data_size")                                 \
	FIELD(BLOB_RELOCATION_SIZE, "CodeBlob", "_relocation_size")                                \
	FIELD(COMPILED_METHOD, "CompiledMethod", "_method")                                        \
	FIELD(COMPILED_SCOPES, "CompiledMethod", "_scopes_data_begin")                             \
	FIELD(COMPILED_DEOPT, "CompiledMethod", "_deopt_handler_begin")                            \
	FIELD(COMPILED_DEOPT_HANDLE, "CompiledMethod", "_deopt_mh_handler_begin")                  \
	FIELD(NMETHOD_METHOD, "nmethod", "_method")                                                \
	FIELD(NMETHOD_ENTRY_BCI, "nmethod", "_entry_bci")                                          \
	FIELD(NMETHOD_COMPILE_ID, "nmethod", "_compile_id")                                        \
	FIELD(NMETHOD_ORIGINAL_PC, "nmethod", "_orig_pc_offset")                                   \
	FIELD(NMETHOD_ENTRY, "nmethod", "_verified_entry_point")                                   \
	FIELD(NMETHOD_ENTRY_OFFSET, "nmethod", "_verified_entry_offset")                           \
	FIELD(NMETHOD_OSR_ENTRY, "nmethod", "_osr_entry_point")                                    \
	FIELD(NMETHOD_DEOPT, "nmethod", "_deopt_handler_offset")                                   \
	FIELD(NMETHOD_DEOPT_ENTRY, "nmethod", "_deopt_handler_entry_offset")                       \
	FIELD(NMETHOD_DEOPT_HANDLE, "nmethod", "_deopt_mh_handler_offset")                         \
	FIELD(NMETHOD_METADATA, "nmethod", "_metadata_offset")                                     \
	FIELD(NMETHOD_POINTS, "nmethod", "_scopes_pcs_offset")                                     \
	FIELD(NMETHOD_SCOPES, "nmethod", "_scopes_data_offset")                                    \
	FIELD(NMETHOD_DEPENDENCIES, "nmethod", "_dependencies_offset")                             \
	FIELD(NMETHOD_IMMUTABLE, "nmethod", "_immutable_data")                                     \
	FIELD(NMETHOD_IMMUTABLE_SIZE, "nmethod", "_immutable_data_size")                           \
	FIELD(METHOD_CONST, "Method", "_constMethod")                                              \
	FIELD(CONST_POOL, "ConstMethod", "_constants")                                             \
	FIELD(CONST_NAME, "ConstMethod", "_name_index")                                            \
	FIELD(CONST_SIGNATURE, "ConstMethod", "_signature_index")                                  \
	FIELD(CONST_CODE_SIZE, "ConstMethod", "_code_size")                                        \
	FIELD(CONST_WORDS, "ConstMethod", "_constMethod_size")                                     \
	FIELD(CONST_FLAGS, "ConstMethod", "_flags")                                                \
	FIELD(CONST_FLAGS_FLAGS, "ConstMethod", "_flags._flags")                                   \
	FIELD(POOL_HOLDER, "ConstantPool", "_pool_holder")                                         \
	FIELD(POOL_FILE, "ConstantPool", "_source_file_name_index")                                \
	FIELD(CLASS_NAME, "Klass", "_name")                                                        \
	FIELD(SYMBOL_LENGTH, "Symbol", "_length")                                                  \
	FIELD(SYMBOL_TEXT, "Symbol", "_body")                                                      \
	FIELD(INTERPRETER_CODE, "AbstractInterpreter", "_code")                                    \
	FIELD(QUEUE_BUFFER, "StubQueue", "_stub_buffer")                                           \
	FIELD(QUEUE_LIMIT, "StubQueue", "_buffer_limit")                                           \
	FIELD(QUEUE_END, "StubQueue", "_queue_end")                                                \
	FIELD(CODELET_DESCRIPTION, "InterpreterCodelet", "_description")                           \
	FIELD(CODELET_SIZE, "InterpreterCodelet", "_size")                                         \
	FIELD(CALL_STUB_RETURN, "StubRoutines", "_call_stub_return_address")                       \
	FIELD(OOPS_BASE, "CompressedOops", "_base")                                                \
	FIELD(OOPS_SHIFT, "CompressedOops", "_shift")                                              \
	FIELD(OOPS_BASE_BEFORE, "CompressedOops", "_narrow_oop._base")                             \
	FIELD(OOPS_SHIFT_BEFORE, "CompressedOops", "_narrow_oop._shift")                           \
	FIELD(FLAGS, "JVMFlag", "flags")                                                           \
	FIELD(N_FLAGS, "JVMFlag", "numFlags")                                                      \
	FIELD(FLAG_NAME, "JVMFlag", "_name")                                                       \
	FIELD(FLAG_VALUE, "JVMFlag", "_addr")                                                      \
	FIELD(POINT_PC, "PcDesc", "_pc_offset")                                                    \
	FIELD(POINT_SCOPE, "PcDesc", "_scope_decode_offset")

/* FIELD(ID, type): sizes of types. */
#define JAVA_SIZES(SIZE)                                                                           \
	SIZE(HEAP_BLOCK, "HeapBlock")                                                              \
	SIZE(CONST_METHOD, "ConstMethod")                                                          \
	SIZE(CONSTANT_POOL, "ConstantPool")                                                        \
	SIZE(POINT, "PcDesc")                                                                      \
	SIZE(FLAG, "JVMFlag")
/* clang-format on */

#define JAVA_FIELD_ID(id, ...) JAVA_##id,
#define JAVA_SIZE_ID(id, ...)  JAVA_SIZE_##id,

enum java_field { JAVA_FIELDS(JAVA_FIELD_ID) JAVA_N_FIELDS };
enum java_size { JAVA_SIZES(JAVA_SIZE_ID) JAVA_N_SIZES };

/* JAVA_LACKS: the description lacks it. */
struct java_fields {
	uint64_t at[JAVA_N_FIELDS];
	uint64_t sizes[JAVA_N_SIZES];
};

#define JAVA_LACKS UINT64_MAX

static inline bool java_has(const struct java_fields *fields, enum java_field field)
{
	return fields->at[field] != JAVA_LACKS;
}

/*
 * Reads the tables that a libjvm at `bias` exports. 0; -EAGAIN: they are not there yet; -EPROTO:
 * they are no such tables.
 */
int java_fields_read(const struct java_memory *memory, const struct wire_java *exports,
		     uint64_t bias, struct java_fields *ret_fields);

#endif
