// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/dump.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "tally/scripts.h"

/* For each thread of the list. */
struct choice {
	const struct tally_entry *entry; /* with most of its time; NULL: none */
};

void dump_clear(struct dump *dump)
{
	thread_list_clear(&dump->list);
	tally_free(dump->tally);
	dump->tally = NULL;
}

int dump_look(struct dump *dump, const struct session *session)
{
	int r = session_threads(session, &dump->list);

	dump->list.took_ns = session_duration(session);
	thread_list_sort(&dump->list);
	for (uint32_t i = 0; r == 0 && i < dump->list.n; i++)
		if (dump->list.threads[i].unread)
			r = -EAGAIN;
	return r;
}

/* ---- what the measurement says of a thread ---- */

/* The reason why the thread was off the CPU, OFF_CPU_N_LEAVES if it was not: its leaf. */
static uint64_t leaf_of(const struct tally *tally, const struct tally_entry *entry)
{
	uint32_t id = entry->kernel < tally_n_stacks(tally) ? entry->kernel : entry->user;
	const struct tally_stack *stack;
	const struct tally_address *leaf;

	if (id >= tally_n_stacks(tally))
		return OFF_CPU_N_LEAVES;
	stack = &tally_stacks(tally)[id];
	leaf = &tally_addresses(tally)[tally_frames(tally, stack)[0]];
	return leaf->flags & TALLY_ADDRESS_SCRIPT && script_is_off_cpu(leaf->address)
		       ? SCRIPT_ID(leaf->address)
		       : OFF_CPU_N_LEAVES;
}

/* Whether the stack has frames beside those that say why the thread was off the CPU. */
static bool is_known(const struct tally *tally, uint32_t id)
{
	const struct tally_stack *stack;
	const struct tally_address *last;

	if (id >= tally_n_stacks(tally))
		return false;
	stack = &tally_stacks(tally)[id];
	last = &tally_addresses(tally)[tally_frames(tally, stack)[stack->n_frames - 1]];
	return stack->n_frames > tally_off_cpu_frames(tally, stack) &&
	       !(last->flags & TALLY_ADDRESS_SCRIPT && script_is_off_cpu(last->address));
}

static bool has_frames(const struct tally *tally, const struct tally_entry *entry)
{
	return is_known(tally, entry->user) || is_known(tally, entry->kernel);
}

static bool is_named(const struct run_report *report, const char *comm)
{
	const char *name = report->request->plan->filter.name;
	char text[TALLY_COMM_SIZE + 1] = "";

	memcpy(text, comm, TALLY_COMM_SIZE);
	return !name || fnmatch(name, text, 0) == 0;
}

/* Threads that began meanwhile. */
static int add_new(struct dump *dump, const struct tally *tally)
{
	uint32_t n = dump->list.n;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];
		struct listed_thread thread = { .tgid = entry->tgid, .tid = entry->tid };
		const struct thread_list known = { .threads = dump->list.threads, .n = n };

		memcpy(thread.comm, entry->comm, sizeof(thread.comm));
		if (thread_list_find(&known, entry->tgid, entry->tid))
			continue;
		r = thread_list_add(&dump->list, &thread);
		if (r == 0) {
			thread_list_sort(&dump->list);
			n = dump->list.n;
		}
	}
	return r;
}

static void add_time(struct listed_thread *thread, uint64_t leaf, uint64_t ns)
{
	if (leaf == OFF_CPU_N_LEAVES)
		thread->ran_ns += ns;
	else if (leaf == OFF_CPU_LEAF_WAITING)
		thread->ready_ns += ns;
	else
		thread->blocked_ns += ns;
}

static void choose(const struct dump *dump, const struct tally *tally, struct choice *choices)
{
	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];
		struct listed_thread *thread =
			thread_list_find(&dump->list, entry->tgid, entry->tid);
		struct choice *choice;

		if (!thread)
			continue;
		choice = &choices[thread - dump->list.threads];
		add_time(thread, leaf_of(tally, entry), entry->count);
		if (has_frames(tally, entry) &&
		    (!choice->entry || entry->count > choice->entry->count))
			choice->entry = entry;
	}
}

static void tell_why_none(struct listed_thread *thread)
{
	const char *why = "it ran, and no sample of it came in this time", *behind = "";
	char waited[DURATION_SIZE];

	duration_text(thread->ready_ns, waited, sizeof(waited));
	if (thread->state == 'Z') {
		why = "it has ended, and the process goes on";
	} else if (thread->ready_ns) {
		why = "it waited for a CPU all the time, ";
		behind = waited;
	} else if (thread->stayed) {
		why = "the kernel did not tell its stack";
	}
	snprintf(thread->no_stack, sizeof(thread->no_stack), "%s%s", why, behind);
}

/* ---- the tally of the dump ---- */

static int copy_addresses(const struct tally *from, struct tally *to)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < tally_n_addresses(from); i++)
		r = tally_append_address(to, &tally_addresses(from)[i]);
	return r;
}

static int copy_stack(const struct tally *from, struct tally *to, uint32_t *id)
{
	const struct tally_stack *stack;

	if (*id >= tally_n_stacks(from))
		return 0;
	stack = &tally_stacks(from)[*id];
	return tally_stack(to, tally_frames(from, stack), stack->n_frames, stack->flags, id);
}

static int copy_entry(const struct tally *from, struct tally *to, const struct tally_entry *entry)
{
	struct tally_entry copy = *entry;
	int r = copy_stack(from, to, &copy.kernel);

	copy.count = 1;
	if (r == 0)
		r = copy_stack(from, to, &copy.user);
	return r < 0 ? r : tally_add(to, &copy);
}

static int copy_chosen(struct dump *dump, const struct tally *from, const struct choice *choices)
{
	int r = copy_addresses(from, dump->tally);

	for (uint32_t i = 0; r == 0 && i < dump->list.n; i++) {
		struct listed_thread *thread = &dump->list.threads[i];

		if (choices[i].entry)
			r = copy_entry(from, dump->tally, choices[i].entry);
		else
			tell_why_none(thread);
	}
	*tally_losses(dump->tally) = *tally_losses_of(from);
	return r;
}

static void leave_out_others(struct dump *dump, const struct run_report *report)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < dump->list.n; i++)
		if (is_named(report, dump->list.threads[i].comm))
			dump->list.threads[n++] = dump->list.threads[i];
	dump->list.n = n;
}

int dump_make(struct dump *dump, struct run_report *report)
{
	own(own_free) struct choice *choices = NULL;
	int r = add_new(dump, report->tally);

	leave_out_others(dump, report);
	choices = calloc((size_t)dump->list.n + 1, sizeof(*choices));
	if (r == 0 && (!choices || tally_new(0, 0, &dump->tally) < 0))
		r = -ENOMEM;
	if (r < 0)
		return r;
	choose(dump, report->tally, choices);
	thread_list_find_cycles(&dump->list);
	r = copy_chosen(dump, report->tally, choices);
	report->tally = dump->tally;
	report->meta.threads = &dump->list;
	report->meta.timed = report->meta.wall = false;
	report->meta.unit = "threads";
	return r;
}
