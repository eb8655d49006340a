/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The multiset of stacks: how often each process ran each stack, or for how many ns. Plain data:
 * knows nothing of BPF, /proc or printing.
 *
 * An address is stored once for each process image it occurs in, and a stack is a list of such
 * addresses, so that naming, saving and merging work on small integers. Ids are dense, start at 0,
 * and stay valid until tally_clear() (stacks, entries) or tally_reset() (addresses).
 *
 * Used by one thread at a time. Functions that return int give 0 or a negative errno.
 */
#ifndef STACKTALLY_TALLY_TALLY_H
#define STACKTALLY_TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/end.h"

#define TALLY_COMM_SIZE	 16
#define TALLY_MAX_FRAMES 1024 /* a stack's frames; longer ones are refused with -E2BIG */

/* The image of kernel addresses; all other image ids are those of process/images.h. */
#define TALLY_IMAGE_KERNEL 0u

/* Stack ids that stand for no stored stack. */
#define TALLY_STACK_NONE   UINT32_MAX /* there was none, as for user stacks of kernel threads */
#define TALLY_STACK_MISSED (UINT32_MAX - 1) /* there was one, beyond the limit of stacks */

enum tally_address_flags {
	/*
	 * The address of the interrupted instruction: a leaf, or the frame below a signal. All
	 * others are return addresses, which belong to the function of the byte before them.
	 */
	TALLY_ADDRESS_EXACT = 1 << 0,
	/* Found through a frame pointer, because the code has no call frame information. */
	TALLY_ADDRESS_CHAINED = 1 << 1,
	/* No address, but a function of an interpreted program (tally/scripts.h). */
	TALLY_ADDRESS_SCRIPT = 1 << 2,
	TALLY_ADDRESS_FLAGS = (1 << 3) - 1,
};

struct tally_address {
	uint64_t address;
	uint32_t image; /* TALLY_IMAGE_KERNEL or an image id */
	uint32_t flags; /* enum tally_address_flags */
};

enum tally_stack_flags {
	TALLY_STACK_CUT = 1 << 0, /* deeper than the depth limit: the root is missing */
	/* one step assumed that a callee in the same file preserved a register */
	TALLY_STACK_ASSUMED = 1 << 1,
	/* The bits from 8 on hold the reason why the walk ended: enum tally_end. */
	TALLY_STACK_FLAGS = (1 << 2) - 1,
};

#define TALLY_STACK_ENDED(end) ((uint32_t)(end) << 8)
#define TALLY_STACK_END(flags) ((flags) >> 8)

struct tally_stack {
	uint64_t first;	   /* of its frames, for tally_frames() */
	uint32_t n_frames; /* 1..TALLY_MAX_FRAMES */
	uint32_t flags;	   /* enum tally_stack_flags */
};

struct tally_entry {
	uint64_t count;
	uint64_t events;	    /* if counts are sums of values: how many values; else 0 */
	uint64_t largest;	    /* of these values; 0: not known */
	uint64_t cgroup;	    /* cgroup id, or 0 */
	uint32_t tgid, tid;	    /* tid is 0 unless threads are kept apart */
	uint32_t kernel, user;	    /* stack ids or TALLY_STACK_NONE, TALLY_STACK_MISSED */
	char comm[TALLY_COMM_SIZE]; /* NUL-padded */
};

/*
 * Events that were counted and lost. Kept with the tally, so that a report from a recording says
 * the same as one from a live run.
 */
struct tally_losses {
	uint64_t events;      /* that passed the filters, lost ones included */
	uint64_t lost_ring;   /* new stacks that found the ring buffer full */
	uint64_t lost_counts; /* new entries beyond --hash-storage-size */
	uint64_t lost_nested; /* events inside too many others on their CPU */
	uint64_t lost_memory; /* events of new stacks and entries beyond --memory */
	uint64_t throttled;   /* times the kernel throttled the sampling event */
	uint64_t unsampled; /* ns that CPUs were not sampled after they had come online, at most */
	/*
	 * Events of any process that the kernel delivered to no program, because another BPF
	 * program ran on their CPU. Not part of `events`.
	 */
	uint64_t unseen;
	/* Of time off the CPU; also not part of `events`. */
	uint64_t lost_time;    /* ns whose stack was lost */
	uint64_t lost_threads; /* times that a thread left its CPU and was not followed further */
	/*
	 * Returns to a CPU that were not seen. The absence then ended when the scheduler's count of
	 * the thread's time on CPUs says; no time is missing.
	 */
	uint64_t lost_ends;
	/*
	 * Of time off the CPU: how often a thread left its CPU and its stack was not walked, to
	 * stay within --budget. Others count for them; no time is missing.
	 */
	uint64_t unwalked;
	bool counts_full; /* --hash-storage-size was reached */
	bool memory_full; /* --memory was */
	/*
	 * Samples of any process that were due, by the event's own count of time or of what it
	 * counts, and that never came, by their cause. Not part of `events`, nor of `unseen`.
	 */
	uint64_t due;		/* all that were due, also those that came */
	uint64_t due_throttled; /* the kernel had throttled the event */
	uint64_t due_stolen;	/* the host had taken the CPU from this machine */
	uint64_t due_late;	/* the CPU took no interrupt for longer than a period; or unknown */
	/* Of sums: events that count, but whose value is in no sum. */
	uint64_t failed; /* it is negative: an error that a function returned */
	uint64_t unread; /* it could not be read; such an event meets no condition either */
	bool saturated;	 /* the sum of all counts was too large for 64 bits */
	/* Of calls; not part of `events`. */
	uint64_t unreturned; /* that were jumped over, or whose thread or measurement ended first */
	uint64_t unentered;  /* returns from calls that were not seen to begin */
	uint64_t lost_calls; /* of threads that found no room to be followed */
	/* Whose stack was lost, or that found no room in the ring. */
	uint64_t lost_values;
	/* Of blocks of memory: freed that were not seen to be allocated; without room or stack. */
	uint64_t unallocated, lost_blocks, lost_bytes;
	uint64_t replaced_blocks; /* allocated again before they were seen to be freed */
	uint64_t unmapped;	  /* times that pages of no known mapping were unmapped */
};

/* How many events an entry has; ns, if its count is of time. */
static inline uint64_t tally_events_of(const struct tally_entry *entry)
{
	return entry->events ? entry->events : entry->count;
}

/* Events that are in no entry. */
static inline uint64_t tally_lost(const struct tally_losses *losses)
{
	return losses->lost_ring + losses->lost_counts + losses->lost_nested + losses->lost_memory;
}

/* Samples that were due and never came: of any process, so not part of tally_lost(). */
static inline uint64_t tally_never_came(const struct tally_losses *losses)
{
	return losses->due_throttled + losses->due_stolen + losses->due_late;
}

struct tally;

/* Limits are numbers of entries and of stacks; 0 means no limit. */
int tally_new(uint32_t entry_limit, uint32_t stack_limit, struct tally **ret_tally);
void tally_free(struct tally *tally);

/*
 * Bounds the memory of what tally_address(), tally_stack() and tally_add() add, in bytes; 0: no
 * bound, which is the default. Beyond it they find what is there, and fail with -EDQUOT for what is
 * not: the caller then tells tally_losses().
 */
void tally_bound(struct tally *tally, uint64_t bytes);
/* What other parts of the measurement use of it. */
void tally_charge(struct tally *tally, uint64_t bytes);
bool tally_is_full(const struct tally *tally);
/* The memory that all parts of the tally use, in bytes. */
uint64_t tally_bytes(const struct tally *tally);

/* The id of an address, which is added if it is new. -ENOMEM; -EDQUOT; -EFBIG beyond 2^32 - 2. */
int tally_address(struct tally *tally, const struct tally_address *address, uint32_t *ret_id);

/*
 * The id of the stack of these address ids, leaf first, and flags; it is added if it is new. No
 * frames give TALLY_STACK_NONE; a new stack beyond the limit gives TALLY_STACK_MISSED. -EINVAL for
 * an id that is not in the tally, -E2BIG beyond TALLY_MAX_FRAMES, -EDQUOT, -ENOMEM.
 */
int tally_stack(struct tally *tally, const uint32_t *addresses, uint32_t n, uint32_t flags,
		uint32_t *ret_id);

/*
 * Adds `entry->count` and `entry->events` to the entry that is equal in all other fields but
 * `largest`, of which the larger stays; it is added if it is new.
 * -ENOMEM; -EDQUOT; or -ENOSPC when a new entry would exceed the limit: then the count is added to
 * losses.lost_counts and losses.counts_full is set.
 */
int tally_add(struct tally *tally, const struct tally_entry *entry);

/* As tally_add(), and returns the index of the entry. */
int tally_count(struct tally *tally, const struct tally_entry *entry, uint32_t *ret_entry);
/* Adds to the entry with that index; `events` and `largest` as in struct tally_entry. */
void tally_more(struct tally *tally, uint32_t entry, uint64_t count, uint64_t events,
		uint64_t largest);

/* Prefetches what tally_add() of this entry will look at. */
void tally_expect(const struct tally *tally, const struct tally_entry *entry);

/*
 * Adding without a search, for a source that holds each element once, such as a recording: ids
 * count up with the calls, and limits do not apply. The caller fills the `n` frames at *ret_frames
 * (address ids below tally_n_addresses(), leaf first) before the next call on the tally.
 */
int tally_append_address(struct tally *tally, const struct tally_address *address);
int tally_append_stack(struct tally *tally, uint32_t n, uint32_t flags, uint32_t **ret_frames);
int tally_append_entry(struct tally *tally, const struct tally_entry *entry);

/*
 * Hands over the array of the entries, which the caller frees; the tally has none then. Not NULL
 * if there was one.
 */
struct tally_entry *tally_take_entries(struct tally *tally);

/* Removes entries, stacks and losses, and keeps the addresses: for reports of intervals. */
void tally_clear(struct tally *tally);
/* Removes the addresses, too: ids start at 0 again. */
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
/*
 * How many frames, from the leaf on, say why a thread was off the CPU and who woke it
 * (tally/scripts.h), not where it was; 0 for other stacks.
 */
uint32_t tally_off_cpu_frames(const struct tally *tally, const struct tally_stack *stack);
/* Whether it is that of a thread blocked since before the measurement. */
bool tally_is_asleep(const struct tally *tally, const struct tally_stack *stack);
/* The sums of all counts, and of all events, saturating at UINT64_MAX. */
uint64_t tally_total(const struct tally *tally);
uint64_t tally_events(const struct tally *tally);

#endif
