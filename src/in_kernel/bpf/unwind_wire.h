/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The format of unwinding tables in BPF maps. User space compiles them from call frame information
 * (cfi/unwind_rows.h) and writes them (unwind/unwind.h); walks read them (bpf/unwind_step.h). Fixed
 * widths, and all padding is a field.
 *
 *   process (by tgid) -> chunks of mappings -> the table of a file -> row -> rule
 *
 * A table is a tree of blocks of 4 KiB. Its leaves hold rows; a row is the start of a range of code
 * and the number of the rule for it. Rules are few (some 4,000 for a whole distribution) and shared
 * by all files. Code addresses in a table are those of the ELF file (p_vaddr), at most 32 bits
 * wide.
 *
 * Each block and each chunk holds the number of its owner, a table or a layout. These numbers are
 * never used twice. A walk that finds another owner than the reference said, because the block was
 * reused, ends as stale.
 */
#ifndef STACKTALLY_BPF_UNWIND_WIRE_H
#define STACKTALLY_BPF_UNWIND_WIRE_H

#include <linux/types.h>

#include "arch/registers.h"

#define WIRE_BLOCK_SIZE	    4096
#define WIRE_SEGMENT_BLOCKS 256	  /* blocks of a segment: the inner maps, 1 MiB each */
#define WIRE_MAX_SEGMENTS   1024  /* of the outer map */
#define WIRE_MAX_RULES	    16384 /* of the array of rules */
#define WIRE_NO_BLOCK	    0	  /* block 0 is never used */
#define WIRE_MAX_LEVELS	    3	  /* a leaf and two levels of inner blocks above it */

/* ---- rules: how to get from a frame to its caller ---- */

/* Registers by their DWARF numbers. */
#define WIRE_N_REGISTERS ARCH_N_REGISTERS

/* The canonical frame address. `o` is cfa_offset, `p` is extra, `R` is the register reg. */
/* Bytes of the frame that LuaJIT's interpreter has on the C stack (bpf/unwind_luajit.h). */
#define WIRE_LUAJIT_FRAME 80

enum wire_cfa {
	WIRE_CFA_NONE,	      /* a gap: no rule is known for this code */
	WIRE_CFA_SP,	      /* sp + o */
	WIRE_CFA_FP,	      /* fp + o */
	WIRE_CFA_REG,	      /* R + o */
	WIRE_CFA_PLT,	      /* sp + 8 + ((pc & 15) >= o ? 8 : 0): in the linker's PLT */
	WIRE_CFA_SP_DEREF,    /* *(sp + o) + p */
	WIRE_CFA_FP_DEREF,    /* *(fp + o) + p */
	WIRE_CFA_REG_DEREF,   /* *(R + o) + p */
	WIRE_CFA_SP_INDEX,    /* *(sp + o + 8 * R) + p */
	WIRE_CFA_LUAJIT,      /* o above the frame of LuaJIT's interpreter (bpf/unwind_luajit.h) */
	WIRE_CFA_UNSUPPORTED, /* none of these; extra: enum rule_unsupported (cfi/rule_table.h) */
};

/* The caller's frame pointer register. `f` is fp_offset. */
enum wire_fp {
	WIRE_FP_SAME,
	WIRE_FP_CFA,	   /* *(cfa + f) */
	WIRE_FP_FP,	   /* *(fp + f): in functions that realign their stack */
	WIRE_FP_UNDEFINED, /* lost: a later rule that needs it ends the walk */
	WIRE_FP_REG,	   /* the register f */
	WIRE_FP_UNSUPPORTED,
	/* A flag beside these: the return address was interrupted, it is not that of a call. */
	WIRE_RULE_EXACT = 1 << 7,
};

/* The return address. */
enum wire_ra {
	WIRE_RA_CFA,	    /* *(cfa - 8) on x86-64, *(cfa + p) on aarch64 */
	WIRE_RA_CFA_OFFSET, /* *(cfa + p); the rule's CFA uses no p */
	WIRE_RA_REG,	    /* R; the rule's CFA uses no R */
	WIRE_RA_END,	    /* undefined: the outermost frame */
	WIRE_RA_ENTRY,	    /* the outermost frame, known by its code, not by CFI */
	WIRE_RA_SIGNAL,	    /* all registers are in a signal frame */
	WIRE_RA_CLONE,	    /* *(cfa - 8); in a new thread, where rax is 0: the outermost frame */
	WIRE_RA_FIBER,	    /* the outermost frame of a fiber, known by its code */
	WIRE_RA_UNSUPPORTED,
};

enum wire_rule_flags {
	WIRE_RULE_FRAME_POINTER = 1 << 4, /* no CFI: code of a kind known to keep frame pointers */
	WIRE_RULE_NEW_STACK = 1 << 5,	  /* the caller is on another stack: at any address */
	/*
	 * x86-64's rbx, which is followed from frame to frame because the dynamic linker keeps its
	 * CFA there during calls: saved at cfa + p (SAVED; the rule's CFA uses no p), lost (LOST),
	 * otherwise unchanged.
	 */
	WIRE_RULE_RBX_SAVED = 1 << 6,
	WIRE_RULE_RBX_LOST = 1 << 7,
	WIRE_RULE_FLAGS = 0xf0, /* all flags */
};

struct wire_rule {
	__u8 cfa; /* enum wire_cfa */
	__u8 fp;  /* enum wire_fp, WIRE_RULE_EXACT */
	__u8 ra;  /* enum wire_ra | enum wire_rule_flags */
	__u8 reg; /* R */
	__s32 cfa_offset;
	__s32 fp_offset;
	__s32 extra;
};

#define WIRE_RULE_RA(rule) ((rule)->ra & 0xf)
#define WIRE_RULE_FP(rule) ((rule)->fp & 0x7f)

/* ---- the blocks of a table ---- */

struct wire_block_header {
	__u32 owner; /* the table's number; 0: none */
	__u32 base;  /* in a leaf: the rows' addresses are relative to it */
	__u16 n;     /* rows or children */
	__u16 level; /* 0: a leaf */
	__u32 reserved;
};

/*
 * A row: in the low 16 bits its address relative to `base`, in the high 16 the number of its rule.
 * Rows ascend; each holds up to the next one, which may be in the next leaf.
 */
#define WIRE_ROW(address, rule) ((__u32)(address) | (__u32)(rule) << 16)
#define WIRE_ROW_ADDRESS(row)	((row)&0xffff)
#define WIRE_ROW_RULE(row)	((row) >> 16)

/*
 * Rows are in groups of 32, two lines of a cache, and the addresses of their first rows are in one
 * array: a search touches three lines instead of eight.
 */
#define WIRE_LEAF_GROUP	 32
#define WIRE_LEAF_GROUPS 31
#define WIRE_LEAF_ROWS	 (WIRE_LEAF_GROUPS * WIRE_LEAF_GROUP)

#define WIRE_LEAF_GROUP_CAPACITY 32 /* a power of two, for the search */

struct wire_leaf {
	struct wire_block_header header;
	__u16 groups[WIRE_LEAF_GROUP_CAPACITY]; /* address of each group's first row, if it has one
						 */
	__u16 reserved[24];
	__u32 rows[WIRE_LEAF_ROWS];
};

/* Writes row `i` of a leaf. */
static inline void wire_leaf_put(struct wire_leaf *leaf, __u32 i, __u32 address, __u32 rule)
{
	leaf->rows[i] = WIRE_ROW(address, rule);
	if (i % WIRE_LEAF_GROUP == 0)
		leaf->groups[i / WIRE_LEAF_GROUP] = (__u16)address;
}

/*
 * Keys ascend; children[i] has the rows from keys[i] on, and its first row is at keys[i]. An
 * address before keys[0] has no row.
 */
#define WIRE_INNER_CHILDREN                                                                        \
	((WIRE_BLOCK_SIZE - sizeof(struct wire_block_header)) / (2 * sizeof(__u32)))

#define WIRE_INNER_CAPACITY                                                                        \
	512 /* a power of two, for the search: keys[511] is still in the block */

struct wire_inner {
	struct wire_block_header header;
	__u32 keys[WIRE_INNER_CHILDREN];
	__u32 children[WIRE_INNER_CHILDREN]; /* blocks */
};

/* ---- processes ---- */

/* How the code of a mapping can be unwound. */
enum wire_mapping_kind {
	WIRE_MAPPING_TABLE,	   /* `root` is its table */
	WIRE_MAPPING_PENDING,	   /* its table is not compiled yet */
	WIRE_MAPPING_NO_CFI,	   /* a file without CFI */
	WIRE_MAPPING_JIT,	   /* generated code, assumed to keep frame pointers */
	WIRE_MAPPING_SPECIAL,	   /* [vsyscall], [uprobes] */
	WIRE_MAPPING_EVICTED,	   /* no room within --unwind-memory */
	WIRE_MAPPING_BROKEN,	   /* its CFI could not be read */
	WIRE_MAPPING_TIME_USED_UP, /* nor within the time for a file, or for those of its owner */
	WIRE_MAPPING_NOT_OPENED,   /* the file could not be opened yet */
};

struct wire_mapping {
	__u64 start, end; /* addresses in the process */
	__u64 bias;	  /* address in the process - address in the file */
	__u32 root;	  /* WIRE_MAPPING(root block of its table, enum wire_mapping_kind) */
	__u32 owner;	  /* the table's number, as in its blocks; 0 if there is none */
};

#define WIRE_MAPPING(block, kind) ((__u32)(block) | (__u32)(kind) << 24)
#define WIRE_MAPPING_ROOT(root)	  ((root)&0xffffff)
#define WIRE_MAPPING_KIND(root)	  ((root) >> 24)

/*
 * A chunk is a head and up to 127 mappings in ascending order. Blocks of 128 slots hold the chunks
 * of several layouts each. A layout is the executable mappings of a process at one time, which
 * processes that forked from each other share.
 */
struct wire_chunk_head {
	__u32 owner; /* the layout's number; 0: none */
	__u32 n;     /* mappings */
	__u64 reserved[3];
};

#define WIRE_CHUNK_SLOTS (WIRE_BLOCK_SIZE / sizeof(struct wire_mapping))

struct wire_mappings {
	struct wire_mapping slots[WIRE_CHUNK_SLOTS];
};

struct wire_chunk {
	__u64 first; /* the first mapping's start */
	__u32 block;
	__u16 slot; /* of its head */
	__u16 n;    /* mappings */
};

#define WIRE_MAX_CHUNKS 24 /* of a process: 3,048 mappings */

#define WIRE_MAX_PROCESSES 8192

/* An interpreter that a process has mapped (bpf/interpreter_wire.h). */
struct wire_mapped_interpreter {
	__u64 bias;   /* address in the process - address in the file */
	__u32 number; /* of the interpreter */
	__u32 reserved;
};

#define WIRE_PROCESS_INTERPRETERS 4 /* of a process; functions of others are not shown */

/* By tgid, in the pid namespace of user space. */
struct wire_process {
	__u32 owner;	/* the number of its layout, as in the chunks' heads */
	__u32 n_chunks; /* ascending */
	__u32 n_interpreters;
	__u32 reserved;
	struct wire_mapped_interpreter interpreters[WIRE_PROCESS_INTERPRETERS];
	struct wire_chunk chunks[WIRE_MAX_CHUNKS];
};

/* ---- files ---- */

/*
 * A file that has a table, as both sides find it in an inode. Nobody can set a file's change time,
 * and each change of the file changes it: so a file with another content has another key, whether
 * it was written to or another file has its inode now.
 */
struct wire_file {
	__u64 inode;
	__u64 size;    /* bytes */
	__s64 changed; /* change time, ns */
	__u32 device;  /* of its file system: WIRE_DEVICE() */
	__u32 reserved;
};

/* A device number as the kernel has it in memory. */
#define WIRE_DEVICE(major, minor) ((__u32)(major) << 20 | (__u32)(minor))

/* A part of a file that is mapped as code. */
struct wire_code {
	__u64 from, to; /* offsets in the file of its first byte and beyond its last: whole pages */
	__u64 shift;	/* offset - address in the file */
};

#define WIRE_FILE_CODES 4 /* files with more are not entered */

struct wire_file_table {
	__u32 root, owner; /* as in struct wire_mapping */
	__u32 interpreter; /* that the file contains, its number; 0: none */
	__u32 reserved;
	struct wire_code codes[WIRE_FILE_CODES]; /* unused ones are empty */
};

#define WIRE_MAX_FILES 2048

/* ---- how walks end ---- */

/* Each user stack has one. Values are part of the recording format. */
enum wire_end {
	WIRE_END_NONE,		/* no user stack was asked for, or the task has no user side */
	WIRE_END_COMPLETE,	/* a return address that CFI says is undefined */
	WIRE_END_ENTRY,		/* complete: an entry stub known by its code */
	WIRE_END_FRAME_POINTER, /* --unwind=fp: the chain of frame pointers ended, complete or not
				 */
	WIRE_END_DEPTH,		/* more frames than --max-depth */
	WIRE_END_NO_PROCESS,	/* nothing is known of the process yet */
	WIRE_END_NO_MAPPING,	/* no executable mapping is known at the address */
	WIRE_END_SPECIAL,	/* in [uprobes], which has no CFI */
	WIRE_END_PENDING,	/* the file's table is not compiled yet */
	WIRE_END_NO_CFI,	/* the file has no CFI */
	WIRE_END_EVICTED,	/* the file's table found no room within --unwind-memory */
	WIRE_END_BROKEN,	/* the file's CFI cannot be read */
	WIRE_END_NO_ROW,	/* a gap: the file has CFI, but not for this code */
	WIRE_END_CFA,		/* the rule for the CFA is not supported */
	WIRE_END_FP,		/* the rule for the frame pointer is not supported, or it is lost */
	WIRE_END_RA,		/* the rule for the return address is not supported */
	WIRE_END_REGISTER,	/* a rule needs a register whose value is not known here */
	WIRE_END_READ,		/* the stack could not be read: paged out, or not mapped */
	WIRE_END_SP,		/* the stack pointer did not move towards the root */
	WIRE_END_PC,		/* the return address is 0 or no user address */
	WIRE_END_REGISTERS, /* user registers are incomplete: the kernel was just being entered */
	WIRE_END_COMPAT,    /* a 32-bit process */
	WIRE_END_STALE,	    /* tables changed during the walk */
	WIRE_END_JIT,	    /* a frame pointer of generated code does not point into the stack */
	WIRE_END_TIME_USED_UP, /* reading the file's CFI took too long */
	WIRE_END_NOT_OPENED,   /* the file could not be opened */
	WIRE_END_FIBER, /* where a fiber began: its stack is whole, its callers' is another */
	WIRE_N_ENDS,
};

/* Marks in a user frame of struct wire_stack, above any user address (56 bits with LA57). */
#define WIRE_FRAME_EXACT   (1ull << 63) /* the address was interrupted: not a return address */
#define WIRE_FRAME_POINTER (1ull << 62) /* found by frame pointer, for want of CFI */
#define WIRE_FRAME_ADDRESS ((1ull << 56) - 1)

/* The page of vsyscalls (arch/x86/include/uapi/asm/vsyscall.h), above all user addresses. */
#define WIRE_VSYSCALL	   0xffffffffff600000ull
#define WIRE_VSYSCALL_BITS 12

_Static_assert(sizeof(struct wire_rule) == 16, "a rule is 16 bytes");
_Static_assert(sizeof(struct wire_leaf) == WIRE_BLOCK_SIZE, "a leaf is a block");
_Static_assert(sizeof(struct wire_inner) == WIRE_BLOCK_SIZE, "an inner node is a block");
_Static_assert(sizeof(struct wire_mapping) == 32, "a mapping is 32 bytes");
_Static_assert(sizeof(struct wire_chunk_head) == sizeof(struct wire_mapping), "heads take slots");
_Static_assert(sizeof(struct wire_mappings) == WIRE_BLOCK_SIZE, "mappings fill a block");
_Static_assert(sizeof(struct wire_chunk) == 16, "a chunk is 16 bytes");
_Static_assert(sizeof(struct wire_process) ==
		       16 + 16 * WIRE_PROCESS_INTERPRETERS + 16 * WIRE_MAX_CHUNKS,
	       "no padding");
_Static_assert(sizeof(struct wire_file) == 32, "no padding");
_Static_assert(sizeof(struct wire_file_table) == 16 + 24 * WIRE_FILE_CODES, "no padding");

#endif
