// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/epoch_stacks_internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "bpf/stack_hash.h"
#include "interpreters/interpreters.h"
#include "tally/languages.h"

_Static_assert((int)WIRE_N_ENDS == (int)TALLY_N_ENDS && (int)WIRE_END_JIT == (int)TALLY_END_JIT &&
		       (int)WIRE_END_NO_ROW == (int)TALLY_END_NO_ROW,
	       "enum tally_end has the values of enum wire_end");

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

/* Values may still come for a stack that was seen in this epoch or in the one before it. */
static bool is_over(const struct epoch_stacks *stacks, const struct counted_stack *counted)
{
	return !counted->blocked && !counted->waiting && !counted->values.n &&
	       stacks->cleared - counted->seen > 1;
}

int epoch_stacks_keep(struct epoch_stacks *stacks)
{
	uint32_t n = 0;
	int r = epoch_stacks_keep_woken(stacks);

	if (r < 0)
		return r;
	stacks->cleared++;
	index_free(&stacks->index);
	stacks->n_user_frames = stacks->n_kernel_frames = 0;
	for (uint32_t i = 0; i < stacks->n; i++) {
		struct counted_stack counted = stacks->items[i];

		if (is_over(stacks, &counted))
			continue;
		if (counted.n_user)
			memmove(stacks->user_frames + stacks->n_user_frames,
				stacks->user_frames + counted.first_user,
				counted.n_user * sizeof(*stacks->user_frames));
		counted.first_user = stacks->n_user_frames;
		stacks->n_user_frames += counted.n_user;
		if (counted.wanted && counted.n_kernel) {
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

struct counted_stack *epoch_stacks_find(const struct epoch_stacks *stacks,
					const struct wire_hash *hash)
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
	struct wire_hash hash =
		stack_hash_of(stacks->options.seed, (const char *)stack + WIRE_HASH_FROM,
			      (size - WIRE_HASH_FROM) / sizeof(uint64_t));

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

/* The page of vsyscalls lies above the bits of a frame's address. */
static uint64_t whole_address(uint64_t frame)
{
	uint64_t address = frame & WIRE_FRAME_ADDRESS;
	uint64_t vsyscall = WIRE_VSYSCALL & WIRE_FRAME_ADDRESS;

	return address >> WIRE_VSYSCALL_BITS == vsyscall >> WIRE_VSYSCALL_BITS
		       ? address | ~WIRE_FRAME_ADDRESS
		       : address;
}

/*
 * Frames are return addresses, but for the leaf, what a signal interrupted, and the trampoline to
 * which the signal's handler returns: the kernel has put its first byte there. The outermost frame
 * may be the first byte of a stub, too, to which makecontext() has a function return; in stubs that
 * call, the byte behind the call is the stub's as well.
 */
static bool is_instruction(const uint64_t *frames, uint32_t n, uint32_t i, bool ends_in_stub)
{
	if (i + 1 == n)
		return i == 0 || frames[i] & WIRE_FRAME_EXACT || ends_in_stub;
	return i == 0 || frames[i] & WIRE_FRAME_EXACT ||
	       (frames[i + 1] & WIRE_FRAME_EXACT && !(frames[i + 1] & WIRE_FRAME_SCRIPT));
}

/* What the tally has of a user frame. */
static struct tally_address address_of(uint64_t frame, uint32_t image, bool is_instruction)
{
	struct tally_address address = {
		.address = whole_address(frame),
		.image = image,
		.flags = is_instruction ? TALLY_ADDRESS_EXACT : 0,
	};

	if (frame & WIRE_FRAME_SCRIPT)
		return (struct tally_address){
			.address = frame & (WIRE_FRAME_ADDRESS | WIRE_FRAME_LANGUAGE),
			.image = image,
			.flags = TALLY_ADDRESS_SCRIPT,
		};
	if (frame & WIRE_FRAME_POINTER)
		address.flags |= TALLY_ADDRESS_CHAINED;
	return address;
}

/* Enters user addresses into the tally. */
static int add_addresses(struct epoch_stacks *stacks, struct tally *tally, uint32_t image,
			 const uint64_t *addresses, uint32_t n, const struct wire_stack *stack)
{
	const struct known_frames known = known_frames(stacks, stack->tgid);
	bool ends_in_stub = stack->end == WIRE_END_ENTRY;

	for (uint32_t i = 0; i < n; i++) {
		bool exact = is_instruction(addresses, n, i, ends_in_stub);
		struct tally_address address = address_of(addresses[i], image, exact);
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

static uint64_t user_frame(const struct epoch_stacks *stacks, uint64_t frame)
{
	return stacks->options.unmarked ? frame & WIRE_FRAME_ADDRESS : frame;
}

/* Whether a frame is a function that may be that of another native frame. */
static bool is_unpaired(const struct wire_stack *stack, uint64_t frame)
{
	uint32_t language = (frame & WIRE_FRAME_LANGUAGE) >> WIRE_FRAME_LANGUAGE_SHIFT;

	return frame & WIRE_FRAME_SCRIPT && language && language < N_LANGUAGES &&
	       stack->unpaired & WIRE_UNPAIRED(language);
}

/*
 * Copies the user frames. Functions that may be those of other native frames are not told. Where
 * the BPF program did not know of the interpreter yet, or user space has finished the walk,
 * evaluators' frames get one that says so: where functions each have one of those, the
 * first of several. Returns how many there are.
 */
static uint32_t mark_evaluators(const struct epoch_stacks *stacks, const struct wire_stack *stack,
				const uint64_t *frames, uint32_t image, uint64_t *to)
{
	bool all_known = stack->flags & WIRE_STACK_PROGRAM && stack->kind != WIRE_KIND_UNFINISHED;
	uint64_t language = LANGUAGE_NONE;
	uint32_t n = 0;

	for (uint32_t i = 0; i < stack->n_user && n < WIRE_MAX_DEPTH; i++) {
		uint64_t before = language, frame = user_frame(stacks, frames[i]);

		language = LANGUAGE_NONE;

		if (is_unpaired(stack, frame)) {
			uint64_t unmatched = WIRE_FRAME_SCRIPT | WIRE_SCRIPT_UNMATCHED |
					     (frame & WIRE_FRAME_LANGUAGE);

			if (i == 0 || !is_unpaired(stack, frames[i - 1]) ||
			    (frames[i - 1] ^ frame) & WIRE_FRAME_LANGUAGE)
				to[n++] = unmatched;
			continue;
		}
		if (!all_known && stacks->options.interpreters && !(frame & WIRE_FRAME_SCRIPT) &&
		    (i == 0 || !(frames[i - 1] & WIRE_FRAME_SCRIPT)))
			language = interpreters_evaluator(stacks->options.interpreters, image,
							  frame & WIRE_FRAME_ADDRESS);
		if (language && n + 1 < WIRE_MAX_DEPTH &&
		    (!language_look((uint32_t)language)->has_frames || before != language))
			to[n++] = WIRE_FRAME_SCRIPT | language << WIRE_FRAME_LANGUAGE_SHIFT |
				  WIRE_SCRIPT_EARLY;
		to[n++] = frame;
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
		if (!(user_frame(stacks, frames[i]) & WIRE_FRAME_SCRIPT))
			addresses[n++] = frames[i] & WIRE_FRAME_ADDRESS;
	if (stack->n_user > 0) {
		tally_charge(tally, images_bytes(stacks->options.images));
		images_set_full(stacks->options.images, tally_is_full(tally));
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
	return add_addresses(stacks, tally, image, addresses, n, stack);
}

/* Adds a stack: to the index of hashes, too, if it is `hashed`. */
static int add_stack(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames, uint64_t count,
		     bool hashed)
{
	bool wanted = is_wanted(stacks, stack);
	uint64_t first = stacks->n_user_frames;
	struct counted_stack *counted;
	int r = wanted ? add_user(stacks, tally, stack, frames + stack->n_kernel) : 0;
	bool lost = r == -EDQUOT;

	if (lost) {
		stacks->n_user_frames = first;
		r = 0;
	}
	if (r == 0 && hashed)
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
		.lost = lost,
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
	known = epoch_stacks_find(stacks, &stack->hash);
	if (known) {
		known->seen = stacks->cleared;
		return 0;
	}
	if (!hash_is_right(stacks, stack, size))
		return -EPROTO;
	r = make_room(stacks, stack);
	return r < 0 ? r : add_stack(stacks, tally, stack, frames, 0, true);
}

int epoch_stacks_add(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames)
{
	int r = make_room(stacks, stack);

	return r < 0 ? r : add_stack(stacks, tally, stack, frames, 1, false);
}

int epoch_stacks_enter(struct epoch_stacks *stacks, struct tally *tally,
		       const struct wire_stack *stack, const uint64_t *frames, uint64_t count)
{
	int r = make_room(stacks, stack);

	return r < 0 ? r : add_stack(stacks, tally, stack, frames, count, true);
}

int epoch_stacks_time(struct epoch_stacks *stacks, const struct wire_hash *hash, int64_t blocked,
		      int64_t waiting)
{
	struct counted_stack *counted = epoch_stacks_find(stacks, hash);

	if (!counted)
		return -ENOENT;
	counted->blocked += blocked;
	counted->waiting += waiting;
	return 0;
}

int epoch_stacks_sum(struct epoch_stacks *stacks, const struct wire_hash *hash,
		     const struct stack_sum *sum)
{
	struct counted_stack *counted = epoch_stacks_find(stacks, hash);

	if (!counted)
		return -ENOENT;
	counted->values.n += sum->n;
	if (__builtin_add_overflow(counted->values.sum, sum->sum, &counted->values.sum))
		counted->values.sum = UINT64_MAX;
	if (sum->largest > counted->values.largest)
		counted->values.largest = sum->largest;
	return 0;
}

void epoch_stacks_hold(struct epoch_stacks *stacks, const struct wire_hash *hash)
{
	struct counted_stack *counted = epoch_stacks_find(stacks, hash);

	if (counted)
		counted->seen = stacks->cleared + 1;
}

bool epoch_stacks_hold_all(struct epoch_stacks *stacks, uint32_t most)
{
	if (stacks->n >= most)
		return false;
	for (uint32_t i = 0; i < stacks->n; i++)
		stacks->items[i].seen = stacks->cleared + 1;
	return true;
}

int epoch_stacks_count(struct epoch_stacks *stacks, const struct wire_hash *hash, uint64_t count)
{
	struct counted_stack *counted = epoch_stacks_find(stacks, hash);

	if (!counted)
		return -ENOENT;
	counted->count += count;
	return 0;
}
