/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Unwinding tables as they stand in the kernel: user space compiles them from call frame
 * information and writes them, the walk of a stack reads them (bpf/unwind_step.h). Fixed widths,
 * no padding that is not spelled out.
 *
 *   process (by tgid) -> chunks of mappings -> the table of a file -> row -> rule
 *
 * A table is a tree of blocks of 4 KiB; leaves hold rows, each the beginning of a range of code
 * that one rule holds for. Rules are few (some 4,000 for all of a distribution) and shared by all
 * files. Code addresses in a table are those of the ELF file (p_vaddr), at most 32 bits wide.
 *
 * Every block and every chunk says whose it is. A block that was given to somebody else since it
 * was referred to shows another owner: the walk ends as stale, it never goes on in it.
 */
#ifndef STACKTALLY_BPF_UNWIND_WIRE_H
#define STACKTALLY_BPF_UNWIND_WIRE_H

#include <linux/types.h>

#define WIRE_BLOCK_SIZE	    4096
#define WIRE_SEGMENT_BLOCKS 256	  /* blocks of a segment: the inner maps, 1 MiB each */
#define WIRE_MAX_SEGMENTS   1024  /* of the outer map */
#define WIRE_MAX_RULES	    16384 /* of the array of rules */
#define WIRE_NO_BLOCK	    0	  /* block 0 is never used */
#define WIRE_MAX_LEVELS	    3	  /* a leaf and two levels of inner blocks above it */

/* ---- rules: how to get from a frame to its caller ---- */

/*
 * Registers by role, so that other architectures need no other rules. General registers by their
 * DWARF numbers: x86-64 has 16 of them.
 */
#define WIRE_N_REGISTERS 16

/* What the canonical frame address is. `o` is cfa_offset, `p` is extra, `R` is reg. */
enum wire_cfa {
	WIRE_CFA_NONE,	      /* a gap: nothing is known of this code */
	WIRE_CFA_SP,	      /* sp + o */
	WIRE_CFA_FP,	      /* fp + o */
	WIRE_CFA_REG,	      /* R + o */
	WIRE_CFA_PLT,	      /* sp + 8 + ((pc & 15) >= o ? 8 : 0): of the linker's PLT */
	WIRE_CFA_SP_DEREF,    /* *(sp + o) + p */
	WIRE_CFA_FP_DEREF,    /* *(fp + o) + p */
	WIRE_CFA_REG_DEREF,   /* *(R + o) + p */
	WIRE_CFA_SP_INDEX,    /* *(sp + o + 8 * R) + p */
	WIRE_CFA_UNSUPPORTED, /* an expression that is none of these; extra: its number */
};

/* What the caller's frame pointer register is. `f` is fp_offset. */
enum wire_fp {
	WIRE_FP_SAME,
	WIRE_FP_CFA,	   /* *(cfa + f) */
	WIRE_FP_FP,	   /* *(fp + f): of functions that realign their stack */
	WIRE_FP_UNDEFINED, /* lost; a walk that needs it later ends */
	WIRE_FP_REG,	   /* the register f */
	WIRE_FP_UNSUPPORTED,
};

/* Where the return address is. */
enum wire_ra {
	WIRE_RA_CFA,	    /* *(cfa - 8) */
	WIRE_RA_CFA_OFFSET, /* *(cfa + p): then the CFA takes no p */
	WIRE_RA_REG,	    /* the register R: then the CFA takes no R */
	WIRE_RA_END,	    /* undefined: the outermost frame */
	WIRE_RA_ENTRY,	    /* the outermost frame, known by its code, not by CFI */
	WIRE_RA_SIGNAL,	    /* registers are those saved in the signal frame */
	WIRE_RA_CLONE,	    /* *(cfa - 8); where rax is 0, in a new thread: the outermost frame */
	WIRE_RA_UNSUPPORTED,
};

enum wire_rule_flags {
	WIRE_RULE_FRAME_POINTER = 1 << 4, /* no CFI: code of a kind known to keep frame pointers */
	WIRE_RULE_NEW_STACK = 1 << 5,	  /* the caller is on another stack: at any address */
	/*
	 * Of the one more register that is followed from frame to frame, because the dynamic linker
	 * keeps its CFA there while it calls others (x86-64: rbx): it was saved at cfa + p, and the
	 * CFA takes no p; or what it was is lost. Neither: it is as it was.
	 */
	WIRE_RULE_KEPT_SAVED = 1 << 6,
	WIRE_RULE_KEPT_LOST = 1 << 7,
	WIRE_RULE_FLAGS = 0xf0, /* all of them */
};

struct wire_rule {
	__u8 cfa; /* enum wire_cfa */
	__u8 fp;  /* enum wire_fp */
	__u8 ra;  /* enum wire_ra, and above it enum wire_rule_flags */
	__u8 reg; /* R */
	__s32 cfa_offset;
	__s32 fp_offset;
	__s32 extra;
};

#define WIRE_RULE_RA(rule) ((rule)->ra & 0xf)

/* ---- the blocks of a table ---- */

struct wire_block_header {
	__u32 owner; /* the table's number; 0: nobody's. Numbers are not used again. */
	__u32 base;  /* of a leaf: what the rows' addresses are relative to */
	__u16 n;     /* rows or children */
	__u16 level; /* 0: a leaf */
	__u32 reserved;
};

/*
 * A row: the low 16 bits are its address relative to `base`, the high 16 the number of its rule.
 * Ascending; holds up to the next row, in the next leaf too.
 */
#define WIRE_ROW(address, rule) ((__u32)(address) | (__u32)(rule) << 16)
#define WIRE_ROW_ADDRESS(row)	((row)&0xffff)
#define WIRE_ROW_RULE(row)	((row) >> 16)

/*
 * Rows lie in groups of two lines of a cache, and what begins each of them lies side by side: a
 * search goes through three lines in place of eight.
 */
#define WIRE_LEAF_GROUP	 32
#define WIRE_LEAF_GROUPS 31
#define WIRE_LEAF_ROWS	 (WIRE_LEAF_GROUPS * WIRE_LEAF_GROUP)

#define WIRE_LEAF_GROUP_ROOM 32 /* a power of two, for who searches */

struct wire_leaf {
	struct wire_block_header header;
	__u16 groups[WIRE_LEAF_GROUP_ROOM]; /* the address of the first row of each that has one */
	__u16 reserved[24];
	__u32 rows[WIRE_LEAF_ROWS];
};

/* For who writes a leaf: its row number `i`, in this order. */
static inline void wire_leaf_put(struct wire_leaf *leaf, __u32 i, __u32 address, __u32 rule)
{
	leaf->rows[i] = WIRE_ROW(address, rule);
	if (i % WIRE_LEAF_GROUP == 0)
		leaf->groups[i / WIRE_LEAF_GROUP] = (__u16)address;
}

/*
 * Keys ascend; children[i] holds what is from keys[i] on. An address before keys[0] has no row.
 * An address that the child has no row for (it is before its first) is a gap: writers see to it
 * that the first row of a leaf is at its key.
 */
#define WIRE_INNER_CHILDREN                                                                        \
	((WIRE_BLOCK_SIZE - sizeof(struct wire_block_header)) / (2 * sizeof(__u32)))

#define WIRE_INNER_ROOM 512 /* a power of two, for who searches: what is read is in the block */

struct wire_inner {
	struct wire_block_header header;
	__u32 keys[WIRE_INNER_CHILDREN];
	__u32 children[WIRE_INNER_CHILDREN]; /* blocks */
};

/* ---- processes ---- */

/* What is known of the code of a mapping. */
enum wire_mapping_kind {
	WIRE_MAPPING_TABLE,   /* `root` is its table */
	WIRE_MAPPING_PENDING, /* its table is not compiled yet */
	WIRE_MAPPING_NO_CFI,  /* a file without any */
	WIRE_MAPPING_JIT,     /* generated code, taken to keep frame pointers */
	WIRE_MAPPING_SPECIAL, /* [vsyscall], [uprobes] */
	WIRE_MAPPING_EVICTED, /* no room within --unwind-memory */
	WIRE_MAPPING_BROKEN,  /* its CFI could not be read */
};

struct wire_mapping {
	__u64 start, end; /* executable addresses of the process */
	__u64 bias;	  /* what to subtract from one to get the file's */
	__u32 root;	  /* the top block of its table, and above it enum wire_mapping_kind */
	__u32 owner;	  /* the table's number, as in its blocks; 0 if there is none */
};

#define WIRE_MAPPING(block, kind) ((__u32)(block) | (__u32)(kind) << 24)
#define WIRE_MAPPING_ROOT(root)	  ((root)&0xffffff)
#define WIRE_MAPPING_KIND(root)	  ((root) >> 24)

/*
 * Mappings lie in blocks of 128 slots, several processes to a block: a chunk is a head, then up
 * to 127 mappings in ascending order.
 */
struct wire_chunk_head {
	__u32 owner; /* the process's number; never used again, 0: nobody's */
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

/* By tgid, in the pid namespace that stacks are told in. */
struct wire_process {
	__u32 owner;	/* of its chunks */
	__u32 n_chunks; /* ascending */
	struct wire_chunk chunks[WIRE_MAX_CHUNKS];
};

/* ---- how walks end ---- */

/* Every user stack has one. Values stand in recordings. */
enum wire_end {
	WIRE_END_NONE,		/* no user stack was asked for, or the task has no user side */
	WIRE_END_COMPLETE,	/* a return address that CFI says is undefined */
	WIRE_END_ENTRY,		/* complete: an entry stub known by its code */
	WIRE_END_FRAME_POINTER, /* --unwind=fp: the chain of frame pointers ended; nobody knows */
	WIRE_END_DEPTH,		/* more frames than --max-depth */
	WIRE_END_NO_PROCESS,	/* nothing is known of the process yet */
	WIRE_END_NO_MAPPING,	/* nothing executable is known to be at the address */
	WIRE_END_SPECIAL,	/* in [vsyscall] or [uprobes] */
	WIRE_END_PENDING,	/* the file's table is not compiled yet */
	WIRE_END_NO_CFI,	/* the file has no CFI */
	WIRE_END_EVICTED,	/* the file's table found no room within --unwind-memory */
	WIRE_END_BROKEN,	/* the file's CFI cannot be read */
	WIRE_END_NO_ROW,	/* a gap: the file has CFI, but not for this code */
	WIRE_END_CFA,		/* the rule for the CFA is not supported */
	WIRE_END_FP,		/* the rule for the frame pointer is not supported, or it is lost */
	WIRE_END_RA,		/* the rule for the return address is not supported */
	WIRE_END_REGISTER,	/* a rule needs a register whose value is not known here */
	WIRE_END_READ,		/* the stack could not be read (not in memory, or not there) */
	WIRE_END_SP,		/* the stack pointer did not move towards the root */
	WIRE_END_PC,		/* the return address is 0 or no user address */
	WIRE_END_REGISTERS, /* the user registers are not (all) there: the kernel was entered just
			       then */
	WIRE_END_COMPAT,    /* a 32-bit process */
	WIRE_END_STALE,	    /* tables were changed while the stack was walked */
	WIRE_END_JIT,	    /* frame pointers led nowhere in generated code */
	WIRE_N_ENDS,
};

/*
 * Marks in a user frame of struct wire_stack, above any user address (LA57 has 56 bits).
 */
#define WIRE_FRAME_EXACT   (1ull << 63) /* interrupted there: not a return address */
#define WIRE_FRAME_POINTER (1ull << 62) /* found by frame pointer, for want of CFI */
#define WIRE_FRAME_ADDRESS ((1ull << 56) - 1)

_Static_assert(sizeof(struct wire_rule) == 16, "a rule is 16 bytes");
_Static_assert(sizeof(struct wire_leaf) == WIRE_BLOCK_SIZE, "a leaf is a block");
_Static_assert(sizeof(struct wire_inner) == WIRE_BLOCK_SIZE, "an inner node is a block");
_Static_assert(sizeof(struct wire_mapping) == 32, "a mapping is 32 bytes");
_Static_assert(sizeof(struct wire_chunk_head) == sizeof(struct wire_mapping), "heads take slots");
_Static_assert(sizeof(struct wire_mappings) == WIRE_BLOCK_SIZE, "mappings fill a block");
_Static_assert(sizeof(struct wire_chunk) == 16, "a chunk is 16 bytes");
_Static_assert(sizeof(struct wire_process) == 8 + 16 * WIRE_MAX_CHUNKS, "no padding");

#endif
