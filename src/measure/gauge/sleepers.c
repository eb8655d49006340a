// SPDX-License-Identifier: GPL-2.0-or-later
#include "gauge/sleepers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "bpf/off_cpu_wire.h"
#include "bpf/stack_hash.h"
#include "gauge/threads.h"
#include "process/remote_memory.h"
#include "process/waits.h"
#include "stacktally.skel.h"
#include "user_walk/user_walk.h"

_Static_assert(THREAD_WAIT_SIZE == WAIT_TEXT_SIZE, "the text is copied");
_Static_assert(WIRE_REST_MAX <= REMOTE_MEMORY_MAX, "a copy of a stack is one read");

struct sleeper {
	struct found_thread is;
	struct wire_hash stack; /* the key of its times until it leaves a CPU again */
	uint64_t image;
	uint64_t left;	  /* when it left its CPU, by CLOCK_MONOTONIC; 0: not known */
	uint64_t *frames; /* of the kernel; NULL: not known */
	uint32_t n_frames;
	bool walked;
};

/* Where no program tells of threads that wake up: so long those that did are walked anew. */
#define AGAIN_NS (20 * NS_PER_MS)

struct sleepers {
	const struct plan *plan;
	struct stacktally *skeleton;
	struct drain *drain;
	struct sleeper *list;
	uint32_t n, capacity;
	struct index by_stack, by_tid;
	struct remote_memory *memory;
	struct user_walk *user_walk; /* NULL: no stack was walked yet */
	bool watched;		     /* the programs tell of threads that wake up */
	int iterator;		     /* -1: not begun, or over */
};

/* A record as the BPF programs send it, for the unwinder. */
struct record {
	struct wire_stack stack;
	uint64_t frames[WIRE_SLEEPER_DEPTH + 1];
	struct wire_rest rest;
	unsigned char bytes[WIRE_REST_MAX];
};

static void own_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
}

/* ---- finding them ---- */

/* A key of its own for each thread, because its stack is not known yet. */
static struct wire_hash key_of(const struct sleepers *sleepers, const struct found_thread *is)
{
	const __u64 ids[] = { is->tid, is->tgid };

	return stack_hash_of(sleepers->skeleton->rodata->config.seed, ids, 2);
}

/* The bits of the kernel's task state that a letter in /proc stands for. */
static uint32_t state_bits(char letter)
{
	static const struct {
		char letter;
		uint32_t bits;
	} states[] = { { 'S', 1 }, { 'D', 2 }, { 'T', 4 }, { 't', 8 }, { 'I', 0x402 } };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].letter == letter)
			return states[i].bits;
	return 0;
}

/* Whether the plan asks for threads in this state. */
static bool state_counts(const struct plan_off_cpu *plan, char letter)
{
	return !plan->by_state || state_bits(letter) & plan->state;
}

/* Tells the programs of it. */
static int enter(const struct sleepers *sleepers, const struct found_thread *is)
{
	bool ready = is->state == 'R';
	struct wire_thread thread = { .stack = key_of(sleepers, is),
				      .out = WIRE_OUT_BEFORE,
				      .wake = ready ? WIRE_WAKE_BEFORE : 0,
				      .ran = is->ran,
				      .longest = WIRE_LONGEST,
				      .weight = 1 };
	int map = bpf_map__fd(sleepers->skeleton->maps.threads);

	thread.check = wire_thread_check(&thread);
	/* Full only if there are twice as many threads as when the map was made. */
	return bpf_map_update_elem(map, &is->tid, &thread, BPF_ANY) < 0 ? -errno : 0;
}

static int add_sleeper(void *context, const struct found_thread *is)
{
	struct sleepers *sleepers = context;
	struct wire_hash key = key_of(sleepers, is);
	int r;

	if (!state_counts(&sleepers->plan->off_cpu, is->state))
		return 0;
	r = grow(&sleepers->list, &sleepers->capacity, sleepers->n + 1);
	if (r == 0)
		r = index_add(&sleepers->by_stack, key.low, sleepers->n);
	if (r == 0)
		r = index_add(&sleepers->by_tid, hash_u64(is->tid), sleepers->n);
	if (r < 0)
		return r;
	sleepers->list[sleepers->n++] = (struct sleeper){ .is = *is, .stack = key };
	return enter(sleepers, is);
}

int sleepers_find(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		  struct sleepers **ret_sleepers, struct error *err)
{
	struct sleepers *sleepers = calloc(1, sizeof(*sleepers));
	int r;

	if (!sleepers)
		return error_set(err, -ENOMEM, "out of memory");
	*sleepers = (struct sleepers){ .plan = plan,
				       .skeleton = skeleton,
				       .drain = drain,
				       .watched = bpf_program__autoload(skeleton->progs.on_switch),
				       .iterator = -1 };
	r = remote_memory_new(&sleepers->memory);
	if (r < 0) {
		sleepers_free(sleepers);
		return error_set(err, r, "cannot start a thread: %s", strerror(-r));
	}
	r = threads_each(plan, skeleton, add_sleeper, sleepers);
	if (r < 0) {
		sleepers_free(sleepers);
		return error_set(err, r, "cannot list the threads in /proc: %s", strerror(-r));
	}
	*ret_sleepers = sleepers;
	return 0;
}

void sleepers_free(struct sleepers *sleepers)
{
	if (!sleepers)
		return;
	for (uint32_t i = 0; i < sleepers->n; i++)
		free(sleepers->list[i].frames);
	free(sleepers->list);
	index_free(&sleepers->by_stack);
	index_free(&sleepers->by_tid);
	own_fd(&sleepers->iterator);
	user_walk_free(sleepers->user_walk);
	remote_memory_free(sleepers->memory);
	free(sleepers);
}

/* ---- walking them ---- */

static struct sleeper *find_thread(const struct sleepers *sleepers, uint32_t tid)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&sleepers->by_tid, hash_u64(tid), &cursor); at != INDEX_NONE;
	     at = index_next(&sleepers->by_tid, &cursor))
		if (sleepers->list[at].is.tid == tid)
			return &sleepers->list[at];
	return NULL;
}

/*
 * Whether it has slept since it was found, so that its stack has not changed. Where no program
 * tells of those that wake up, the scheduler's count of its time on CPUs does.
 */
static bool still_sleeps(const struct sleepers *sleepers, const struct sleeper *sleeper)
{
	int map = bpf_map__fd(sleepers->skeleton->maps.threads);
	struct wire_thread thread;

	if (!sleepers->watched)
		return sleeper->is.state != 'R' && !threads_has_run(&sleeper->is);
	return bpf_map_lookup_elem(map, &sleeper->is.tid, &thread) == 0 &&
	       thread.out == WIRE_OUT_BEFORE && !thread.wake;
}

static struct wire_stack stack_of(const struct sleepers *sleepers, const struct sleeper *sleeper)
{
	struct wire_stack stack = { .hash = sleeper->stack,
				    .time = monotonic_ns(),
				    .image = sleeper->image,
				    .tgid = sleeper->is.tgid,
				    .flags = WIRE_STACK_ASLEEP,
				    .tid = sleepers->plan->per_thread ? sleeper->is.tid : 0,
				    .cgroup = sleeper->is.cgroup };

	memcpy(stack.comm, sleeper->is.comm, sizeof(stack.comm));
	return stack;
}

static int keep_kernel_stack(struct sleeper *sleeper, const struct wire_sleeper *is)
{
	uint64_t now = monotonic_ns();

	sleeper->image = is->image;
	sleeper->left = is->away && is->away < now ? now - is->away : 0;
	if (!is->n_kernel || sleeper->frames)
		return 0;
	sleeper->frames = reallocarray(NULL, is->n_kernel, sizeof(*sleeper->frames));
	if (!sleeper->frames)
		return -ENOMEM;
	memcpy(sleeper->frames, is->frames, is->n_kernel * sizeof(*sleeper->frames));
	sleeper->n_frames = is->n_kernel;
	return 0;
}

/* The bytes of the stack that can be read from its pointer on. */
static uint32_t copy_stack(const struct sleepers *sleepers, uint32_t tgid,
			   const struct wire_sleeper *is, void *bytes)
{
	const struct remote_place from = { (pid_t)tgid, (pid_t)is->tid,
					   is->walk.registers[UNWIND_SP] };
	uint64_t size = is->stack_start - from.address;

	return (uint32_t)remote_memory_read(sleepers->memory, &from, bytes,
					    size < WIRE_REST_MAX ? size : WIRE_REST_MAX);
}

/* Has the unwinder finish a walk that is at its first frame. */
static int defer(const struct sleepers *sleepers, struct sleeper *sleeper,
		 const struct wire_sleeper *is, struct unwinder *unwinder)
{
	own(own_free) struct record *record = calloc(1, sizeof(*record));
	struct wire_rest rest = { .walk = is->walk };
	unsigned char *end;

	if (!record)
		return -ENOMEM;
	record->stack = stack_of(sleepers, sleeper);
	record->stack.kind = WIRE_KIND_UNFINISHED;
	record->stack.n_kernel = (uint16_t)is->n_kernel;
	record->stack.n_user = 1;
	record->stack.end = WIRE_END_PENDING;
	memcpy(record->frames, is->frames, is->n_kernel * sizeof(uint64_t));
	record->frames[is->n_kernel] = is->walk.pc | (is->walk.exact ? WIRE_FRAME_EXACT : 0);
	rest.walk.known = UNWIND_ALL_KNOWN;
	rest.walk.tgid = is->tid;
	rest.walk.may_chain = sleepers->plan->unwind == PLAN_UNWIND_AUTO;
	rest.size = copy_stack(sleepers, sleeper->is.tgid, is, record->bytes);
	if (!still_sleeps(sleepers, sleeper))
		return 0;
	sleeper->walked = true;
	end = (unsigned char *)&record->frames[is->n_kernel + 1];
	memmove(end + sizeof(rest), record->bytes, rest.size);
	memcpy(end, &rest, sizeof(rest));
	return unwinder_defer(unwinder, record,
			      (size_t)(end - (unsigned char *)record) + sizeof(rest) + rest.size);
}

/*
 * Walks the user stack here and adds the whole: functions of interpreted programs are in memory
 * that no copy of the stack has. 1: a table is missing.
 */
static int walk_here(const struct sleepers *sleepers, struct sleeper *sleeper,
		     const struct wire_sleeper *is)
{
	const struct user_walk_thread thread = { .tgid = sleeper->is.tgid,
						 .tid = is->tid,
						 .pointer = is->thread_pointer,
						 .begin = &is->walk };
	struct wire_stack stack = stack_of(sleepers, sleeper);
	uint64_t frames[2 * WIRE_MAX_DEPTH];
	const uint64_t *user;
	int r = user_walk_stack(sleepers->user_walk, &thread, &stack, &user);

	if (r || !still_sleeps(sleepers, sleeper))
		return r;
	sleeper->walked = true;
	stack.kind = WIRE_KIND_STACK;
	stack.n_kernel = (uint16_t)is->n_kernel;
	memcpy(frames, is->frames, is->n_kernel * sizeof(*frames));
	memcpy(frames + is->n_kernel, user, stack.n_user * sizeof(*frames));
	return drain_enter(sleepers->drain, &stack, frames);
}

static int walk_user(const struct sleepers *sleepers, struct sleeper *sleeper,
		     const struct wire_sleeper *is, struct unwinder *unwinder)
{
	int r = user_walk_is_needed(sleepers->user_walk, sleeper->is.tgid)
			? walk_here(sleepers, sleeper, is)
			: 1;

	return r > 0 ? defer(sleepers, sleeper, is, unwinder) : r;
}

static int walk_one(const struct sleepers *sleepers, const struct wire_sleeper *is,
		    struct unwinder *unwinder)
{
	struct sleeper *sleeper = find_thread(sleepers, is->tid);
	int r;

	if (!sleeper || sleeper->walked || is->n_kernel > WIRE_SLEEPER_DEPTH ||
	    (sleepers->watched && !still_sleeps(sleepers, sleeper)))
		return 0;
	r = keep_kernel_stack(sleeper, is);
	if (r < 0)
		return r;
	if (is->end || !unwinder) {
		sleeper->walked = still_sleeps(sleepers, sleeper);
		return 0;
	}
	return walk_user(sleepers, sleeper, is, unwinder);
}

static int take_record(void *drain, const void *record, size_t size)
{
	return drain_take(drain, record, size);
}

static int prepare_user_walk(struct sleepers *sleepers, const struct unwinder *unwinder)
{
	const struct wire_config config = sleepers->skeleton->rodata->config;
	const struct user_walk_options options = {
		.config = &config,
		.unwind = unwinder_tables(unwinder),
		.interpreters = unwinder_interpreters(unwinder),
		.memory = sleepers->memory,
		.take = take_record,
		.context = sleepers->drain,
	};

	return unwinder && !sleepers->user_walk ? user_walk_new(&options, &sleepers->user_walk) : 0;
}

static int begin_walk(struct sleepers *sleepers, struct error *err)
{
	own(own_link) struct bpf_link *link =
		bpf_program__attach_iter(sleepers->skeleton->progs.on_sleeper, NULL);

	sleepers->iterator = link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
	return sleepers->iterator < 0 ? error_set(err, sleepers->iterator,
						  "cannot list the threads in the kernel: %s",
						  strerror(-sleepers->iterator))
				      : 0;
}

/* Forgets what was read of threads that had woken up. Whether they are to be walked anew. */
static bool find_again(struct sleepers *sleepers)
{
	bool found = false;

	if (sleepers->watched)
		return false;
	for (uint32_t i = 0; i < sleepers->n; i++) {
		struct sleeper *sleeper = &sleepers->list[i];

		if (sleeper->walked)
			continue;
		free(sleeper->frames);
		sleeper->frames = NULL;
		sleeper->n_frames = 0;
		found |= threads_read(sleeper->is.tid, &sleeper->is) &&
			 enter(sleepers, &sleeper->is) == 0;
	}
	return found;
}

/* Walks those that the kernel lists from now on; as sleepers_walk(). */
static int walk_listed(struct sleepers *sleepers, struct unwinder *unwinder, uint64_t until,
		       struct error *err)
{
	struct wire_sleeper is[4];
	ssize_t n;
	int r = 0;

	if (sleepers->iterator < 0 && (r = begin_walk(sleepers, err)) < 0)
		return r;
	while ((n = monotonic_ns() < until ? read(sleepers->iterator, is, sizeof(is)) : 0) > 0) {
		if ((size_t)n % sizeof(is[0]))
			return error_set(err, -EPROTO, "the kernel's list of threads is torn");
		for (size_t i = 0; r == 0 && i < (size_t)n / sizeof(is[0]); i++)
			r = walk_one(sleepers, &is[i], unwinder);
		if (r < 0)
			return error_set(err, r, "cannot walk the stack of a thread: %s",
					 strerror(-r));
		if (unwinder_is_full(unwinder))
			return 1;
	}
	r = n < 0 ? error_set(err, -errno, "cannot list the threads in the kernel: %s",
			      strerror(errno))
		  : 0;
	own_fd(&sleepers->iterator);
	sleepers->iterator = -1;
	return r;
}

int sleepers_walk(struct sleepers *sleepers, struct unwinder *unwinder, uint64_t until,
		  struct error *err)
{
	uint64_t again = 0; /* until then */
	int r = prepare_user_walk(sleepers, unwinder);

	if (r < 0)
		return error_set(err, r, "out of memory");
	do {
		r = walk_listed(sleepers, unwinder, until, err);
		if (!again)
			again = monotonic_ns() + AGAIN_NS;
	} while (r == 0 && find_again(sleepers) && monotonic_ns() < again);
	return r;
}

int sleepers_take(const struct sleepers *sleepers, const struct wire_hash *hash,
		  struct epoch_stacks *stacks, struct tally *tally)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&sleepers->by_stack, hash->low, &cursor); at != INDEX_NONE;
	     at = index_next(&sleepers->by_stack, &cursor)) {
		const struct sleeper *sleeper = &sleepers->list[at];
		struct wire_stack stack;

		if (sleeper->stack.low != hash->low || sleeper->stack.high != hash->high)
			continue;
		stack = stack_of(sleepers, sleeper);
		stack.n_kernel = (uint16_t)sleeper->n_frames;
		if (!sleeper->n_frames && (sleepers->plan->kernel || sleeper->image))
			stack.flags |= WIRE_STACK_UNREAD;
		return epoch_stacks_enter(stacks, tally, &stack, sleeper->frames, 0);
	}
	return -ENOENT;
}

/* ---- telling of them ---- */

/*
 * The scheduler's count of a thread's time on CPUs tells whether it ran before all this was read.
 * False: it has ended.
 */
static bool describe(const struct sleepers *sleepers, const struct sleeper *sleeper,
		     struct listed_thread *ret_thread)
{
	const struct found_thread *before = &sleeper->is;
	struct found_thread now = *before;
	struct thread_wait wait;
	bool waits = wait_read(sleepers->memory, before->tgid, before->tid, &wait);
	bool stayed = still_sleeps(sleepers, sleeper);

	/* What slept has not changed. */
	if ((sleepers->watched || !stayed) && !threads_read(before->tid, &now))
		return false;
	*ret_thread = (struct listed_thread){
		.tgid = before->tgid,
		.tid = before->tid,
		.state = now.state,
		.unread = !sleepers->watched && !sleeper->walked,
		.stayed = stayed && now.ran == before->ran,
	};
	memcpy(ret_thread->comm, now.comm, sizeof(ret_thread->comm));
	if (!ret_thread->stayed)
		return true;
	ret_thread->away_ns = sleeper->left ? monotonic_ns() - sleeper->left : 0;
	if (waits) {
		ret_thread->waits_for = wait.thread;
		memcpy(ret_thread->wait, wait.text, sizeof(ret_thread->wait));
	}
	return true;
}

bool sleepers_starve(const struct sleepers *sleepers)
{
	for (uint32_t i = 0; i < sleepers->n; i++)
		if (sleepers->list[i].is.state == 'R' && !threads_has_run(&sleepers->list[i].is))
			return true;
	return false;
}

int sleepers_list(const struct sleepers *sleepers, struct thread_list *list)
{
	for (uint32_t i = 0; i < sleepers->n; i++) {
		struct listed_thread thread;
		int r;

		if (!describe(sleepers, &sleepers->list[i], &thread))
			continue;
		r = thread_list_add(list, &thread);
		if (r < 0)
			return r;
	}
	return 0;
}
