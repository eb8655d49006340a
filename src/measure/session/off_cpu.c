// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/off_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "session/off_cpu_sleepers.h"
#include "session/off_cpu_threads.h"
#include "stacktally.skel.h"

/* The map of threads has room for twice as many as there are now, and so many more. */
#define SPARE_THREADS 8192u

#define NS_IN_US 1000u

/* How often a thread is copied again if the kernel side wrote to it meanwhile. */
#define COPIES 8

/* The hashes of the stack where time was spent, and of the stack that ended it. */
struct place {
	struct wire_hash stack;
	struct wire_hash waker; /* low 0: none, or not known */
};

/* Times of a stack whose walk is not finished yet. */
struct early_time {
	struct place place;
	int64_t blocked, waiting;
};

/* The pairs of stacks that keys of an epoch's times stand for. */
struct pairs {
	struct wire_pair *list;
	uint32_t n, room;
	struct index index; /* by the key */
};

/* The part of an unfinished absence that was added already. */
struct credit {
	struct place place;
	uint64_t blocked, waiting;
};

struct credits {
	struct credit *list;
	uint32_t n, room;
};

struct off_cpu {
	const struct plan *plan;
	const struct kernel_side *side;
	struct epoch_stacks *stacks;
	struct wire_times *times;
	uint64_t began;
	struct early_time *early;
	uint32_t n_early, early_room;
	struct credits credits;
	struct pairs pairs[WIRE_EPOCHS];
	struct sleepers *sleepers; /* NULL before off_cpu_find_threads() */
	/* A copy of the map of threads. */
	uint32_t *tids;
	struct wire_thread *threads;
	uint32_t n_threads, max_threads;
	struct wire_off_cpu_counters before;
};

/* ---- configuration ---- */

void off_cpu_configure(const struct plan *plan, struct stacktally *skeleton, uint32_t sets)
{
	struct wire_off_cpu_config config = {
		.wakers = plan->off_cpu.wakers,
		.budget = plan->off_cpu.budget < 100
				  ? (uint32_t)(WIRE_BUDGET_WINDOW / 100 * plan->off_cpu.budget)
				  : 0,
		.least = plan->off_cpu.least_us * NS_IN_US,
		.most = plan->off_cpu.most_us ? plan->off_cpu.most_us * NS_IN_US : UINT64_MAX,
		.state = plan->off_cpu.state,
		.only = !plan->off_cpu.by_state ? WIRE_STATES_ALL
			: plan->off_cpu.state	? WIRE_STATES_SOME
						: WIRE_STATES_RUNNING,
	};

	bpf_map__set_autocreate(skeleton->maps.threads, plan->off_cpu.on);
	bpf_map__set_autocreate(skeleton->maps.times, plan->off_cpu.on);
	bpf_map__set_autocreate(skeleton->maps.off_cpu_counters, plan->off_cpu.on);
	bpf_map__set_autocreate(skeleton->maps.off_cpu_rooms, plan->off_cpu.on);
	bpf_map__set_autocreate(skeleton->maps.sleeper, plan->off_cpu.on);
	bpf_program__set_autoload(skeleton->progs.on_sleeper, plan->off_cpu.on);
	if (!plan->off_cpu.on)
		return;
	*(struct wire_off_cpu_config *)&skeleton->rodata->off_cpu = config;
	bpf_map__set_max_entries(skeleton->maps.times, sets);
	bpf_map__set_max_entries(skeleton->maps.threads,
				 2 * off_cpu_count_threads() + SPARE_THREADS);
}

static size_t times_size(const struct off_cpu *off_cpu)
{
	return off_cpu->side->n_sets * WIRE_EPOCHS * sizeof(struct wire_times);
}

static int threads_map(const struct off_cpu *off_cpu)
{
	return bpf_map__fd(off_cpu->side->skeleton->maps.threads);
}

int off_cpu_new(const struct plan *plan, const struct kernel_side *side,
		struct epoch_stacks *stacks, struct off_cpu **ret_off_cpu, struct error *err)
{
	struct off_cpu *off_cpu = calloc(1, sizeof(*off_cpu));
	void *times;

	if (!off_cpu)
		return error_set(err, -ENOMEM, "out of memory");
	*off_cpu = (struct off_cpu){ .plan = plan, .side = side, .stacks = stacks };
	off_cpu->max_threads = bpf_map__max_entries(side->skeleton->maps.threads);
	off_cpu->tids = calloc(off_cpu->max_threads, sizeof(*off_cpu->tids));
	off_cpu->threads = calloc(off_cpu->max_threads, sizeof(*off_cpu->threads));
	if (!off_cpu->tids || !off_cpu->threads) {
		off_cpu_free(off_cpu);
		return error_set(err, -ENOMEM, "out of memory");
	}
	times = mmap(NULL, times_size(off_cpu), PROT_READ | PROT_WRITE, MAP_SHARED,
		     bpf_map__fd(side->skeleton->maps.times), 0);
	if (times == MAP_FAILED) {
		int code = -errno;

		off_cpu_free(off_cpu);
		return error_set(err, code, "cannot map the times: %s", strerror(-code));
	}
	off_cpu->times = times;
	*ret_off_cpu = off_cpu;
	return 0;
}

static void credits_clear(struct credits *credits)
{
	free(credits->list);
	*credits = (struct credits){ 0 };
}

static void pairs_clear(struct pairs *pairs)
{
	free(pairs->list);
	index_free(&pairs->index);
	*pairs = (struct pairs){ 0 };
}

void off_cpu_free(struct off_cpu *off_cpu)
{
	if (!off_cpu)
		return;
	if (off_cpu->times)
		munmap(off_cpu->times, times_size(off_cpu));
	credits_clear(&off_cpu->credits);
	for (uint32_t i = 0; i < WIRE_EPOCHS; i++)
		pairs_clear(&off_cpu->pairs[i]);
	sleepers_free(off_cpu->sleepers);
	free(off_cpu->early);
	free(off_cpu->tids);
	free(off_cpu->threads);
	free(off_cpu);
}

/* ---- the beginning ---- */

int off_cpu_find_threads(struct off_cpu *off_cpu, struct error *err)
{
	return sleepers_find(off_cpu->plan, off_cpu->side, &off_cpu->sleepers, err);
}

void off_cpu_begin(struct off_cpu *off_cpu, uint64_t now)
{
	off_cpu->began = now;
	off_cpu->side->skeleton->bss->off_cpu_began = now;
}

int off_cpu_walk_threads(struct off_cpu *off_cpu, struct unwinder *unwinder, struct error *err)
{
	return sleepers_walk(off_cpu->sleepers, unwinder, err);
}

/* ---- times ---- */

/* Adds to a stack's times; -ENOENT: the stack is not known yet. */
static int add_stack_time(struct off_cpu *off_cpu, const struct wire_hash *stack, int64_t blocked,
			  int64_t waiting, struct tally *tally)
{
	int r = epoch_stacks_time(off_cpu->stacks, stack, blocked, waiting);

	if (r == -ENOENT && tally) {
		r = sleepers_take(off_cpu->sleepers, stack, off_cpu->stacks, tally);
		if (r == 0)
			r = epoch_stacks_time(off_cpu->stacks, stack, blocked, waiting);
	}
	return r;
}

static int add_known(struct off_cpu *off_cpu, const struct place *place, int64_t blocked,
		     int64_t waiting, struct tally *tally)
{
	int r;

	if (!place->waker.low)
		return add_stack_time(off_cpu, &place->stack, blocked, waiting, tally);
	/* Fails before anything is added if the stack is not known. */
	r = add_stack_time(off_cpu, &place->stack, 0, 0, tally);
	if (r == 0)
		r = epoch_stacks_woken(off_cpu->stacks, &place->stack, &place->waker, blocked);
	return r < 0 || !waiting ? r : add_stack_time(off_cpu, &place->stack, 0, waiting, tally);
}

static int add_time(struct off_cpu *off_cpu, const struct place *place, int64_t blocked,
		    int64_t waiting, struct tally *tally)
{
	int r = add_known(off_cpu, place, blocked, waiting, tally);

	if (r != -ENOENT)
		return r;
	r = grow(&off_cpu->early, &off_cpu->early_room, off_cpu->n_early + 1);
	if (r == 0)
		off_cpu->early[off_cpu->n_early++] =
			(struct early_time){ *place, blocked, waiting };
	return r;
}

static struct place place_of(const struct off_cpu *off_cpu, const struct wire_hash *key,
			     uint32_t epoch)
{
	const struct pairs *pairs = &off_cpu->pairs[epoch & (WIRE_EPOCHS - 1)];
	struct index_cursor cursor;

	for (uint32_t at = index_first(&pairs->index, key->low, &cursor); at != INDEX_NONE;
	     at = index_next(&pairs->index, &cursor)) {
		const struct wire_pair *pair = &pairs->list[at];

		if (pair->hash.low == key->low && pair->hash.high == key->high)
			return (struct place){ { pair->stack_low, pair->stack_high },
					       { pair->waker_low, pair->waker_high } };
	}
	return (struct place){ .stack = *key };
}

int off_cpu_take_pair(struct off_cpu *off_cpu, const struct wire_pair *pair)
{
	struct pairs *pairs = &off_cpu->pairs[pair->epoch & (WIRE_EPOCHS - 1)];
	int r = grow(&pairs->list, &pairs->room, pairs->n + 1);

	if (r == 0)
		r = index_add(&pairs->index, pair->hash.low, pairs->n);
	if (r == 0)
		pairs->list[pairs->n++] = *pair;
	return r;
}

int off_cpu_take(struct off_cpu *off_cpu, const struct wire_time *time)
{
	const struct place place = place_of(off_cpu, &time->hash, time->epoch);

	return add_time(off_cpu, &place, (int64_t)time->blocked, (int64_t)time->waiting, NULL);
}

/* Adds the early times whose stack has come by now. */
static int add_early(struct off_cpu *off_cpu, struct tally *tally)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < off_cpu->n_early; i++) {
		struct early_time early = off_cpu->early[i];
		int r = add_known(off_cpu, &early.place, early.blocked, early.waiting, tally);

		if (r == -ENOENT)
			off_cpu->early[n++] = early;
		else if (r < 0)
			return r;
	}
	off_cpu->n_early = n;
	return 0;
}

static int drain_times(struct off_cpu *off_cpu, uint32_t epoch, struct tally *tally)
{
	struct wire_times *sets = off_cpu->times + epoch * off_cpu->side->n_sets;

	for (uint64_t i = 0; i < off_cpu->side->n_sets; i++) {
		for (uint32_t way = 0; way < WIRE_TIMES; way++) {
			struct wire_hash hash = { sets[i].low[way], sets[i].high[way] };
			uint64_t blocked = sets[i].blocked[way], waiting = sets[i].waiting[way];
			struct place place;
			int r = 0;

			if (!blocked && !waiting)
				continue;
			sets[i].blocked[way] = sets[i].waiting[way] = 0;
			place = place_of(off_cpu, &hash, epoch);
			r = add_time(off_cpu, &place, (int64_t)blocked, (int64_t)waiting, tally);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* ---- threads that are off the CPU ---- */

static bool is_whole(const struct wire_thread *thread)
{
	return thread->check == wire_thread_check(thread);
}

/* Copies a thread until the copy is consistent; false: the thread is gone. */
static bool copy_thread(const struct off_cpu *off_cpu, uint32_t tid, struct wire_thread *thread)
{
	for (int i = 0; i < COPIES && !is_whole(thread); i++)
		if (bpf_map_lookup_elem(threads_map(off_cpu), &tid, thread) < 0)
			return false;
	return is_whole(thread);
}

static int copy_threads(struct off_cpu *off_cpu)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t position, n = 0, room = off_cpu->max_threads;
	bool begun = false;
	int r = 0;

	while (r == 0 && n < room) {
		uint32_t more = room - n;

		r = bpf_map_lookup_batch(threads_map(off_cpu), begun ? &position : NULL, &position,
					 off_cpu->tids + n, off_cpu->threads + n, &more, &options);
		begun = true;
		if (r == 0 || r == -ENOENT)
			n += more;
	}
	off_cpu->n_threads = n;
	return r == -ENOENT ? 0 : r;
}

/*
 * For a thread without any event since before the measurement: 0 if it was on a CPU all the time,
 * WIRE_WAKE_BEFORE if it waited for one, UINT64_MAX if it slept.
 */
static uint64_t wake_of_unseen(uint32_t tid, const struct wire_thread *thread)
{
	struct off_cpu_thread now = { 0 };

	if (!off_cpu_thread_read(tid, &now) || now.ran != thread->ran)
		return 0;
	return now.state == 'R' ? WIRE_WAKE_BEFORE : UINT64_MAX;
}

static bool counts(const struct off_cpu *off_cpu, uint64_t ns)
{
	const struct plan_off_cpu *plan = &off_cpu->plan->off_cpu;

	return ns >= plan->least_us * NS_IN_US &&
	       (!plan->most_us || ns <= plan->most_us * NS_IN_US);
}

/* The part of the absence before `now`; false: nothing. */
static bool credit_of(const struct off_cpu *off_cpu, uint32_t tid, const struct wire_thread *thread,
		      uint64_t now, struct credit *ret_credit)
{
	uint64_t out = thread->out < off_cpu->began ? off_cpu->began : thread->out;
	uint64_t wake = thread->wake, blocked, waiting;
	__u64 walk = thread->walk;

	if (!thread->weight || !thread->out || out >= now || !thread->stack.low ||
	    !counts(off_cpu, now - out))
		return false;
	if (thread->out == WIRE_OUT_BEFORE && wake <= WIRE_WAKE_BEFORE) {
		wake = wake_of_unseen(tid, thread);
		if (!wake)
			return false;
	}
	if (wake && wake < out)
		wake = out;
	if (!wake || wake > now)
		wake = now;
	blocked = wake - out;
	waiting = now - wake;
	if (thread->weight > 1) {
		blocked = wire_weighted(blocked, thread->weight, &walk);
		waiting = wire_weighted(waiting, thread->weight, &walk);
	}
	*ret_credit = (struct credit){ .place = { thread->stack, thread->waker },
				       .blocked = blocked,
				       .waiting = waiting };
	return true;
}

/* Adds the absence so far; end_credits() subtracts what was added of it before. */
static int give_credit(struct off_cpu *off_cpu, const struct credit *credit,
		       struct credits *credits, struct tally *tally)
{
	int r = grow(&credits->list, &credits->room, credits->n + 1);

	if (r < 0)
		return r;
	credits->list[credits->n++] = *credit;
	return add_time(off_cpu, &credit->place, (int64_t)credit->blocked, (int64_t)credit->waiting,
			tally);
}

/* Subtracts earlier credits: the time was credited again, or the kernel side has added it. */
static int end_credits(struct off_cpu *off_cpu, struct tally *tally)
{
	for (uint32_t i = 0; i < off_cpu->credits.n; i++) {
		const struct credit *credit = &off_cpu->credits.list[i];
		int r = add_time(off_cpu, &credit->place, -(int64_t)credit->blocked,
				 -(int64_t)credit->waiting, tally);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Where only absences of some length count, unfinished ones are credited at the end only. */
static bool credits_now(const struct off_cpu *off_cpu, bool final)
{
	return final || (!off_cpu->plan->off_cpu.least_us && !off_cpu->plan->off_cpu.most_us);
}

static int credit_threads(struct off_cpu *off_cpu, uint64_t now, bool final, struct tally *tally)
{
	struct credits credits = { 0 };
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < off_cpu->n_threads; i++) {
		struct wire_thread *thread = &off_cpu->threads[i];
		uint32_t tid = off_cpu->tids[i];
		struct credit credit;

		if (!copy_thread(off_cpu, tid, thread) || !thread->out)
			continue;
		epoch_stacks_hold(off_cpu->stacks, &thread->stack);
		epoch_stacks_hold(off_cpu->stacks, &thread->waker);
		if (credits_now(off_cpu, final) && credit_of(off_cpu, tid, thread, now, &credit))
			r = give_credit(off_cpu, &credit, &credits, tally);
	}
	if (r == 0)
		r = end_credits(off_cpu, tally);
	credits_clear(&off_cpu->credits);
	off_cpu->credits = credits;
	return r;
}

/* At the end: times whose stack has not come are lost. */
static void lose_early(struct off_cpu *off_cpu, struct tally_losses *losses)
{
	for (uint32_t i = 0; i < off_cpu->n_early; i++) {
		const struct early_time *early = &off_cpu->early[i];

		if (early->blocked + early->waiting > 0)
			losses->lost_time += (uint64_t)(early->blocked + early->waiting);
	}
	off_cpu->n_early = 0;
}

int off_cpu_drain(struct off_cpu *off_cpu, uint32_t epoch, uint64_t now, bool final,
		  struct tally *tally, struct error *err)
{
	int r = drain_times(off_cpu, epoch, tally);

	pairs_clear(&off_cpu->pairs[epoch]);
	if (r == 0)
		r = copy_threads(off_cpu);
	if (r == 0)
		r = credit_threads(off_cpu, now, final, tally);
	if (r == 0)
		r = add_early(off_cpu, tally);
	if (r == 0 && final)
		lose_early(off_cpu, tally_losses(tally));
	return r < 0 ? error_set(err, r, "cannot add up the time off the CPU: %s", strerror(-r))
		     : 0;
}

/* ---- losses ---- */

static int read_counters(const struct off_cpu *off_cpu, struct wire_off_cpu_counters *ret_sum)
{
	int map = bpf_map__fd(off_cpu->side->skeleton->maps.off_cpu_counters);
	int cpus = libbpf_num_possible_cpus();
	own(own_free) struct wire_off_cpu_counters *each = NULL;
	uint32_t zero = 0;

	if (cpus < 0)
		return cpus;
	each = calloc((uint32_t)cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(map, &zero, each) < 0)
		return -errno;
	*ret_sum = (struct wire_off_cpu_counters){ 0 };
	for (int i = 0; i < cpus; i++) {
		ret_sum->lost_time += each[i].lost_time;
		ret_sum->lost_threads += each[i].lost_threads;
		ret_sum->lost_ends += each[i].lost_ends;
		ret_sum->unwalked += each[i].unwalked;
	}
	return 0;
}

int off_cpu_losses(struct off_cpu *off_cpu, struct tally_losses *losses, struct error *err)
{
	struct wire_off_cpu_counters now;
	int r = read_counters(off_cpu, &now);

	if (r < 0)
		return error_set(err, r, "cannot read the counters: %s", strerror(-r));
	losses->lost_time += now.lost_time - off_cpu->before.lost_time;
	losses->lost_threads += now.lost_threads - off_cpu->before.lost_threads;
	losses->lost_ends += now.lost_ends - off_cpu->before.lost_ends;
	losses->unwalked += now.unwalked - off_cpu->before.unwalked;
	off_cpu->before = now;
	return 0;
}
