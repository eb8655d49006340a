// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "recording/format.h"
#include "recording/recording.h"
#include "recording/section_writer.h"
#include "recording/times.h"

/* Bytes of the largest item other than a string: an address with all its frames. */
#define ITEM_MAX (NAMES_MAX_INLINED * 80u + 64u)

struct saving {
	struct section_writer to;
	const struct tally *tally;
	const struct names *names;
	const struct timeline *timeline; /* NULL: it is not told when */
	/* In the order of their first use; reference 0 is none, n is strings[n - 1]. */
	const char **strings;
	uint32_t n_strings, string_capacity;
	struct index string_index;
};

/* The reference to a string, which is collected if it is new. */
static uint32_t string_id(struct saving *saving, const char *string)
{
	struct index_cursor cursor;
	uint64_t hash;

	if (!string)
		return 0;
	hash = hash_bytes(string, strlen(string));
	for (uint32_t at = index_first(&saving->string_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&saving->string_index, &cursor))
		if (saving->strings[at] == string || strcmp(saving->strings[at], string) == 0)
			return at + 1;
	if (grow(&saving->strings, &saving->string_capacity, (size_t)saving->n_strings + 1) < 0 ||
	    index_add(&saving->string_index, hash, saving->n_strings) < 0) {
		saving->to.failed = -ENOMEM;
		return 0;
	}
	saving->strings[saving->n_strings] = string;
	return ++saving->n_strings;
}

static void put_string(struct saving *saving, const char *string)
{
	section_put(&saving->to, string_id(saving, string));
}

static void collect_cgroup(struct saving *saving, const struct names_cgroup *cgroup)
{
	string_id(saving, cgroup->path);
	for (uint32_t i = 0; i < cgroup->n_labels; i++) {
		string_id(saving, cgroup->labels[i].key);
		string_id(saving, cgroup->labels[i].value);
	}
}

static void collect_strings(struct saving *saving, const struct profile_meta *meta)
{
	const char *of_meta[] = { meta->command, meta->command_line, meta->title,
				  meta->event,	 meta->hostname,     meta->kernel_release,
				  meta->scope,	 meta->filter,	     meta->measure,
				  meta->unit };
	const struct names *names = saving->names;

	for (size_t i = 0; i < sizeof(of_meta) / sizeof(of_meta[0]); i++)
		string_id(saving, of_meta[i]);
	for (uint32_t i = 0; i < names_n_objects(names); i++)
		string_id(saving, names_objects(names)[i].path);
	for (uint32_t i = 0; i < names_n_cgroups(names); i++)
		collect_cgroup(saving, &names_cgroups(names)[i]);
	for (uint32_t i = 0; i < names_n_processes(names); i++)
		string_id(saving, names_processes(names)[i].comm);
	for (uint32_t i = 0; i < names_n_frames(names); i++) {
		const struct names_frame frame = names_frame(names, i);

		string_id(saving, frame.name);
		string_id(saving, frame.linkage_name);
		string_id(saving, frame.module);
		string_id(saving, frame.file);
	}
}

static void save_strings(struct saving *saving)
{
	saving->to.section = RECORDING_STRINGS;
	for (uint32_t i = 0; i < saving->n_strings; i++) {
		size_t size = strlen(saving->strings[i]);

		if (size > RECORDING_STRING_MAX)
			size = RECORDING_STRING_MAX;
		section_begin_item(&saving->to);
		section_put(&saving->to, size);
		section_put_bytes(&saving->to, saving->strings[i], (uint32_t)size);
	}
	section_close(&saving->to);
}

static void save_unwinding(struct saving *saving, const struct profile_unwinding *is)
{
	saving->to.section = RECORDING_UNWINDING;
	section_put(&saving->to, is->tables);
	section_put(&saving->to, is->rows);
	section_put(&saving->to, is->bytes);
	section_put(&saving->to, is->compiled);
	section_put(&saving->to, is->compile_ns);
	section_put(&saving->to, is->cached);
	section_put(&saving->to, is->cached_ns);
	section_put(&saving->to, is->waited);
	section_put(&saving->to, is->waited_completed);
	section_close(&saving->to);
}

static uint64_t meta_flags(const struct profile_meta *meta)
{
	return (meta->user ? RECORDING_META_USER : 0) | (meta->kernel ? RECORDING_META_KERNEL : 0) |
	       (meta->has.processes ? RECORDING_META_PROCESSES : 0) |
	       (meta->has.threads ? RECORDING_META_THREADS : 0) |
	       (meta->has.cgroups ? RECORDING_META_CGROUPS : 0) |
	       (meta->has.idle ? RECORDING_META_IDLE : 0) |
	       (meta->has.inlines ? RECORDING_META_INLINES : 0) |
	       (meta->has.lines ? RECORDING_META_LINES : 0) |
	       (meta->timed ? RECORDING_META_TIMED : 0) | (meta->wall ? RECORDING_META_WALL : 0) |
	       (meta->summed ? RECORDING_META_SUMMED : 0);
}

static void save_meta(struct saving *saving, const struct profile_meta *meta)
{
	saving->to.section = RECORDING_META;
	put_string(saving, meta->command);
	put_string(saving, meta->command_line);
	put_string(saving, meta->title);
	put_string(saving, meta->event);
	put_string(saving, meta->hostname);
	put_string(saving, meta->kernel_release);
	section_put(&saving->to, meta->frequency);
	section_put(&saving->to, meta->period);
	section_put(&saving->to, meta->start_time_ns);
	section_put(&saving->to, meta->duration_ns);
	section_put(&saving->to, meta->hash_storage);
	section_put(&saving->to, meta->stack_storage);
	section_put(&saving->to, meta_flags(meta));
	put_string(saving, meta->scope);
	put_string(saving, meta->filter);
	if (saving->to.version >= RECORDING_UNITS) {
		put_string(saving, meta->measure);
		put_string(saving, meta->unit);
	}
	section_close(&saving->to);
}

static void save_objects(struct saving *saving)
{
	saving->to.section = RECORDING_OBJECTS;
	for (uint32_t i = 0; i < names_n_objects(saving->names); i++) {
		const struct names_object *object = &names_objects(saving->names)[i];

		section_begin_item(&saving->to);
		put_string(saving, object->path);
		section_put(&saving->to, object->start);
		section_put(&saving->to, object->end);
		section_put(&saving->to, object->offset);
		section_put(&saving->to, object->device);
		section_put(&saving->to, object->inode);
		section_put(&saving->to, object->build_id_size);
		section_put_bytes(&saving->to, object->build_id, object->build_id_size);
	}
	section_close(&saving->to);
}

static void save_cgroups(struct saving *saving)
{
	saving->to.section = RECORDING_CGROUPS;
	for (uint32_t i = 0; i < names_n_cgroups(saving->names); i++) {
		const struct names_cgroup *cgroup = &names_cgroups(saving->names)[i];

		section_begin_item(&saving->to);
		section_put(&saving->to, cgroup->id);
		put_string(saving, cgroup->path);
		if (saving->to.version < RECORDING_LABELS)
			continue;
		section_put(&saving->to, cgroup->n_labels);
		for (uint32_t k = 0; k < cgroup->n_labels; k++) {
			put_string(saving, cgroup->labels[k].key);
			put_string(saving, cgroup->labels[k].value);
		}
	}
	section_close(&saving->to);
}

static void save_processes(struct saving *saving)
{
	saving->to.section = RECORDING_PROCESSES;
	for (uint32_t i = 0; i < names_n_processes(saving->names); i++) {
		const struct names_process *process = &names_processes(saving->names)[i];

		section_begin_item(&saving->to);
		section_put(&saving->to, process->tgid);
		put_string(saving, process->comm);
	}
	section_close(&saving->to);
}

static void put_frame(struct saving *saving, const struct names_frame *frame)
{
	put_string(saving, frame->name);
	put_string(saving, frame->linkage_name);
	put_string(saving, frame->module);
	put_string(saving, frame->file);
	section_put(&saving->to, frame->offset);
	section_put(&saving->to, frame->line);
	section_put(&saving->to, frame->object == NAMES_NONE ? 0 : (uint64_t)frame->object + 1);
	section_put(&saving->to, frame->flags | RECORDING_FRAME_LANGUAGE(frame->language));
}

static void save_addresses(struct saving *saving)
{
	const struct tally_address *addresses = tally_addresses(saving->tally);
	uint64_t previous = 0;

	saving->to.section = RECORDING_ADDRESSES;
	for (uint32_t i = 0; i < tally_n_addresses(saving->tally); i++) {
		struct names_address named = names_address(saving->names, i);

		section_begin_item(&saving->to);
		section_put(&saving->to, recording_zigzag(addresses[i].address - previous));
		previous = addresses[i].address;
		section_put(&saving->to, addresses[i].image);
		section_put(&saving->to, addresses[i].flags);
		section_put(&saving->to, named.n);
		for (uint32_t j = 0; j < named.n; j++) {
			struct names_frame frame = names_frame(saving->names, named.first + j);

			put_frame(saving, &frame);
		}
	}
	section_close(&saving->to);
}

static void save_stacks(struct saving *saving)
{
	saving->to.section = RECORDING_STACKS;
	for (uint32_t i = 0; i < tally_n_stacks(saving->tally); i++) {
		const struct tally_stack *stack = &tally_stacks(saving->tally)[i];
		const uint32_t *frames = tally_frames(saving->tally, stack);

		section_begin_item(&saving->to);
		section_put(&saving->to, stack->n_frames);
		section_put(&saving->to, stack->flags);
		for (uint32_t frame = 0; frame < stack->n_frames; frame++)
			section_put(&saving->to, frames[frame]);
	}
	section_close(&saving->to);
}

static void put_stack(struct saving *saving, uint32_t stack)
{
	section_put(&saving->to, stack == TALLY_STACK_NONE ? RECORDING_STACK_NONE
				 : stack == TALLY_STACK_MISSED
					 ? RECORDING_STACK_MISSED
					 : (uint64_t)stack + RECORDING_STACK_FIRST);
}

static void save_entries(struct saving *saving)
{
	saving->to.section = RECORDING_ENTRIES;
	for (uint32_t i = 0; i < tally_n_entries(saving->tally); i++) {
		const struct tally_entry *entry = &tally_entries(saving->tally)[i];
		uint32_t comm = (uint32_t)strnlen(entry->comm, sizeof(entry->comm));

		section_begin_item(&saving->to);
		section_put(&saving->to, entry->count);
		if (saving->to.version >= RECORDING_SUMS)
			section_put(&saving->to, entry->events);
		if (saving->to.version >= RECORDING_CALLS)
			section_put(&saving->to, entry->largest);
		section_put(&saving->to, entry->cgroup);
		section_put(&saving->to, entry->tgid);
		section_put(&saving->to, entry->tid);
		put_stack(saving, entry->kernel);
		put_stack(saving, entry->user);
		section_put(&saving->to, comm);
		section_put_bytes(&saving->to, entry->comm, comm);
	}
	section_close(&saving->to);
}

static void save_end(struct saving *saving)
{
	const struct tally_losses *losses = tally_losses_of(saving->tally);

	saving->to.section = RECORDING_LOSSES;
	section_put(&saving->to, losses->events);
	section_put(&saving->to, losses->lost_ring);
	section_put(&saving->to, losses->lost_counts);
	section_put(&saving->to, losses->lost_nested);
	section_put(&saving->to, losses->throttled);
	section_put(&saving->to, losses->unseen);
	section_put(&saving->to, losses->counts_full);
	section_put(&saving->to, losses->lost_time);
	section_put(&saving->to, losses->lost_threads);
	section_put(&saving->to, losses->lost_ends);
	section_put(&saving->to, losses->unwalked);
	section_put(&saving->to, losses->unsampled);
	section_put(&saving->to, losses->lost_memory);
	section_put(&saving->to, losses->memory_full);
	section_put(&saving->to, losses->due);
	section_put(&saving->to, losses->due_throttled);
	section_put(&saving->to, losses->due_stolen);
	section_put(&saving->to, losses->due_late);
	if (saving->to.version >= RECORDING_SUMS) {
		section_put(&saving->to, losses->failed);
		section_put(&saving->to, losses->unread);
	}
	if (saving->to.version >= RECORDING_CALLS) {
		section_put(&saving->to, losses->unreturned);
		section_put(&saving->to, losses->unentered);
		section_put(&saving->to, losses->lost_calls);
		section_put(&saving->to, losses->lost_values);
		section_put(&saving->to, losses->unallocated);
		section_put(&saving->to, losses->lost_blocks);
		section_put(&saving->to, losses->lost_bytes);
	}
	if (saving->to.version >= RECORDING_BLOCKS) {
		section_put(&saving->to, losses->replaced_blocks);
		section_put(&saving->to, losses->unmapped);
	}
	section_close(&saving->to);
	saving->to.section = RECORDING_END;
	section_put(&saving->to, saving->n_strings);
	section_put(&saving->to, tally_n_addresses(saving->tally));
	section_put(&saving->to, tally_n_stacks(saving->tally));
	section_put(&saving->to, tally_n_entries(saving->tally));
	section_put(&saving->to, tally_total(saving->tally));
	section_close(&saving->to);
}

static void save_all(struct saving *saving, const struct profile_meta *meta)
{
	collect_strings(saving, meta);
	save_strings(saving);
	save_meta(saving, meta);
	if (meta->unwinding.tables > 0)
		save_unwinding(saving, &meta->unwinding);
	save_objects(saving);
	save_cgroups(saving);
	if (saving->to.version >= RECORDING_NAMED)
		save_processes(saving);
	save_addresses(saving);
	save_stacks(saving);
	save_entries(saving);
	if (saving->timeline)
		times_save(saving->timeline, &saving->to);
	save_end(saving);
}

static bool has_calls(const struct tally *tally)
{
	const struct tally_losses *losses = tally_losses_of(tally);
	bool found = losses->unreturned || losses->unentered || losses->lost_calls ||
		     losses->lost_values || losses->unallocated || losses->lost_blocks;

	for (uint32_t i = 0; i < tally_n_entries(tally) && !found; i++)
		found = tally_entries(tally)[i].largest != 0;
	return found;
}

/* The oldest version that has all there is, for the readers of older programs. */
static uint32_t version_for(const struct profile_meta *meta, const struct tally *tally,
			    const struct names *names, const struct timeline *timeline)
{
	const struct tally_losses *losses = tally_losses_of(tally);

	if (losses->replaced_blocks || losses->unmapped)
		return RECORDING_BLOCKS;
	if (names_n_processes(names))
		return RECORDING_NAMED;
	if (has_calls(tally))
		return RECORDING_CALLS;
	for (uint32_t i = 0; i < names_n_cgroups(names); i++)
		if (names_cgroups(names)[i].n_labels)
			return RECORDING_LABELS;
	if (timeline)
		return RECORDING_TIMES;
	if (meta->summed || losses->unread)
		return RECORDING_SUMS;
	return meta->measure || meta->unit ? RECORDING_UNITS : RECORDING_VERSION;
}

int recording_save(FILE *out, const struct profile_meta *meta, const struct tally *tally,
		   const struct names *names, const struct timeline *timeline, struct error *err)
{
	const struct timeline *told = timeline && timeline_tells(timeline, tally) ? timeline : NULL;
	struct saving saving = { .tally = tally, .names = names, .timeline = told };
	int r;

	_Static_assert(RECORDING_SECTION_FULL + RECORDING_STRING_MAX + ITEM_MAX <
			       RECORDING_SECTION_MAX,
		       "a full section and one more item fit");
	if (names_n_addresses(names) != tally_n_addresses(tally))
		return error_set(err, -EINVAL,
				 "cannot save a recording: %u of %u addresses have names",
				 names_n_addresses(names), tally_n_addresses(tally));
	errno = 0;
	section_writer_begin(&saving.to, out, version_for(meta, tally, names, told));
	if (!saving.to.failed)
		save_all(&saving, meta);
	section_writer_end(&saving.to);
	free(saving.strings);
	index_free(&saving.string_index);
	r = saving.to.failed;
	if (r < 0)
		return error_set(err, r, "cannot save a recording: %s", strerror(-r));
	return 0;
}
