// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/threads_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/own.h"
#include "view/entry_parts.h"

struct place {
	const struct tally_entry *entry; /* NULL: its stack is not known */
	bool done;
};

struct writing {
	const struct profile *profile;
	const struct thread_list *list;
	const struct frame_texts *frames;
	const char *indent;
	struct place *places; /* of each thread of the list */
	struct bytes *bytes;
};

/* ---- a thread's line ---- */

static void put_name(struct bytes *bytes, const struct listed_thread *thread)
{
	bytes_name(bytes, thread->comm, strnlen(thread->comm, sizeof(thread->comm)));
	bytes_string(bytes, " (");
	if (thread->tid != thread->tgid) {
		bytes_decimal(bytes, thread->tgid);
		bytes_char(bytes, '/');
	}
	bytes_decimal(bytes, thread->tid);
	bytes_char(bytes, ')');
}

static const char *state_text(const struct listed_thread *thread)
{
	switch (thread->state) {
	case 'D':
		return "blocked, cannot be interrupted (D)";
	case 'T':
		return "stopped by a signal (T)";
	case 't':
		return "stopped by a debugger (t)";
	case 'R':
		return "waiting for a CPU";
	case 'I':
		return "idle (a thread of the kernel)";
	default:
		return "blocked";
	}
}

/* "90 s" is better read as "1 min 30 s". */
static void put_long(struct bytes *bytes, uint64_t ns)
{
	uint64_t seconds = ns / NS_PER_SECOND, days = seconds / 86400, hours = seconds / 3600 % 24;
	char text[DURATION_SIZE];

	if (seconds < 60)
		duration_text(ns, text, sizeof(text));
	else if (seconds < 3600)
		snprintf(text, sizeof(text), "%u min %u s", (unsigned)(seconds / 60),
			 (unsigned)(seconds % 60));
	else if (days)
		snprintf(text, sizeof(text), "%u d %u h", (unsigned)days, (unsigned)hours);
	else
		snprintf(text, sizeof(text), "%u h %u min", (unsigned)hours,
			 (unsigned)(seconds / 60 % 60));
	bytes_string(bytes, text);
}

/* A share of the time that was looked at. */
static void put_share(struct bytes *bytes, const char *what, uint64_t ns, uint64_t all, bool *first)
{
	uint64_t percent = all ? (ns * 100 + all / 2) / all : 0;

	if (!percent)
		return;
	bytes_string(bytes, *first ? "" : ", ");
	bytes_string(bytes, what);
	bytes_char(bytes, ' ');
	bytes_decimal(bytes, percent > 100 ? 100 : percent);
	bytes_string(bytes, " %");
	*first = false;
}

/* Of a thread that did not stay in one place. */
static void put_shares(struct bytes *bytes, const struct listed_thread *thread)
{
	uint64_t all = thread->ran_ns + thread->blocked_ns + thread->ready_ns;
	bool first = true;

	put_share(bytes, "running", thread->ran_ns, all, &first);
	put_share(bytes, "blocked", thread->blocked_ns, all, &first);
	put_share(bytes, "waiting for a CPU", thread->ready_ns, all, &first);
	if (first)
		bytes_string(bytes, thread->state == 'Z' ? "ended (Z)" : "running");
}

static void put_thread(struct bytes *bytes, const struct listed_thread *thread)
{
	put_name(bytes, thread);
	bytes_string(bytes, ": ");
	if (!thread->stayed || thread->state == 'Z') {
		put_shares(bytes, thread);
	} else {
		bytes_string(bytes, state_text(thread));
		if (thread->away_ns) {
			bytes_string(bytes, " for ");
			put_long(bytes, thread->away_ns);
		}
	}
	if (*thread->wait) {
		bytes_string(bytes, ", ");
		bytes_name(bytes, thread->wait, strlen(thread->wait));
	}
	bytes_char(bytes, '\n');
}

/* ---- stacks ---- */

static bool same_frames(const uint32_t *one, uint32_t n, const uint32_t *other, uint32_t n_other)
{
	return n == n_other && (n == 0 || memcmp(one, other, n * sizeof(*one)) == 0);
}

static bool is_at(const struct writing *writing, const struct place *place,
		  const struct profile_entry *entry, const struct entry_parts *parts)
{
	struct profile_entry its;
	struct entry_parts its_parts;

	if (!place->entry)
		return false;
	profile_read(writing->profile, place->entry, &its);
	its_parts = entry_parts(writing->profile, &its);
	return same_frames(parts->kernel, parts->n_kernel, its_parts.kernel, its_parts.n_kernel) &&
	       same_frames(entry->user, entry->n_user, its.user, its.n_user);
}

static void put_marker(struct writing *writing, const char *marker)
{
	bytes_string(writing->bytes, writing->indent);
	bytes_string(writing->bytes, marker);
	bytes_char(writing->bytes, '\n');
}

static void put_reason(struct writing *writing, const struct listed_thread *thread)
{
	bytes_string(writing->bytes, writing->indent);
	bytes_string(writing->bytes, "[no stack: ");
	bytes_string(writing->bytes, *thread->no_stack ? thread->no_stack : "not known");
	bytes_string(writing->bytes, "]\n\n");
}

static void put_stack(struct writing *writing, const struct profile_entry *entry,
		      const struct entry_parts *parts)
{
	frame_texts_put(writing->frames, parts->kernel, parts->n_kernel, 1, writing->bytes);
	if (entry->kernel_cut)
		put_marker(writing, FRAME_TRUNCATED);
	frame_texts_put(writing->frames, entry->user, entry->n_user, 1, writing->bytes);
	if (entry->user_cut)
		put_marker(writing, FRAME_TRUNCATED);
	bytes_char(writing->bytes, '\n');
}

/* The thread, those of its process that are at the same place, and their stack. */
static void put_place(struct writing *writing, uint32_t first)
{
	const struct listed_thread *threads = writing->list->threads;
	const struct place *place = &writing->places[first];
	struct profile_entry entry;
	struct entry_parts parts;

	put_thread(writing->bytes, &threads[first]);
	if (!place->entry) {
		put_reason(writing, &threads[first]);
		return;
	}
	profile_read(writing->profile, place->entry, &entry);
	parts = entry_parts(writing->profile, &entry);
	for (uint32_t i = first + 1; i < writing->list->n && threads[i].tgid == threads[first].tgid;
	     i++) {
		struct place *other = &writing->places[i];

		if (other->done || !is_at(writing, other, &entry, &parts))
			continue;
		put_thread(writing->bytes, &threads[i]);
		other->done = true;
	}
	put_stack(writing, &entry, &parts);
}

/* ---- the whole ---- */

/* Each thread that waits for one that waits, in the end, for it. */
static void put_cycles(struct writing *writing)
{
	const struct thread_list *list = writing->list;
	struct bytes *bytes = writing->bytes;
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		const struct listed_thread *thread = &list->threads[i], *other;

		other = thread->in_cycle ? thread_list_find(list, thread->tgid, thread->waits_for)
					 : NULL;
		if (!other)
			continue;
		bytes_string(bytes, n++ ? "; " : "DEADLOCK: ");
		put_name(bytes, thread);
		bytes_string(bytes, " waits for ");
		if (other == thread)
			bytes_string(bytes, "itself");
		else
			put_name(bytes, other);
	}
	bytes_string(bytes, n ? "\n\n" : "");
}

static void find_places(struct writing *writing)
{
	for (uint32_t i = 0; i < writing->profile->n_entries; i++) {
		const struct tally_entry *entry = &writing->profile->entries[i];
		const struct listed_thread *thread =
			thread_list_find(writing->list, entry->tgid, entry->tid);

		if (thread)
			writing->places[thread - writing->list->threads].entry = entry;
	}
}

int threads_text_put(const struct profile *profile, const struct frame_texts *frames,
		     const char *indent, struct bytes *bytes)
{
	const struct thread_list *list = profile->meta->threads;
	own(own_free) struct place *places = calloc((size_t)list->n + 1, sizeof(*places));
	struct writing writing = { .profile = profile,
				   .list = list,
				   .frames = frames,
				   .indent = indent,
				   .places = places,
				   .bytes = bytes };

	if (!places)
		return -ENOMEM;
	find_places(&writing);
	put_cycles(&writing);
	for (uint32_t i = 0; !bytes->failed && i < list->n; i++)
		if (!places[i].done)
			put_place(&writing, i);
	return bytes_finish(bytes);
}
