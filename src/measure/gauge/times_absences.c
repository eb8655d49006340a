// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/grow.h"
#include "gauge/threads.h"
#include "gauge/times_internal.h"
#include "stacktally.skel.h"

/* How often a thread is copied again if the kernel side wrote to it meanwhile. */
#define COPIES 8

static int threads_map(const struct times *times)
{
	return bpf_map__fd(times->skeleton->maps.threads);
}

static bool is_whole(const struct wire_thread *thread)
{
	return thread->check == wire_thread_check(thread);
}

/* Copies a thread until the copy is consistent; false: the thread is gone. */
static bool copy_thread(const struct times *times, uint32_t tid, struct wire_thread *thread)
{
	for (int i = 0; i < COPIES && !is_whole(thread); i++)
		if (bpf_map_lookup_elem(threads_map(times), &tid, thread) < 0)
			return false;
	return is_whole(thread);
}

static int copy_threads(struct times *times)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t position, n = 0, capacity = times->max_threads;
	bool begun = false;
	int r = 0;

	while (r == 0 && n < capacity) {
		uint32_t more = capacity - n;

		r = bpf_map_lookup_batch(threads_map(times), begun ? &position : NULL, &position,
					 times->tids + n, times->threads + n, &more, &options);
		begun = true;
		if (r == 0 || r == -ENOENT)
			n += more;
	}
	times->n_threads = n;
	return r == -ENOENT ? 0 : r;
}

/*
 * For a thread without any event since before the measurement: 0 if it was on a CPU all the time,
 * WIRE_WAKE_BEFORE if it waited for one, UINT64_MAX if it slept. By now, after the end, it may have
 * been woken and have run: not for as long as one that was on a CPU all the time, of which the
 * scheduler has counted all but the last tick.
 */
static uint64_t wake_of_unseen(const struct times *times, uint32_t tid,
			       const struct wire_thread *thread, uint64_t end)
{
	struct found_thread now = { 0 };

	if (!threads_read(tid, &now) || now.ran - thread->ran > (end - times->began) / 2)
		return 0;
	return thread->wake && now.state == 'R' ? WIRE_WAKE_BEFORE : UINT64_MAX;
}

static bool counts(const struct times *times, uint64_t ns)
{
	const struct plan_off_cpu *plan = &times->plan->off_cpu;

	return ns >= plan->least_us * NS_IN_US &&
	       (!plan->most_us || ns <= plan->most_us * NS_IN_US);
}

/* The part of the absence before `now`; false: nothing. */
static bool credit_of(const struct times *times, uint32_t tid, const struct wire_thread *thread,
		      uint64_t now, struct credit *ret_credit)
{
	uint64_t out = thread->out < times->began ? times->began : thread->out;
	uint64_t wake = thread->wake, blocked, waiting;
	__u64 walk = thread->walk;

	if (!thread->weight || !thread->out || out >= now || !thread->stack.low ||
	    !counts(times, now - out))
		return false;
	if (thread->out == WIRE_OUT_BEFORE && wake <= WIRE_WAKE_BEFORE) {
		wake = wake_of_unseen(times, tid, thread, now);
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
static int give_credit(struct times *times, const struct credit *credit, struct credits *credits,
		       struct tally *tally)
{
	int r = grow(&credits->list, &credits->capacity, credits->n + 1);

	if (r < 0)
		return r;
	credits->list[credits->n++] = *credit;
	return times_add(times, &credit->place, (int64_t)credit->blocked, (int64_t)credit->waiting,
			 tally);
}

/* Subtracts earlier credits: the time was credited again, or the kernel side has added it. */
static int end_credits(struct times *times, struct tally *tally)
{
	for (uint32_t i = 0; i < times->credits.n; i++) {
		const struct credit *credit = &times->credits.list[i];
		int r = times_add(times, &credit->place, -(int64_t)credit->blocked,
				  -(int64_t)credit->waiting, tally);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Where only absences of some length count, unfinished ones are credited at the end only; those of
 * a dump, too, which has no report before it.
 */
static bool credits_now(const struct times *times, bool final)
{
	const struct plan *plan = times->plan;

	return final || (!plan->off_cpu.least_us && !plan->off_cpu.most_us && !plan->dump);
}

static void credits_clear(struct credits *credits)
{
	free(credits->list);
	*credits = (struct credits){ 0 };
}

int times_add_absences(struct times *times, uint64_t now, bool final, struct tally *tally)
{
	struct credits credits = { 0 };
	int r = copy_threads(times);

	for (uint32_t i = 0; r == 0 && i < times->n_threads; i++) {
		struct wire_thread *thread = &times->threads[i];
		uint32_t tid = times->tids[i];
		struct credit credit;

		if (!copy_thread(times, tid, thread) || !thread->out)
			continue;
		epoch_stacks_hold(times->stacks, &thread->stack);
		epoch_stacks_hold(times->stacks, &thread->waker);
		if (credits_now(times, final) && credit_of(times, tid, thread, now, &credit))
			r = give_credit(times, &credit, &credits, tally);
	}
	if (r == 0)
		r = end_credits(times, tally);
	credits_clear(&times->credits);
	times->credits = credits;
	return r;
}

void times_clear_absences(struct times *times)
{
	credits_clear(&times->credits);
}
