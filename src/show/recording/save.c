// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "recording/format.h"
#include "recording/recording.h"

/* Bytes of the largest item other than a string: an address with all its frames. */
#define ITEM_MAX (NAMES_MAX_INLINED * 80u + 64u)

struct saving {
	FILE *out;
	const struct tally *tally;
	const struct names *names;
	int failed;
	enum recording_section section;
	unsigned char *payload;
	uint32_t used;
	/* In the order of their first use; reference 0 is none, n is strings[n - 1]. */
	const char **strings;
	uint32_t n_strings, string_capacity;
	struct index string_index;
	uint32_t version; /* of the format */
};

static const uint32_t kinds[] = {
#define KIND_OF(name, kind) kind,
	RECORDING_KINDS(KIND_OF)
};

static void store32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static void put_out(struct saving *saving, const void *bytes, size_t size)
{
	if (!saving->failed && fwrite(bytes, 1, size, saving->out) != size)
		saving->failed = errno ? -errno : -EIO;
}

/* Writes the payload so far as a section. */
static void close_section(struct saving *saving)
{
	unsigned char header[RECORDING_SECTION_SIZE];
	uLong sum;

	store32(header, kinds[saving->section]);
	store32(header + 4, saving->used);
	sum = crc32(crc32(RECORDING_CHECKSUM_OF(saving->version), header, 8), saving->payload,
		    saving->used);
	store32(header + 8, (uint32_t)sum);
	put_out(saving, header, sizeof(header));
	put_out(saving, saving->payload, saving->used);
	saving->used = 0;
}

/* To be called before each item, as items do not straddle sections. */
static void begin_item(struct saving *saving)
{
	if (saving->used >= RECORDING_SECTION_FULL)
		close_section(saving);
}

static void put(struct saving *saving, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		saving->payload[saving->used++] = (unsigned char)(value | 0x80);
	saving->payload[saving->used++] = (unsigned char)value;
}

static void put_bytes(struct saving *saving, const void *bytes, uint32_t size)
{
	memcpy(saving->payload + saving->used, bytes, size);
	saving->used += size;
}

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
		saving->failed = -ENOMEM;
		return 0;
	}
	saving->strings[saving->n_strings] = string;
	return ++saving->n_strings;
}

static void put_string(struct saving *saving, const char *string)
{
	put(saving, string_id(saving, string));
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
		string_id(saving, names_cgroups(names)[i].path);
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
	saving->section = RECORDING_STRINGS;
	for (uint32_t i = 0; i < saving->n_strings; i++) {
		size_t size = strlen(saving->strings[i]);

		if (size > RECORDING_STRING_MAX)
			size = RECORDING_STRING_MAX;
		begin_item(saving);
		put(saving, size);
		put_bytes(saving, saving->strings[i], (uint32_t)size);
	}
	close_section(saving);
}

static void save_unwinding(struct saving *saving, const struct profile_unwinding *is)
{
	saving->section = RECORDING_UNWINDING;
	put(saving, is->tables);
	put(saving, is->rows);
	put(saving, is->bytes);
	put(saving, is->compiled);
	put(saving, is->compile_ns);
	put(saving, is->cached);
	put(saving, is->cached_ns);
	put(saving, is->waited);
	put(saving, is->waited_completed);
	close_section(saving);
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
	saving->section = RECORDING_META;
	put_string(saving, meta->command);
	put_string(saving, meta->command_line);
	put_string(saving, meta->title);
	put_string(saving, meta->event);
	put_string(saving, meta->hostname);
	put_string(saving, meta->kernel_release);
	put(saving, meta->frequency);
	put(saving, meta->period);
	put(saving, meta->start_time_ns);
	put(saving, meta->duration_ns);
	put(saving, meta->hash_storage);
	put(saving, meta->stack_storage);
	put(saving, meta_flags(meta));
	put_string(saving, meta->scope);
	put_string(saving, meta->filter);
	if (saving->version >= RECORDING_UNITS) {
		put_string(saving, meta->measure);
		put_string(saving, meta->unit);
	}
	close_section(saving);
}

static void save_objects(struct saving *saving)
{
	saving->section = RECORDING_OBJECTS;
	for (uint32_t i = 0; i < names_n_objects(saving->names); i++) {
		const struct names_object *object = &names_objects(saving->names)[i];

		begin_item(saving);
		put_string(saving, object->path);
		put(saving, object->start);
		put(saving, object->end);
		put(saving, object->offset);
		put(saving, object->device);
		put(saving, object->inode);
		put(saving, object->build_id_size);
		put_bytes(saving, object->build_id, object->build_id_size);
	}
	close_section(saving);
}

static void save_cgroups(struct saving *saving)
{
	saving->section = RECORDING_CGROUPS;
	for (uint32_t i = 0; i < names_n_cgroups(saving->names); i++) {
		begin_item(saving);
		put(saving, names_cgroups(saving->names)[i].id);
		put_string(saving, names_cgroups(saving->names)[i].path);
	}
	close_section(saving);
}

static void put_frame(struct saving *saving, const struct names_frame *frame)
{
	put_string(saving, frame->name);
	put_string(saving, frame->linkage_name);
	put_string(saving, frame->module);
	put_string(saving, frame->file);
	put(saving, frame->offset);
	put(saving, frame->line);
	put(saving, frame->object == NAMES_NONE ? 0 : (uint64_t)frame->object + 1);
	put(saving, frame->flags | RECORDING_FRAME_LANGUAGE(frame->language));
}

static void save_addresses(struct saving *saving)
{
	const struct tally_address *addresses = tally_addresses(saving->tally);
	uint64_t previous = 0;

	saving->section = RECORDING_ADDRESSES;
	for (uint32_t i = 0; i < tally_n_addresses(saving->tally); i++) {
		struct names_address named = names_address(saving->names, i);

		begin_item(saving);
		put(saving, recording_zigzag(addresses[i].address - previous));
		previous = addresses[i].address;
		put(saving, addresses[i].image);
		put(saving, addresses[i].flags);
		put(saving, named.n);
		for (uint32_t j = 0; j < named.n; j++) {
			struct names_frame frame = names_frame(saving->names, named.first + j);

			put_frame(saving, &frame);
		}
	}
	close_section(saving);
}

static void save_stacks(struct saving *saving)
{
	saving->section = RECORDING_STACKS;
	for (uint32_t i = 0; i < tally_n_stacks(saving->tally); i++) {
		const struct tally_stack *stack = &tally_stacks(saving->tally)[i];
		const uint32_t *frames = tally_frames(saving->tally, stack);

		begin_item(saving);
		put(saving, stack->n_frames);
		put(saving, stack->flags);
		for (uint32_t frame = 0; frame < stack->n_frames; frame++)
			put(saving, frames[frame]);
	}
	close_section(saving);
}

static void put_stack(struct saving *saving, uint32_t stack)
{
	put(saving, stack == TALLY_STACK_NONE	  ? RECORDING_STACK_NONE
		    : stack == TALLY_STACK_MISSED ? RECORDING_STACK_MISSED
						  : (uint64_t)stack + RECORDING_STACK_FIRST);
}

static void save_entries(struct saving *saving)
{
	saving->section = RECORDING_ENTRIES;
	for (uint32_t i = 0; i < tally_n_entries(saving->tally); i++) {
		const struct tally_entry *entry = &tally_entries(saving->tally)[i];
		uint32_t comm = (uint32_t)strnlen(entry->comm, sizeof(entry->comm));

		begin_item(saving);
		put(saving, entry->count);
		if (saving->version >= RECORDING_SUMS)
			put(saving, entry->events);
		put(saving, entry->cgroup);
		put(saving, entry->tgid);
		put(saving, entry->tid);
		put_stack(saving, entry->kernel);
		put_stack(saving, entry->user);
		put(saving, comm);
		put_bytes(saving, entry->comm, comm);
	}
	close_section(saving);
}

static void save_end(struct saving *saving)
{
	const struct tally_losses *losses = tally_losses_of(saving->tally);

	saving->section = RECORDING_LOSSES;
	put(saving, losses->events);
	put(saving, losses->lost_ring);
	put(saving, losses->lost_counts);
	put(saving, losses->lost_nested);
	put(saving, losses->throttled);
	put(saving, losses->unseen);
	put(saving, losses->counts_full);
	put(saving, losses->lost_time);
	put(saving, losses->lost_threads);
	put(saving, losses->lost_ends);
	put(saving, losses->unwalked);
	put(saving, losses->unsampled);
	put(saving, losses->lost_memory);
	put(saving, losses->memory_full);
	put(saving, losses->due);
	put(saving, losses->due_throttled);
	put(saving, losses->due_stolen);
	put(saving, losses->due_late);
	if (saving->version >= RECORDING_SUMS) {
		put(saving, losses->failed);
		put(saving, losses->unread);
	}
	close_section(saving);
	saving->section = RECORDING_END;
	put(saving, saving->n_strings);
	put(saving, tally_n_addresses(saving->tally));
	put(saving, tally_n_stacks(saving->tally));
	put(saving, tally_n_entries(saving->tally));
	put(saving, tally_total(saving->tally));
	close_section(saving);
}

static void save_all(struct saving *saving, const struct profile_meta *meta)
{
	unsigned char header[RECORDING_HEADER_SIZE];

	memcpy(header, RECORDING_MAGIC, RECORDING_MAGIC_SIZE);
	store32(header + RECORDING_MAGIC_SIZE, saving->version);
	put_out(saving, header, sizeof(header));
	collect_strings(saving, meta);
	save_strings(saving);
	save_meta(saving, meta);
	if (meta->unwinding.tables > 0)
		save_unwinding(saving, &meta->unwinding);
	save_objects(saving);
	save_cgroups(saving);
	save_addresses(saving);
	save_stacks(saving);
	save_entries(saving);
	save_end(saving);
}

/* The oldest version that has all there is, for the readers of older programs. */
static uint32_t version_for(const struct profile_meta *meta, const struct tally *tally)
{
	if (meta->summed || tally_losses_of(tally)->unread)
		return RECORDING_SUMS;
	return meta->measure || meta->unit ? RECORDING_UNITS : RECORDING_VERSION;
}

int recording_save(FILE *out, const struct profile_meta *meta, const struct tally *tally,
		   const struct names *names, struct error *err)
{
	struct saving saving = {
		.out = out,
		.tally = tally,
		.names = names,
		.version = version_for(meta, tally),
	};
	int r;

	_Static_assert(RECORDING_SECTION_FULL + RECORDING_STRING_MAX + ITEM_MAX <
			       RECORDING_SECTION_MAX,
		       "a full section and one more item fit");
	if (names_n_addresses(names) != tally_n_addresses(tally))
		return error_set(err, -EINVAL,
				 "cannot save a recording: %u of %u addresses have names",
				 names_n_addresses(names), tally_n_addresses(tally));
	saving.payload = malloc(RECORDING_SECTION_MAX);
	if (!saving.payload)
		return error_set(err, -ENOMEM, "cannot save a recording: out of memory");
	errno = 0;
	save_all(&saving, meta);
	free(saving.payload);
	free(saving.strings);
	index_free(&saving.string_index);
	r = saving.failed;
	if (r < 0)
		return error_set(err, r, "cannot save a recording: %s", strerror(-r));
	return 0;
}
