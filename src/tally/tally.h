/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The multiset of stacks: who ran which stack how often. Pure data: knows nothing of BPF, /proc
 * or printing.
 *
 * An address stands in the tally once for each address space it occurs in, and a stack is a list
 * of such addresses; so all that follows (naming, saving, merging) works on small integers.
 * Ids are dense, start at 0, and stay valid for the life of the tally.
 */
#ifndef STACKTALLY_TALLY_TALLY_H
#define STACKTALLY_TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/end.h"

#define TALLY_COMM_SIZE	 16
#define TALLY_MAX_FRAMES 1024 /* a stack's frames; longer ones are refused with -E2BIG */

/* The address space of kernel addresses; others are ids of process/images.h. */
#define TALLY_WORLD_KERNEL 0u

/* Stack ids that are no stack. */
#define TALLY_STACK_NONE   UINT32_MAX	    /* there was none (a kernel thread's user stack, say) */
#define TALLY_STACK_MISSED (UINT32_MAX - 1) /* there was one, but no room to keep it */

enum tally_address_flags {
	/*
	 * The address is that of the instruction itself, not of one after a call: a leaf. All
	 * others are return addresses, which belong to the function of the byte before them.
	 */
	TALLY_ADDRESS_EXACT = 1 << 0,
	/* Found by following a frame pointer, for want of call frame information. */
	TALLY_ADDRESS_CHAINED = 1 << 1,
	TALLY_ADDRESS_FLAGS = (1 << 2) - 1,
};

struct tally_address {
	uint64_t address;
	uint32_t image; /* TALLY_WORLD_KERNEL or a image id */
	uint32_t flags; /* enum tally_address_flags */
};

enum tally_stack_flags {
	TALLY_STACK_CUT = 1 << 0, /* the root is missing: deeper than the depth limit */
	/* a step relied on a callee of the same file having left a register alone */
	TALLY_STACK_ASSUMED = 1 << 1,
	/* Above these the way its walk ended: enum tally_end. */
	TALLY_STACK_FLAGS = (1 << 2) - 1,
};

#define TALLY_STACK_ENDED(end) ((uint32_t)(end) << 8)
#define TALLY_STACK_END(flags) ((flags) >> 8)

struct tally_stack {
	uint64_t first;	   /* index into the tally's frame list, leaf first */
	uint32_t n_frames; /* 1..TALLY_MAX_FRAMES */
	uint32_t flags;	   /* enum tally_stack_flags */
};

struct tally_entry {
	uint64_t count;
	uint64_t cgroup;	    /* cgroup id, or 0 */
	uint32_t tgid, tid;	    /* tid is 0 unless threads are kept apart */
	uint32_t kernel, user;	    /* stack ids or TALLY_STACK_NONE, TALLY_STACK_MISSED */
	char comm[TALLY_COMM_SIZE]; /* NUL-padded */
};

/*
 * What was lost on the way, and what was seen. Kept with the tally, so that a report from a
 * recording says the same as one from a live run.
 */
struct tally_losses {
	uint64_t events;      /* that passed the filters */
	uint64_t lost_ring;   /* samples whose new stack found no room on its way to user space */
	uint64_t lost_counts; /* samples beyond --hash-storage-size */
	uint64_t lost_nested; /* samples that interrupted too many others */
	uint64_t throttled;   /* times the kernel throttled the sampling event */
	/*
	 * Events, of any process, that the kernel showed nobody, as another BPF program ran on
	 * their CPU. In no other number.
	 */
	uint64_t unseen;
	bool counts_full; /* --hash-storage-size was reached */
};

struct tally;

/* Both limits count entries; 0 means no limit. */
int tally_new(uint32_t entry_limit, uint32_t stack_limit, struct tally **ret_tally);
void tally_free(struct tally *tally);

/* The id of an address, added if it is new. 0, -ENOMEM, or -EFBIG when there are 2^32 - 2. */
int tally_address(struct tally *tally, const struct tally_address *address, uint32_t *ret_id);

/*
 * The id of the stack with these addresses (ids, leaf first) and flags, added if it is new; no
 * frames give TALLY_STACK_NONE, a new stack beyond the limit TALLY_STACK_MISSED. 0 or a negative
 * errno.
 */
int tally_stack(struct tally *tally, const uint32_t *addresses, uint32_t n, uint32_t flags,
		uint32_t *ret_id);

/*
 * Adds `entry->count` to the entry that is equal in all else, making it if it is new. Returns 0,
 * -ENOMEM, or -ENOSPC when a new entry would exceed the limit: then the count is added to
 * losses.lost_counts and losses.counts_full is set.
 */
int tally_add(struct tally *tally, const struct tally_entry *entry);

/* The same, and tells which entry it was. */
int tally_count(struct tally *tally, const struct tally_entry *entry, uint32_t *ret_entry);
/* Adds to an entry that is known by its number. */
void tally_more(struct tally *tally, uint32_t entry, uint64_t count);

/* Tells that tally_add() of this entry will follow in a moment, to have it wait less. */
void tally_expect(const struct tally *tally, const struct tally_entry *entry);

/*
 * Adding without a search, for a source that is known to hold each thing once, such as a
 * recording: ids are given in the order of the calls, limits do not apply. tally_append_stack()
 * gives the room for the stack's `n` frames (address ids, leaf first), which the caller fills
 * with ids below tally_n_addresses() before it does anything else with the tally.
 */
int tally_append_address(struct tally *tally, const struct tally_address *address);
int tally_append_stack(struct tally *tally, uint32_t n, uint32_t flags, uint32_t **ret_frames);
int tally_append_entry(struct tally *tally, const struct tally_entry *entry);

/* Forgets entries, stacks and losses, and keeps the addresses: for reports of intervals. */
void tally_clear(struct tally *tally);
/* Forgets the addresses, too: their ids are given anew. */
void tally_reset(struct tally *tally);

struct tally_losses *tally_losses(struct tally *tally);
const struct tally_losses *tally_losses_of(const struct tally *tally);

uint32_t tally_n_addresses(const struct tally *tally);
uint32_t tally_n_stacks(const struct tally *tally);
uint32_t tally_n_entries(const struct tally *tally);
/* Arrays of the lengths above; valid until the next tally_* call that adds. */
const struct tally_address *tally_addresses(const struct tally *tally);
const struct tally_stack *tally_stacks(const struct tally *tally);
const struct tally_entry *tally_entries(const struct tally *tally);
/* The frames of a stack: n_frames address ids, leaf first. */
const uint32_t *tally_frames(const struct tally *tally, const struct tally_stack *stack);
/* The sum of all counts; stays at UINT64_MAX once it got there. */
uint64_t tally_total(const struct tally *tally);

#endif
