/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The code that HotSpot has generated: in which blob an address is, and what that is. A compiled
 * frame that was met before is known by its return address, as long as its blob has the number that
 * it had.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_BLOBS_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_BLOBS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_run.bpf.h"

/* The virtual machines that run, by tgid; set by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JAVA_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct wire_java_process);
} java_processes SEC(".maps");

#define JAVA_PLACES    512
#define JAVA_PLACE_IDS 8

/* A place in compiled code, which walks have met. */
struct java_place {
	__u64 pc;      /* and JAVA_EXACT if it was interrupted, as other functions are known then */
	__u64 machine; /* number of the process's */
	__u64 blob, frame, method, original_pc; /* as in struct java_blob; 0: is not deoptimized */
	__u32 kind, compile_id;
	__u32 n;    /* functions; 0: not known yet */
	__u32 near; /* beside them are others, which are not known */
	__u64 ids[JAVA_PLACE_IDS];
};

#define JAVA_EXACT (1ull << 63)

struct java_places {
	struct java_place list[JAVA_PLACES];
};

_Static_assert(sizeof(struct java_place) == 128, "two lines of a cache");

/* One for each scratch slot; without Java, user space makes only one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct java_places);
} java_places SEC(".maps");

/* Where a place is, or the one that it replaces; NULL: there are none. */
static __always_inline struct java_place *java_place_of(__u32 number, __u64 pc, __u64 machine)
{
	struct java_places *places = bpf_map_lookup_elem(&java_places, &number);
	__u64 at = ((pc ^ machine << 48) * 0x9fb21c651e98df25ull >> 40) % JAVA_PLACES;

	OPAQUE(at);
	return places && at < JAVA_PLACES ? &places->list[at] : NULL;
}

static __always_inline bool java_is_interpreter(const struct java_walk *java, __u64 address)
{
	return address - java->is.interpreter_low <
	       java->is.interpreter_high - java->is.interpreter_low;
}

#define JAVA_HOPS 32

/* Where the block begins that has an address; 0: it is in none. */
static __always_inline __u64 java_block(const struct java_walk *java, __u64 address)
{
	__u64 low = 0, segments = 0, segment;
	__u8 back = 0, shift = java->is.segment_shift & 31;

	for (__u32 i = 0; i < JAVA_HEAPS; i++) {
		const struct wire_java_heap *heap = &java->is.heaps[i];

		if (address - heap->low >= heap->high - heap->low)
			continue;
		low = heap->low;
		segments = heap->segments;
	}
	if (!low)
		return 0;
	segment = (address - low) >> shift;
	for (__u32 i = 0; i < JAVA_HOPS; i++) {
		if (bpf_probe_read_user(&back, sizeof(back), (const void *)(segments + segment)))
			return 0;
		if (!back)
			return low + (segment << shift);
		if (back == 0xff || back > segment)
			return 0;
		segment -= back;
	}
	return 0;
}

/* The first characters of blobs' names. */
#define JAVA_NAME(a, b, c, d, e, f, g, h)                                                          \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define JAVA_NAME_NMETHOD     JAVA_NAME('n', 'm', 'e', 't', 'h', 'o', 'd', 0)
#define JAVA_NAME_NATIVE      JAVA_NAME('n', 'a', 't', 'i', 'v', 'e', ' ', 'n')
#define JAVA_NAME_INTERPRETER JAVA_NAME('I', 'n', 't', 'e', 'r', 'p', 'r', 'e')
#define JAVA_NAME_STUBS	      JAVA_NAME('S', 't', 'u', 'b', 'R', 'o', 'u', 't')
#define JAVA_NAME_SIGNATURE   JAVA_NAME('n', 'a', 't', 'i', 'v', 'e', ' ', 's')
#define JAVA_NAME_CACHE	      JAVA_NAME('I', 'n', 'l', 'i', 'n', 'e', 'C', 'a')
#define JAVA_NAME_LINKER      JAVA_NAME('M', 'e', 't', 'h', 'o', 'd', 'H', 'a')
#define JAVA_NAME_POLL	      JAVA_NAME('S', 'a', 'f', 'e', 'p', 'o', 'i', 'n')
#define JAVA_NAME_VTABLE      JAVA_NAME('v', 't', 'a', 'b', 'l', 'e', ' ', 'c')
#define JAVA_NAME_ADAPTER     JAVA_NAME('I', '2', 'C', '/', 'C', '2', 'I', ' ')
#define JAVA_NAME_UPCALL      JAVA_NAME('u', 'p', 'c', 'a', 'l', 'l', '_', 's')

static __always_inline __u32 java_kind_of(__u64 name)
{
	return name == JAVA_NAME_NMETHOD       ? JAVA_COMPILED
	       : name == JAVA_NAME_NATIVE      ? JAVA_WRAPPER
	       : name == JAVA_NAME_INTERPRETER ? JAVA_INTERPRETED
	       : name == JAVA_NAME_STUBS       ? JAVA_STUBS
	       : name == JAVA_NAME_VTABLE      ? JAVA_VTABLE
	       : name == JAVA_NAME_SIGNATURE   ? JAVA_VTABLE
	       : name == JAVA_NAME_CACHE       ? JAVA_VTABLE
	       : name == JAVA_NAME_LINKER      ? JAVA_LINKER
	       : name == JAVA_NAME_POLL	       ? JAVA_POLL
	       : name == JAVA_NAME_ADAPTER     ? JAVA_ADAPTER
	       : name == JAVA_NAME_UPCALL      ? JAVA_ENTRY
					       : JAVA_RUNTIME;
}

/* In names of stubs, from this place on: those of virtual threads. */
#define JAVA_NAME_KIND	       14
#define JAVA_NAME_CONTINUATION 0x746e6f63u /* "cont" */

/* Members of the blob whose header was copied, behind that of its block. */
#define JAVA_IN(java, offset, type)                                                                \
	AT((java)->header, (__u32)(java)->is.block_header + (offset), JAVA_HEADER_ROOM, type)

#define JAVA_SMALL_HEADER 128 /* bytes of headers of blobs other than compiled methods, at most */

/* Copies a blob's header, with that of its block. */
static __always_inline bool java_copy_header(struct java_walk *java, __u64 block)
{
	__u64 size = java->is.header_size * 8ull + java->is.block_header;

	OPAQUE(size);
	if (size > JAVA_HEADER_ROOM)
		return false;
	if (bpf_probe_read_user(java->header, size, (const void *)block) == 0)
		return true;
	/* At the end of a heap; an address of a former header would be out of this blob's code. */
	return bpf_probe_read_user(java->header, JAVA_SMALL_HEADER, (const void *)block) == 0;
}

/* What the step needs of a compiled method. */
static __always_inline void java_take_method(const struct java_walk *java, struct java_blob *blob)
{
	const struct wire_java_process *is = &java->is;
	__u32 entry_bci = JAVA_IN(java, is->entry_bci, __u32);

	blob->method = JAVA_IN(java, is->method, __u64);
	blob->compile_id = JAVA_IN(java, is->compile_id, __u32);
	blob->original_pc = JAVA_IN(java, is->original_pc, __u32);
	if (is->code_apart) {
		blob->entry = JAVA_IN(java, is->entry, __u64);
		blob->deopt = JAVA_IN(java, is->deopt, __u64);
		blob->deopt_handle = JAVA_IN(java, is->deopt_handle, __u64);
	} else {
		blob->entry = blob->code + JAVA_IN(java, is->entry, __u16);
		blob->deopt = blob->at + JAVA_IN(java, is->deopt, __u32);
		blob->deopt_handle = blob->at + JAVA_IN(java, is->deopt_handle, __u32);
	}
	/* Compiled to be entered in a loop. */
	if ((__s32)entry_bci >= 0)
		blob->entry = JAVA_IN(java, is->osr_entry, __u64);
}

/* Finds the blob that has an address, and sets `other`; an enum java_kind. */
static __always_inline int java_find_here(struct java_walk *java, __u64 address)
{
	const struct wire_java_process *is = &java->is;
	struct java_blob *blob = &java->other;
	__u64 block, name = 0;

	blob->kind = JAVA_NONE;
	block = java_block(java, address);
	if (!block || !java_copy_header(java, block) ||
	    AT(java->header, is->block_used, JAVA_HEADER_ROOM, __u8) != 1 ||
	    !read_word(&name, JAVA_IN(java, is->blob_name, __u64)))
		return JAVA_NONE;
	blob->at = block + is->block_header;
	if (is->code_apart) {
		blob->code = JAVA_IN(java, is->blob_code, __u64);
		blob->code_end = JAVA_IN(java, is->blob_code_end, __u64);
	} else {
		blob->code = blob->at + JAVA_IN(java, is->blob_code, __u32);
		blob->code_end = blob->at + JAVA_IN(java, is->blob_code_end, __u32);
	}
	if (blob->code < blob->at || address < blob->code || address > blob->code_end)
		return JAVA_NONE;
	blob->kind = java_kind_of(name);
	if (blob->kind == JAVA_STUBS &&
	    read_word(&name, JAVA_IN(java, is->blob_name, __u64) + JAVA_NAME_KIND) &&
	    (__u32)name == JAVA_NAME_CONTINUATION)
		blob->kind = JAVA_CONTINUATION;
	/* In words, and 32 bits: at most 512 KiB here. */
	blob->frame = (JAVA_IN(java, is->blob_frame_size, __u32) & 0xffff) * 8ull;
	if (JAVA_IN(java, is->blob_frame_size, __u32) > 0xffff)
		blob->frame = 0;
	blob->method = 0;
	if (blob->kind == JAVA_COMPILED || blob->kind == JAVA_WRAPPER)
		java_take_method(java, blob);
	return blob->kind;
}

/* As java_find_here(). A global function, which the verifier checks once. */
__noinline int java_find(__u32 number, __u64 address)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);

	return slot ? java_find_here(&slot->interp.java_walk, address) : JAVA_NONE;
}

/*
 * Where the call goes that ends at `address`, 0 if a register or memory alone tells it; `bytes` are
 * the 8 before it. Two forms: call N; and movabs $N,%r10; call *%r10, with any of r8 to r15.
 */
static __always_inline __u64 java_call_target(__u64 address, __u64 bytes)
{
	__u64 target;

	if ((bytes >> 24 & 0xff) == 0xe8)
		return address + (__s64)(__s32)(bytes >> 32);
	if ((bytes >> 40 & 0xf8ffff) != 0xd0ff41 || !read_word(&target, address - 13) ||
	    (target & 0xffff) != (0xb849 | (bytes >> 48 & 0x700)) ||
	    !read_word(&target, address - 11))
		return 0;
	return target;
}

enum java_return {
	JAVA_NO_RETURN,
	JAVA_RETURN,
	JAVA_RETURN_HERE, /* of a call of the blob that the walk is in */
};

/*
 * Whether an address is one that calls return to, an enum java_return: behind a call in a blob, in
 * the interpreter, in the stubs of virtual threads, or where a deoptimized method goes on. A global
 * function, which the verifier checks once.
 */
__noinline int java_returns(__u32 number, __u64 address)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	const struct java_blob *other;
	struct java_walk *java;
	int kind = JAVA_INTERPRETED;
	__u64 bytes;

	if (!slot)
		return JAVA_NO_RETURN;
	java = &slot->interp.java_walk;
	java->target = 0;
	if (address - java->is.low >= java->is.high - java->is.low)
		return JAVA_NO_RETURN;
	if (!java_is_interpreter(java, address))
		kind = java_find_here(java, address); /* calls nest eight times at most */
	other = &java->other;
	if (kind == JAVA_NONE)
		return JAVA_NO_RETURN;
	if ((kind == JAVA_COMPILED || kind == JAVA_WRAPPER) &&
	    (address == other->deopt || address == other->deopt_handle))
		return JAVA_RETURN;
	if (!read_word(&bytes, address - 8))
		return JAVA_NO_RETURN;
	/* What returns to the barrier was not called from there; the interpreter jumps. */
	if (!is_call(bytes))
		return kind == JAVA_CONTINUATION || kind == JAVA_INTERPRETED ? JAVA_RETURN
									     : JAVA_NO_RETURN;
	java->target = java_call_target(address, bytes);
	return java->target - java->blob.at < java->blob.code_end - java->blob.at ? JAVA_RETURN_HERE
										  : JAVA_RETURN;
}

#endif
