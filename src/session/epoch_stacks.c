// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/epoch_stacks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "bpf/stack_hash.h"
#include "interpreters/interpreters.h"
#include "kernel/interrupt_frames.h"
#include "kernel/tracepoint_frames.h"
#include "tally/codes.h"

_Static_assert((int)WIRE_N_ENDS == (int)TALLY_N_ENDS && (int)WIRE_END_JIT == (int)TALLY_END_JIT &&
		       (int)WIRE_END_NO_ROW == (int)TALLY_END_NO_ROW,
	       "enum tally_end has the values of enum wire_end");

/* A stack and how often it was counted in this epoch. */
struct counted_stack {
	struct wire_hash hash;
	uint64_t cgroup;
	uint64_t first_user;   /* into user_frames, of n_user */
	uint64_t first_kernel; /* into kernel_frames, of n_kernel */
	uint64_t count;
	int64_t blocked, waiting; /* ns, of timed stacks */
	uint32_t seen;		  /* `cleared` when it came, or was held, last */
	uint32_t tgid, tid;
	uint16_t n_kernel, n_user;
	uint16_t flags; /* enum wire_stack_flags */
	uint8_t end;	/* enum wire_end */
	bool wanted;	/* the comm matches; frames of others are not kept */
	char comm[WIRE_COMM_SIZE];
};

/* A timed stack, and the stack of a waker; ns that threads were blocked there until it woke them.
 */
struct woken {
	struct wire_hash stack, waker;
	int64_t ns;
};

/* Slots for the last stacks of processes, by their ids. */
#define LAST_STACKS 64u

struct epoch_stacks {
	struct epoch_stacks_options options;
	struct counted_stack *items;
	uint32_t n, capacity;
	uint32_t *user_frames; /* ids of tally addresses */
	uint64_t n_user_frames, user_capacity;
	uint64_t *kernel_frames; /* addresses */
	uint64_t n_kernel_frames, kernel_capacity;
	struct index index; /* of items that are counted by their hash */
	uint32_t n_kept;    /* timed items from before the last epoch_stacks_clear() */
	uint32_t cleared;   /* times that it was called */
	uint32_t last[LAST_STACKS];
	struct woken *woken;
	uint32_t n_woken, woken_room;
	struct index woken_index;
};

int epoch_stacks_new(const struct epoch_stacks_options *options, struct epoch_stacks **ret_stacks)
{
	struct epoch_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	stacks->options = *options;
	*ret_stacks = stacks;
	return 0;
}

void epoch_stacks_free(struct epoch_stacks *stacks)
{
	if (!stacks)
		return;
	free(stacks->items);
	free(stacks->user_frames);
	free(stacks->kernel_frames);
	index_free(&stacks->index);
	free(stacks->woken);
	index_free(&stacks->woken_index);
	free(stacks);
}

/* Times may still come for a stack that was seen in this epoch or in the one before it. */
static bool is_over(const struct epoch_stacks *stacks, const struct counted_stack *counted)
{
	return !counted->blocked && !counted->waiting && counted->seen + 1 < stacks->cleared;
}

static uint64_t woken_hash(const struct wire_hash *stack, const struct wire_hash *waker)
{
	return stack->low ^ hash_u64(waker->low);
}

/* Forgets the pairs without time, and keeps the stacks of the others. */
static int keep_woken(struct epoch_stacks *stacks)
{
	uint32_t n = 0;

	index_free(&stacks->woken_index);
	for (uint32_t i = 0; i < stacks->n_woken; i++) {
		struct woken woken = stacks->woken[i];
		int r;

		if (!woken.ns)
			continue;
		epoch_stacks_hold(stacks, &woken.stack);
		epoch_stacks_hold(stacks, &woken.waker);
		r = index_add(&stacks->woken_index, woken_hash(&woken.stack, &woken.waker), n);
		if (r < 0)
			return r;
		stacks->woken[n++] = woken;
	}
	stacks->n_woken = n;
	return 0;
}

static int keep_timed(struct epoch_stacks *stacks)
{
	uint32_t n = 0;
	int r = keep_woken(stacks);

	if (r < 0)
		return r;
	stacks->cleared++;
	index_free(&stacks->index);
	stacks->n_user_frames = stacks->n_kernel_frames = 0;
	for (uint32_t i = 0; i < stacks->n; i++) {
		struct counted_stack counted = stacks->items[i];

		if (is_over(stacks, &counted))
			continue;
		memmove(stacks->user_frames + stacks->n_user_frames,
			stacks->user_frames + counted.first_user,
			counted.n_user * sizeof(*stacks->user_frames));
		counted.first_user = stacks->n_user_frames;
		stacks->n_user_frames += counted.n_user;
		if (counted.wanted) {
			memmove(stacks->kernel_frames + stacks->n_kernel_frames,
				stacks->kernel_frames + counted.first_kernel,
				counted.n_kernel * sizeof(*stacks->kernel_frames));
			counted.first_kernel = stacks->n_kernel_frames;
			stacks->n_kernel_frames += counted.n_kernel;
		}
		r = index_add(&stacks->index, counted.hash.low, n);
		if (r < 0)
			return r;
		stacks->items[n++] = counted;
	}
	stacks->n = stacks->n_kept = n;
	return 0;
}

int epoch_stacks_clear(struct epoch_stacks *stacks)
{
	if (stacks->options.timed)
		return keep_timed(stacks);
	stacks->n = 0;
	stacks->n_user_frames = 0;
	stacks->n_kernel_frames = 0;
	index_free(&stacks->index);
	return 0;
}

void epoch_stacks_mark_images(const struct epoch_stacks *stacks, const struct tally *tally,
			      uint32_t *images)
{
	for (uint64_t i = 0; i < stacks->n_user_frames; i++)
		images[tally_addresses(tally)[stacks->user_frames[i]].image] = 1;
}

int epoch_stacks_rebase(struct epoch_stacks *stacks, struct tally *tally,
			const struct tally_address *before, const uint32_t *images)
{
	for (uint64_t i = 0; i < stacks->n_user_frames; i++) {
		struct tally_address address = before[stacks->user_frames[i]];
		int r;

		address.image = images[address.image];
		r = tally_address(tally, &address, &stacks->user_frames[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

uint32_t epoch_stacks_n(const struct epoch_stacks *stacks)
{
	return stacks->n - stacks->n_kept;
}

static struct counted_stack *find(const struct epoch_stacks *stacks, const struct wire_hash *hash)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&stacks->index, hash->low, &cursor); at != INDEX_NONE;
	     at = index_next(&stacks->index, &cursor)) {
		struct counted_stack *counted = &stacks->items[at];

		if (counted->hash.low == hash->low && counted->hash.high == hash->high)
			return counted;
	}
	return NULL;
}

/* The hash is recomputed: a damaged or forged record is refused. */
static bool hash_is_right(const struct epoch_stacks *stacks, const struct wire_stack *stack,
			  size_t size)
{
	struct wire_hash hash = { stacks->options.seed[0], stacks->options.seed[1] };
	const unsigned char *at = (const unsigned char *)stack + WIRE_HASH_FROM;

	for (size_t i = 0; i < (size - WIRE_HASH_FROM) / sizeof(uint64_t); i++) {
		uint64_t word;

		memcpy(&word, at + i * sizeof(word), sizeof(word));
		stack_hash_word(&hash, word);
	}
	stack_hash_finish(&hash);
	return hash.low == stack->hash.low && hash.high == stack->hash.high;
}

static int make_room(struct epoch_stacks *stacks, const struct wire_stack *stack)
{
	int r = grow(&stacks->items, &stacks->capacity, stacks->n + 1);

	if (r < 0)
		return r;
	r = grow(&stacks->user_frames, &stacks->user_capacity,
		 stacks->n_user_frames + 2ull * stack->n_user);
	if (r < 0)
		return r;
	return grow(&stacks->kernel_frames, &stacks->kernel_capacity,
		    stacks->n_kernel_frames + stack->n_kernel);
}

/*
 * The user frames of the process's last stack. The next one mostly shares its outer frames, whose
 * ids then need not be looked up in the tally.
 */
struct known_frames {
	const uint32_t *end; /* past the outermost frame */
	uint32_t n;
};

static struct known_frames known_frames(const struct epoch_stacks *stacks, uint32_t tgid)
{
	uint32_t last = stacks->last[tgid % LAST_STACKS];
	const struct counted_stack *counted = last < stacks->n ? &stacks->items[last] : NULL;

	if (!counted || !counted->wanted)
		return (struct known_frames){ 0 };
	return (struct known_frames){ stacks->user_frames + counted->first_user + counted->n_user,
				      counted->n_user };
}

static bool is_known(const struct tally *tally, const struct known_frames *known,
		     uint32_t from_root, const struct tally_address *address, uint32_t *ret_id)
{
	const struct tally_address *there;

	if (from_root >= known->n)
		return false;
	*ret_id = *(known->end - 1 - from_root);
	there = &tally_addresses(tally)[*ret_id];
	return there->address == address->address && there->image == address->image &&
	       there->flags == address->flags;
}

/* What the tally has of a user frame. The leaf is an instruction, others are return addresses. */
static struct tally_address address_of(uint64_t frame, uint32_t image, bool is_leaf)
{
	struct tally_address address = {
		.address = frame & WIRE_FRAME_ADDRESS,
		.image = image,
		.flags = is_leaf ? TALLY_ADDRESS_EXACT : 0,
	};

	if (frame & WIRE_FRAME_CODE)
		return (struct tally_address){
			.address = frame & (WIRE_FRAME_ADDRESS | WIRE_FRAME_LANGUAGE),
			.image = image,
			.flags = TALLY_ADDRESS_CODE,
		};
	if (frame & WIRE_FRAME_EXACT)
		address.flags |= TALLY_ADDRESS_EXACT;
	if (frame & WIRE_FRAME_POINTER)
		address.flags |= TALLY_ADDRESS_CHAINED;
	return address;
}

/* Enters user addresses into the tally. */
static int add_addresses(struct epoch_stacks *stacks, struct tally *tally, uint32_t image,
			 const uint64_t *addresses, uint32_t n, uint32_t tgid)
{
	const struct known_frames known = known_frames(stacks, tgid);

	for (uint32_t i = 0; i < n; i++) {
		struct tally_address address = address_of(addresses[i], image, i == 0);
		uint32_t *id = &stacks->user_frames[stacks->n_user_frames];
		int r = is_known(tally, &known, n - 1 - i, &address, id)
				? 0
				: tally_address(tally, &address, id);

		if (r < 0)
			return r;
		stacks->n_user_frames++;
	}
	return 0;
}

static bool is_wanted(const struct epoch_stacks *stacks, const struct wire_stack *stack)
{
	char comm[WIRE_COMM_SIZE + 1] = "";

	memcpy(comm, stack->comm, WIRE_COMM_SIZE);
	return stack->flags & WIRE_STACK_WAKER || !stacks->options.name ||
	       fnmatch(stacks->options.name, comm, 0) == 0;
}

/*
 * Copies the user frames. Functions that may be those of other native frames are not told. Where
 * the BPF program did not know of the interpreter yet, or user space has finished the walk,
 * evaluators' frames get one that says so. Returns how many there are.
 */
static uint32_t mark_evaluators(const struct epoch_stacks *stacks, const struct wire_stack *stack,
				const uint64_t *frames, uint32_t image, uint64_t *to)
{
	bool all_known = stack->flags & WIRE_STACK_PROGRAM && stack->kind != WIRE_KIND_UNFINISHED;
	bool unpaired = stack->flags & WIRE_STACK_UNPAIRED;
	uint32_t n = 0;

	for (uint32_t i = 0; i < stack->n_user && n < WIRE_MAX_DEPTH; i++) {
		uint64_t language = WIRE_LANGUAGE_NONE, address = frames[i] & WIRE_FRAME_ADDRESS;

		if (unpaired && frames[i] & WIRE_FRAME_CODE) {
			uint64_t unmatched = WIRE_FRAME_CODE | WIRE_CODE_UNMATCHED |
					     (frames[i] & WIRE_FRAME_LANGUAGE);

			if (i == 0 || !(frames[i - 1] & WIRE_FRAME_CODE))
				to[n++] = unmatched;
			continue;
		}
		if (!all_known && stacks->options.interpreters && !(frames[i] & WIRE_FRAME_CODE) &&
		    (i == 0 || !(frames[i - 1] & WIRE_FRAME_CODE)))
			language = interpreters_evaluator(stacks->options.interpreters, image,
							  address);
		if (language && n + 1 < WIRE_MAX_DEPTH)
			to[n++] = WIRE_FRAME_CODE | language << WIRE_FRAME_LANGUAGE_SHIFT |
				  WIRE_CODE_EARLY;
		to[n++] = frames[i];
	}
	return n;
}

/* Learns what the process has mapped, and enters the user frames. */
static int add_user(struct epoch_stacks *stacks, struct tally *tally,
		    const struct wire_stack *stack, const uint64_t *frames)
{
	uint64_t addresses[WIRE_MAX_DEPTH];
	uint32_t image = IMAGE_NONE, n = 0;
	int r;

	for (uint32_t i = 0; i < stack->n_user; i++)
		if (!(frames[i] & WIRE_FRAME_CODE))
			addresses[n++] = frames[i] & WIRE_FRAME_ADDRESS;
	if (stack->n_user > 0) {
		r = images_learn(stacks->options.images, (pid_t)stack->tgid, stack->image,
				 stack->time, addresses, n, &image);
		if (r < 0)
			return r;
	}
	if (stack->cgroup) {
		r = images_learn_cgroup(stacks->options.images, stack->cgroup);
		if (r < 0)
			return r;
	}
	n = mark_evaluators(stacks, stack, frames, image, addresses);
	return add_addresses(stacks, tally, image, addresses, n, stack->tgid);
}

/* Adds a stack: to the index of hashes, unless it comes with its own count. */
static int add_stack(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames, uint64_t count)
{
	bool wanted = is_wanted(stacks, stack);
	uint64_t first = stacks->n_user_frames;
	struct counted_stack *counted;
	int r = wanted ? add_user(stacks, tally, stack, frames + stack->n_kernel) : 0;

	if (r == 0 && (!count || stacks->options.timed))
		r = index_add(&stacks->index, stack->hash.low, stacks->n);
	if (r < 0) {
		stacks->n_user_frames = first;
		return r;
	}
	stacks->last[stack->tgid % LAST_STACKS] = stacks->n;
	counted = &stacks->items[stacks->n++];
	*counted = (struct counted_stack){
		.hash = stack->hash,
		.cgroup = stack->cgroup,
		.first_user = first,
		.first_kernel = stacks->n_kernel_frames,
		.count = count,
		.seen = stacks->cleared,
		.tgid = stack->tgid,
		.tid = stack->tid,
		.n_kernel = stack->n_kernel,
		.n_user = (uint16_t)(stacks->n_user_frames - first),
		.flags = stack->flags,
		.end = stack->end,
		.wanted = wanted,
	};
	memcpy(counted->comm, stack->comm, sizeof(counted->comm));
	if (wanted && stack->n_kernel) {
		memcpy(stacks->kernel_frames + stacks->n_kernel_frames, frames,
		       stack->n_kernel * sizeof(*frames));
		stacks->n_kernel_frames += stack->n_kernel;
	}
	return 0;
}

int epoch_stacks_take(struct epoch_stacks *stacks, struct tally *tally, const void *data,
		      size_t size)
{
	const struct wire_stack *stack = data;
	const uint64_t *frames = (const uint64_t *)(stack + 1);
	struct counted_stack *known;
	int r;

	if (size < sizeof(*stack) || stack->n_kernel > WIRE_MAX_DEPTH ||
	    stack->n_user > WIRE_MAX_DEPTH || stack->end >= WIRE_N_ENDS ||
	    size != sizeof(*stack) + ((size_t)stack->n_kernel + stack->n_user) * sizeof(uint64_t))
		return -EPROTO;
	known = find(stacks, &stack->hash);
	if (known) {
		known->seen = stacks->cleared;
		return 0;
	}
	if (!hash_is_right(stacks, stack, size))
		return -EPROTO;
	r = make_room(stacks, stack);
	return r < 0 ? r : add_stack(stacks, tally, stack, frames, 0);
}

int epoch_stacks_add(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames, uint64_t count)
{
	int r = make_room(stacks, stack);

	return r < 0 || (!count && !stacks->options.timed)
		       ? r
		       : add_stack(stacks, tally, stack, frames, count);
}

static uint32_t user_flags(const struct counted_stack *counted)
{
	uint32_t flags = TALLY_STACK_ENDED(counted->end);

	if (counted->flags & WIRE_STACK_USER_CUT || counted->end == WIRE_END_DEPTH)
		flags |= TALLY_STACK_CUT;
	if (counted->flags & WIRE_STACK_ASSUMED)
		flags |= TALLY_STACK_ASSUMED;
	return flags;
}

/* A frame of a stack that was off the CPU, but no function: its leaf, or what stands for the rest.
 */
static int add_mark(struct tally *tally, enum code_off_cpu what, uint32_t *ret_id)
{
	const struct tally_address leaf = { .address = code_off_cpu_address(what),
					    .image = TALLY_IMAGE_KERNEL,
					    .flags = TALLY_ADDRESS_CODE };

	return tally_address(tally, &leaf, ret_id);
}

/* The kernel frames of a stack without those of the tracing; and flags of the tally's stack. */
static const uint64_t *own_kernel_frames(const struct epoch_stacks *stacks,
					 const struct counted_stack *counted, uint32_t *ret_n,
					 uint32_t *ret_flags)
{
	const uint64_t *frames = stacks->kernel_frames + counted->first_kernel;
	uint32_t n = counted->n_kernel, skipped;

	*ret_flags = counted->flags & WIRE_STACK_KERNEL_CUT ? TALLY_STACK_CUT : 0;
	*ret_n = n;
	if (!stacks->options.tracepoint_frames)
		return frames;
	skipped = tracepoint_frames_count(stacks->options.tracepoint_frames, frames, n);
	*ret_n = n - skipped;
	if (*ret_n >= stacks->options.kernel_depth) {
		*ret_n = stacks->options.kernel_depth;
		*ret_flags = TALLY_STACK_CUT;
	}
	return frames + skipped;
}

/*
 * Enters the kernel stack, without the frames of the tracing itself, into the tally; below the
 * leaf, if there is one.
 */
static int add_kernel(const struct epoch_stacks *stacks, struct tally *tally,
		      const struct counted_stack *counted, enum code_off_cpu leaf,
		      uint32_t *ret_stack)
{
	uint32_t ids[WIRE_MAX_DEPTH + 2], n, flags, at = 0;
	const uint64_t *frames = own_kernel_frames(stacks, counted, &n, &flags);
	/* Of tracing, and of a thread off the CPU, even the first is a return address. */
	bool exact = !leaf && frames == stacks->kernel_frames + counted->first_kernel;

	if (leaf) {
		int r = add_mark(tally, leaf, &ids[at++]);

		if (r < 0)
			return r;
		if (n == TALLY_MAX_FRAMES) {
			n--;
			flags = TALLY_STACK_CUT;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		struct tally_address address = {
			.address = frames[i],
			.image = TALLY_IMAGE_KERNEL,
			.flags = exact && i == 0 ? TALLY_ADDRESS_EXACT : 0,
		};
		int r = tally_address(tally, &address, &ids[at++]);

		if (r < 0)
			return r;
	}
	if (counted->flags & WIRE_STACK_UNREAD) {
		int r = add_mark(tally, CODE_OFF_CPU_UNREAD, &ids[at++]);

		if (r < 0)
			return r;
	}
	return tally_stack(tally, ids, at, flags, ret_stack);
}

/* Adds a count to a stack whose kernel stack is in the tally. */
static int add_to(const struct epoch_stacks *stacks, struct tally *tally,
		  const struct counted_stack *counted, uint64_t count, uint32_t kernel)
{
	struct tally_entry entry = { .count = count,
				     .cgroup = counted->cgroup,
				     .tgid = counted->tgid,
				     .tid = counted->tid,
				     .kernel = kernel };
	int r;

	memcpy(entry.comm, counted->comm, sizeof(entry.comm));
	r = tally_stack(tally, stacks->user_frames + counted->first_user, counted->n_user,
			user_flags(counted), &entry.user);
	if (r < 0)
		return r;
	r = tally_add(tally, &entry);
	/* -ENOSPC: the tally has counted the events it had no room for. */
	return r == -ENOSPC ? 0 : r;
}

/* Adds what was counted of a stack; `leaf` 0: none. */
static int add_entry(const struct epoch_stacks *stacks, struct tally *tally,
		     const struct counted_stack *counted, uint64_t count, enum code_off_cpu leaf)
{
	uint32_t kernel;
	int r = add_kernel(stacks, tally, counted, leaf, &kernel);

	return r < 0 ? r : add_to(stacks, tally, counted, count, kernel);
}

/* Adds a timed stack's ns. What is negative is due to be added yet, and is kept. */
static int add_time(const struct epoch_stacks *stacks, struct tally *tally,
		    const struct counted_stack *counted, int64_t *ns, enum code_off_cpu leaf)
{
	int r = 0;

	if (*ns <= 0)
		return 0;
	if (counted->wanted)
		r = add_entry(stacks, tally, counted, (uint64_t)*ns, leaf);
	*ns = 0;
	return r;
}

static int add_counted(const struct epoch_stacks *stacks, struct tally *tally,
		       struct counted_stack *counted)
{
	bool sampled = counted->flags & WIRE_STACK_SAMPLED;
	uint64_t each = sampled ? stacks->options.sample_ns : 1;
	int r;

	if (sampled || !stacks->options.timed)
		return counted->count && counted->wanted
			       ? add_entry(stacks, tally, counted, counted->count * each, 0)
			       : 0;
	r = add_time(stacks, tally, counted, &counted->blocked, CODE_OFF_CPU_BLOCKED);
	return r < 0 ? r
		     : add_time(stacks, tally, counted, &counted->waiting, CODE_OFF_CPU_WAITING);
}

/* ---- wakers ---- */

/* Frames of a kernel stack that is put together, leaf first, as ids of tally addresses. */
struct frame_ids {
	uint32_t list[TALLY_MAX_FRAMES];
	uint32_t n;
	int r; /* the first error */
};

static void put_id(struct frame_ids *ids, uint32_t id)
{
	if (ids->n < TALLY_MAX_FRAMES)
		ids->list[ids->n++] = id;
}

static void put_kernel(struct frame_ids *ids, struct tally *tally, uint64_t value, uint32_t flags)
{
	const struct tally_address address = { .address = value,
					       .image = TALLY_IMAGE_KERNEL,
					       .flags = flags };
	uint32_t id;
	int r = tally_address(tally, &address, &id);

	if (r == 0)
		put_id(ids, id);
	else if (ids->r == 0)
		ids->r = r;
}

static void put_code(struct frame_ids *ids, struct tally *tally, uint64_t code)
{
	put_kernel(ids, tally, code, TALLY_ADDRESS_CODE);
}

/* The name of a task that woke another, as the address of its code. */
static uint64_t waker_name(const struct epoch_stacks *stacks, const struct counted_stack *waker)
{
	char name[WIRE_COMM_SIZE + 1] = "";
	uint64_t id;

	memcpy(name, waker->comm, WIRE_COMM_SIZE);
	id = CODE_ID(hash_bytes(name, strlen(name))) | CODE_IDS;
	if (stacks->options.codes)
		codes_add(stacks->options.codes,
			  &(struct code){ .id = id, .name = name, .file = "" });
	return (uint64_t)CODE_WAKER << CODE_LANGUAGE_SHIFT | id;
}

/* A task, whose outermost frame comes first. As many frames have room as `room` tells. */
static void put_waker_task(struct frame_ids *ids, const struct epoch_stacks *stacks,
			   struct tally *tally, const struct counted_stack *waker, uint32_t room)
{
	uint32_t n = waker->n_user < room ? waker->n_user : room;
	const uint32_t *user = stacks->user_frames + waker->first_user;

	put_code(ids, tally, waker_name(stacks, waker));
	if (waker->n_user && tally_end_frame((enum tally_end)waker->end))
		put_code(ids, tally,
			 code_off_cpu_address((enum code_off_cpu)(CODE_WAKER_END + waker->end)));
	while (n > 0)
		put_id(ids, user[--n]);
}

/* Puts the frames of a waker, its name first; of an interrupt those that are its own. */
static void put_waker(struct frame_ids *ids, const struct epoch_stacks *stacks, struct tally *tally,
		      const struct counted_stack *waker, uint32_t n_target)
{
	uint32_t n, flags, n_interrupt = 0;
	const uint64_t *kernel = own_kernel_frames(stacks, waker, &n, &flags);
	bool timer = false;

	if (stacks->options.interrupts)
		n_interrupt = interrupt_frames_count(stacks->options.interrupts, kernel, n, &timer);
	if (n == 0)
		put_code(ids, tally, code_off_cpu_address(CODE_WAKER_UNKNOWN));
	else if (n_interrupt)
		put_code(ids, tally,
			 code_off_cpu_address(timer ? CODE_WAKER_TIMER : CODE_WAKER_INTERRUPT));
	else
		put_waker_task(ids, stacks, tally, waker, TALLY_MAX_FRAMES - n - n_target);
	if (n_interrupt)
		n = n_interrupt;
	while (n > 0)
		put_kernel(ids, tally, kernel[--n], 0);
}

/* Adds the time of a stack that was blocked until a waker came. */
static int add_woken(const struct epoch_stacks *stacks, struct tally *tally, struct woken *woken)
{
	const struct counted_stack *counted = find(stacks, &woken->stack);
	const struct counted_stack *waker = find(stacks, &woken->waker);
	struct frame_ids ids = { 0 };
	const uint64_t *kernel;
	uint32_t n, flags, stack;
	int r;

	if (woken->ns <= 0 || !counted || !waker)
		return 0;
	if (!counted->wanted) {
		woken->ns = 0;
		return 0;
	}
	kernel = own_kernel_frames(stacks, counted, &n, &flags);
	/* With the name, its end, the marks, and both kernel stacks. */
	if (n > TALLY_MAX_FRAMES / 3)
		n = TALLY_MAX_FRAMES / 3;
	put_waker(&ids, stacks, tally, waker, n + 4);
	put_code(&ids, tally, code_off_cpu_address(CODE_OFF_CPU_WOKEN));
	put_code(&ids, tally, code_off_cpu_address(CODE_OFF_CPU_BLOCKED));
	for (uint32_t i = 0; i < n; i++)
		put_kernel(&ids, tally, kernel[i], 0);
	r = ids.r < 0 ? ids.r : tally_stack(tally, ids.list, ids.n, flags, &stack);
	if (r == 0)
		r = add_to(stacks, tally, counted, (uint64_t)woken->ns, stack);
	woken->ns = 0;
	return r;
}

static int flush_woken(struct epoch_stacks *stacks, struct tally *tally)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < stacks->n_woken; i++)
		r = add_woken(stacks, tally, &stacks->woken[i]);
	return r;
}

static struct woken *find_woken(const struct epoch_stacks *stacks, const struct wire_hash *stack,
				const struct wire_hash *waker)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&stacks->woken_index, woken_hash(stack, waker), &cursor);
	     at != INDEX_NONE; at = index_next(&stacks->woken_index, &cursor)) {
		struct woken *woken = &stacks->woken[at];

		if (woken->stack.low == stack->low && woken->stack.high == stack->high &&
		    woken->waker.low == waker->low && woken->waker.high == waker->high)
			return woken;
	}
	return NULL;
}

int epoch_stacks_woken(struct epoch_stacks *stacks, const struct wire_hash *hash,
		       const struct wire_hash *waker, int64_t ns)
{
	struct woken *woken = find_woken(stacks, hash, waker);
	int r;

	if (woken) {
		woken->ns += ns;
		return 0;
	}
	if (!find(stacks, hash) || !find(stacks, waker))
		return -ENOENT;
	r = grow(&stacks->woken, &stacks->woken_room, stacks->n_woken + 1);
	if (r == 0)
		r = index_add(&stacks->woken_index, woken_hash(hash, waker), stacks->n_woken);
	if (r < 0)
		return r;
	stacks->woken[stacks->n_woken++] = (struct woken){ *hash, *waker, ns };
	return 0;
}

int epoch_stacks_time(struct epoch_stacks *stacks, const struct wire_hash *hash, int64_t blocked,
		      int64_t waiting)
{
	struct counted_stack *counted = find(stacks, hash);

	if (!counted)
		return -ENOENT;
	counted->blocked += blocked;
	counted->waiting += waiting;
	return 0;
}

void epoch_stacks_hold(struct epoch_stacks *stacks, const struct wire_hash *hash)
{
	struct counted_stack *counted = find(stacks, hash);

	if (counted)
		counted->seen = stacks->cleared;
}

int epoch_stacks_count(struct epoch_stacks *stacks, const struct wire_hash *hash, uint64_t count)
{
	struct counted_stack *counted = find(stacks, hash);

	if (!counted)
		return -ENOENT;
	counted->count += count;
	return 0;
}

int epoch_stacks_flush(struct epoch_stacks *stacks, struct tally *tally, uint64_t *ret_count,
		       uint64_t *ret_unwanted)
{
	uint64_t count = 0, unwanted = 0;

	for (uint32_t i = 0; i < stacks->n; i++) {
		struct counted_stack *counted = &stacks->items[i];
		int r = add_counted(stacks, tally, counted);

		if (!counted->wanted && stacks->options.others)
			r = comms_add(stacks->options.others, counted->comm, counted->count);
		if (r < 0)
			return r;
		count += counted->count;
		unwanted += counted->wanted ? 0 : counted->count;
		counted->count = 0; /* timed stacks stay */
	}
	*ret_count = count;
	*ret_unwanted = unwanted;
	return flush_woken(stacks, tally);
}
