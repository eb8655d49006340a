// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/partition.h"
#include "elf/code_file.h"
#include "elf/debug_data.h"
#include "elf/elf_references.h"
#include "elf/elf_versions.h"
#include "elf/go_table.h"
#include "elf/ifunc_slots.h"
#include "symbolize/inlined_places.h"
#include "trigger/function_name.h"
#include "trigger/functions_internal.h"
#include "trigger/functions_places.h"
#include "trigger/matcher.h"

#define GO_NAME_SIZE  4096 /* bytes; longer names are cut */
#define INLINED_MAX   64   /* functions that match */
#define INLINED_NS    (NS_PER_SECOND / 2)
#define UNREACHED_MAX 4 /* functions that match; the file is searched for each */

/* A function that matches. */
struct found {
	const char *name;
	const char *version; /* NULL: none, or not asked for */
	uint64_t at;	     /* the address, or that of the slot of a resolver's choice */
	uint64_t size;
	enum function_is is;
	enum name_match match;
	bool is_label; /* it has no size and lies in a function that has */
};

/* What is sent of one. */
struct place {
	struct function_sent sent;
	const char *name;
	const char *version;	     /* NULL: none */
	const struct placed *inside; /* NULL: it is where a function begins */
};

struct reader {
	const struct functions_question *question;
	int fd;
	const struct elf_file *elf; /* the file to be probed */
	struct elf_versions versions;
	struct ifunc_slots *slots; /* NULL: not looked for yet, or none */
	bool slots_tried;
	struct functions_facts facts;
	struct pool *names;
	struct found *items;
	uint32_t n, capacity, n_unsized;
	uint64_t go_begin, go_end; /* the addresses of Go's functions */
	struct name_reader name_reader;
	struct elf_file *debug; /* where a stripped file's symbols are */
	void *debug_bytes;
	struct functions_places inside;
	struct place *places;
	uint32_t places_capacity;
	uint8_t code[FUNCTION_ENTRY_CODE_MAX];
	char versioned[DEMANGLE_SIZE];
};

static int add(struct reader *reader, const char *name, const struct found *found)
{
	int r = grow(&reader->items, &reader->capacity, reader->n + 1);

	if (r < 0)
		return r;
	reader->items[reader->n] = *found;
	reader->items[reader->n].name = pool_string(reader->names, name);
	if (!reader->items[reader->n].name)
		return -ENOMEM;
	reader->n_unsized += found->size == 0;
	reader->n++;
	return 0;
}

static void group(struct function_group *group, const char *name)
{
	if (group->n++ == 0)
		snprintf(group->first, sizeof(group->first), "%s", name);
}

/* The slot of the resolver's choice. */
static bool find_slot(struct reader *reader, uint64_t resolver, uint64_t *ret_slot)
{
	if (!reader->slots_tried)
		ifunc_slots_read(reader->elf, &reader->slots);
	reader->slots_tried = true;
	return reader->slots && ifunc_slots_find(reader->slots, resolver, ret_slot);
}

/* Compares a function's name with the pattern; adds the function if it matches. */
static int offer(struct reader *reader, const char *name, struct found found)
{
	bool go = found.at >= reader->go_begin && found.at < reader->go_end;

	reader->facts.n_symbols++;
	found.match = name_match(&reader->name_reader, name, !go);
	if (found.match == NAME_COLD)
		group(&reader->facts.cold, name);
	return found.match <= NAME_COLD ? 0 : add(reader, name, &found);
}

/*
 * Offers a name of a file that has versions: foo for all functions of that name, and foo@V_1 and
 * foo@@V_2 for one of them.
 */
static int offer_versions(struct reader *reader, const char *name, uint16_t entry,
			  struct found found)
{
	const char *other = entry ? elf_versions_other(&reader->versions, entry) : NULL;
	char *whole = reader->versioned;
	enum elf_version_kind kind;
	uint32_t n = reader->n;
	bool only_whole;
	size_t length;
	int r = 0;

	snprintf(whole, sizeof(reader->versioned), other && !strchr(name, '@') ? "%s@%s" : "%s",
		 name, other);
	kind = elf_versions_split(&reader->versions, whole, &length);
	found.version = elf_versions_defined(&reader->versions, entry);
	if (kind == ELF_VERSION_NONE)
		return offer(reader, name, found);
	if (!found.version && reader->question->details)
		found.version = pool_string(reader->names, strrchr(whole, '@') + 1);
	only_whole = matcher_matches(reader->question->matcher, whole);
	whole[length] = '\0';
	only_whole = only_whole && !matcher_matches(reader->question->matcher, whole);
	if (!only_whole)
		r = offer(reader, whole, found);
	whole[length] = '@';
	if (only_whole)
		return offer(reader, whole, found);
	/* Two functions of one name are told apart in what is shown. */
	if (r == 0 && reader->n > n && kind == ELF_VERSION_OTHER) {
		reader->items[n].name = pool_string(reader->names, whole);
		r = reader->items[n].name ? 0 : -ENOMEM;
	}
	return r;
}

/* What a file calls that throws exceptions of C++, or panics of Rust. */
static bool is_of_exceptions(const char *name)
{
	static const char *const names[] = { "__cxa_throw", "_Unwind_RaiseException",
					     "__gxx_personality_v0", "rust_eh_personality" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static int consider(void *context, const char *name, const Elf64_Sym *symbol, uint16_t version)
{
	struct reader *reader = context;
	unsigned char type = ELF64_ST_TYPE(symbol->st_info);
	struct found found = { .at = symbol->st_value, .size = symbol->st_size };

	if (reader->question->calls && is_of_exceptions(name))
		reader->facts.throws = true;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_value == 0 || !name[0])
		return 0;
	if (type == STT_GNU_IFUNC)
		found.is = FUNCTION_UNRESOLVED; /* until place_ifunc() looks for its slot */
	return offer_versions(reader, name, version, found);
}

/* Stripped programs of Go still have their table of functions. */
static int read_go_table(struct reader *reader, bool stripped)
{
	own(go_table_close) struct go_table table = { 0 };
	int r = go_table_open(reader->elf, &table);

	if (r < 0)
		return 0;
	if (!go_table_address(&table, 0, &reader->go_begin) ||
	    !go_table_address(&table, table.n_functions, &reader->go_end))
		reader->go_begin = reader->go_end = 0;
	reader->facts.is_go = true;
	r = stripped ? go_table_load(&table) : -ENODATA;
	for (uint32_t i = 0; r == 0 && i < table.n_functions; i++) {
		struct go_function function;
		char name[GO_NAME_SIZE];

		if (go_table_function(&table, i, &function) && function.end > function.begin &&
		    go_table_name(&table, &function, name, sizeof(name)) > 0)
			r = offer(reader, name,
				  (struct found){ .at = function.begin,
						  .size = function.end - function.begin });
	}
	return r == -ENOMEM ? r : 0;
}

/* For a stripped file: its debug file or .gnu_debugdata may have the symbols. */
static int read_elsewhere(struct reader *reader, int debug_fd)
{
	size_t size;

	if (debug_fd >= 0 && debug_file_open_checked(reader->elf, debug_fd, reader->question->proof,
						     &reader->debug) == 0)
		reader->facts.right_debug = true;
	else if (debug_data_load(reader->elf, &reader->debug_bytes, &size) == 0)
		elf_file_open_memory(reader->debug_bytes, size, &reader->debug);
	return reader->debug ? functions_each_symbol(reader->debug, false, consider, reader) : 0;
}

static void find_first(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->elf->n_segments; i++) {
		const struct elf_segment *segment = &reader->elf->segments[i];

		if (segment->type != PT_LOAD || segment->offset != 0)
			continue;
		reader->facts.first = segment->address;
		reader->facts.has_first = true;
		return;
	}
}

/* ---- what counts ---- */

/* By address; of several names for one place the best match first. */
static int compare(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->is != b->is)
		return a->is < b->is ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->match != b->match)
		return a->match > b->match ? -1 : 1;
	if ((a->size == 0) != (b->size == 0))
		return a->size == 0 ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Each place is kept once: two probes would count each call twice. */
static void drop_aliases(struct reader *reader)
{
	uint32_t n = 0;

	if (reader->n == 0)
		return;
	qsort(reader->items, reader->n, sizeof(*reader->items), compare);
	for (uint32_t i = 0; i < reader->n; i++)
		if (n == 0 || reader->items[i].is != reader->items[n - 1].is ||
		    reader->items[i].at != reader->items[n - 1].at)
			reader->items[n++] = reader->items[i];
	reader->n = n;
}

/* Marks the matches without size that lie inside of this function. */
static int mark_labels(void *context, const char *name, const Elf64_Sym *symbol, uint16_t version)
{
	struct reader *reader = context;
	uint32_t i;

	(void)name;
	(void)version;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF)
		return 0;
	/* drop_aliases() has put plain functions first. */
	i = (uint32_t)partition_point(at, reader->n,
				      reader->items[at].is == FUNCTION_PLAIN &&
					      reader->items[at].at <= symbol->st_value);
	for (; i < reader->n && reader->items[i].is == FUNCTION_PLAIN &&
	       reader->items[i].at - symbol->st_value < symbol->st_size;
	     i++)
		reader->items[i].is_label = reader->items[i].size == 0;
	return 0;
}

/* The weakest match that counts; what is weaker counts only where nothing else matches. */
static enum name_match find_least(const struct reader *reader)
{
	enum name_match best = NAME_DIFFERS;

	for (uint32_t i = 0; i < reader->n; i++)
		if (reader->items[i].match > best)
			best = reader->items[i].match;
	if (best == NAME_EXACT && !matcher_is_name(reader->question->matcher))
		return NAME_READABLE;
	return best;
}

static void drop_others(struct reader *reader)
{
	enum name_match least = find_least(reader);
	bool labels = matcher_is_name(reader->question->matcher);
	uint32_t n = 0;

	reader->facts.are_clones = least == NAME_CLONE;
	for (uint32_t i = 0; i < reader->n; i++) {
		const struct found *found = &reader->items[i];

		if (found->match < least)
			group(&reader->facts.weaker, found->name);
		else if (!found->is_label || labels)
			reader->items[n++] = *found;
	}
	reader->n = n;
}

static int choose(struct reader *reader)
{
	int r = 0;

	drop_aliases(reader);
	if (reader->n_unsized > 0)
		r = functions_each_symbol(reader->elf, false, mark_labels, reader);
	if (r >= 0 && reader->n_unsized > 0 && reader->debug)
		r = functions_each_symbol(reader->debug, false, mark_labels, reader);
	if (r < 0)
		return r;
	drop_others(reader);
	return 0;
}

/* ---- where they are probed ---- */

static int send_later(struct reader *reader, const struct place *place)
{
	uint32_t n = reader->facts.n;
	int r = grow(&reader->places, &reader->places_capacity, n + 1);

	if (r < 0)
		return r;
	reader->places[n] = *place;
	reader->facts.n++;
	return 0;
}

/*
 * The kernel jumps to where a program begins, and has the number of arguments where a return
 * address would be: the kernel would put that of a return probe in its place.
 */
static bool is_uncalled(const struct reader *reader, const struct found *found)
{
	return reader->question->calls && found->at == reader->elf->entry;
}

static int place(struct reader *reader, const struct found *found)
{
	const struct code_point *point = &reader->question->point;
	struct functions_entry entry;
	uint8_t *code = reader->question->calls || point->has_offset ? NULL : reader->code;
	uint64_t at = point->has_offset ? point->offset : 0;
	int r = 0;

	if (point->has_offset && !functions_places_offset(&reader->inside, found->at, found->size,
							  at, &reader->facts.bad)) {
		snprintf(reader->facts.bad.name, sizeof(reader->facts.bad.name), "%s", found->name);
		return 0;
	}
	if (!functions_entry_read(reader->elf, reader->fd, found->at + at, found->size - at, code,
				  &entry))
		return 0;
	if (entry.turns)
		group(&reader->facts.turning, found->name);
	for (uint32_t i = 0; r == 0 && i < entry.n; i++)
		r = send_later(reader,
			       &(struct place){ .sent = { .at = entry.offsets[i],
							  .is = FUNCTION_PLAIN,
							  .unprobeable = entry.unprobeable,
							  .emulated = entry.emulated,
							  .uncalled = is_uncalled(reader, found),
							  .more = i > 0 },
						.name = found->name,
						.version = found->version });
	return r;
}

static int place_ifunc(struct reader *reader, const struct found *found)
{
	struct place place = { .sent = { .is = FUNCTION_UNRESOLVED },
			       .name = found->name,
			       .version = found->version };

	/* An offset would be one in the resolver. */
	if (!reader->question->point.has_offset && find_slot(reader, found->at, &place.sent.at))
		place.sent.is = FUNCTION_CHOSEN;
	return send_later(reader, &place);
}

static int place_all(struct reader *reader)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < reader->n; i++)
		r = reader->items[i].is == FUNCTION_PLAIN ? place(reader, &reader->items[i])
							  : place_ifunc(reader, &reader->items[i]);
	return r;
}

/* ---- places inside of functions ---- */

static bool wants_inlined(void *context, const char *name)
{
	struct reader *reader = context;

	return name_match(&reader->name_reader, name, true) > NAME_CLONE;
}

/* The name of all places of a line, or inlined functions, as one pattern has it. */
static const char *inside_name(struct reader *reader, const struct placed *placed)
{
	const struct code_point *point = &reader->question->point;
	char name[PATH_MAX + 16];

	if (!point->file)
		return placed->name;
	snprintf(name, sizeof(name), "%s:%u", point->file, point->line);
	return pool_string(reader->names, name);
}

static int place_inside(struct reader *reader, const struct placed *placed)
{
	struct place place = { .sent = { .is = FUNCTION_PLAIN,
					 .doubtful = placed->doubtful,
					 .more = reader->facts.n > 0 },
			       .name = inside_name(reader, placed),
			       .inside = placed };
	struct functions_entry entry;

	if (!place.name)
		return -ENOMEM;
	if (!functions_entry_read(reader->elf, reader->fd, placed->address, 0, NULL, &entry))
		return 0;
	place.sent.at = entry.offsets[0];
	place.sent.unprobeable = entry.unprobeable;
	place.sent.emulated = entry.emulated;
	if (placed->turns)
		group(&reader->facts.turning, placed->name);
	return send_later(reader, &place);
}

/* Of a line, or where functions were inlined. */
static int place_all_inside(struct reader *reader, int debug_fd)
{
	const struct code_point *point = &reader->question->point;
	struct functions_places *inside = &reader->inside;
	int fd = reader->facts.right_debug ? debug_fd : reader->fd;
	int r = 0;

	if (point->file)
		reader->facts.dwarf = functions_places_line(inside, fd, point, &reader->facts.near);
	else if (point->inlined)
		reader->facts.dwarf = functions_places_inlined(inside, fd, wants_inlined, reader);
	if (reader->facts.dwarf == -ENOMEM)
		return -ENOMEM;
	if (inside->n)
		r = functions_places_check(inside, reader->debug);
	for (uint32_t i = 0; r == 0 && i < inside->n; i++)
		r = place_inside(reader, &inside->items[i]);
	return r;
}

/* ---- what was inlined ---- */

/* Functions that were inlined wherever they are called, which needs no debug information to be
 * seen. */
static void find_unreached(struct reader *reader)
{
	if (reader->n > UNREACHED_MAX || reader->question->exported || reader->question->briefly ||
	    reader->question->point.inlined || reader->question->point.file || reader->facts.is_go)
		return;
	for (uint32_t i = 0; i < reader->n; i++)
		if (reader->items[i].is == FUNCTION_PLAIN &&
		    !elf_may_lead_to(reader->elf, reader->items[i].at))
			group(&reader->facts.unreached, reader->items[i].name);
}

/* A pattern for everything is not asked for what it is not. */
static void count_inlined(struct reader *reader, int debug_fd)
{
	if (reader->n > INLINED_MAX || reader->question->exported || reader->question->briefly ||
	    reader->question->point.inlined || reader->question->point.file)
		return;
	reader->facts.n_inlined =
		inlined_places_count(reader->facts.right_debug ? debug_fd : reader->fd,
				     monotonic_ns() + INLINED_NS, wants_inlined, reader);
}

static int read_all(struct reader *reader, int debug_fd)
{
	int full, r;

	reader->facts.nearest = *reader->question->nearest;
	debug_wanted_read(reader->elf, &reader->facts.wanted);
	find_first(reader);
	full = functions_each_symbol(reader->elf, false, NULL, NULL);
	r = read_go_table(reader, full == 0 && !reader->question->exported);
	if (r == 0)
		r = functions_each_symbol(reader->elf, reader->question->exported, consider,
					  reader);
	if (r == 0 && !reader->question->exported)
		r = read_elsewhere(reader, debug_fd);
	reader->facts.stripped = full == 0;
	if (r >= 0)
		r = choose(reader);
	if (r >= 0)
		count_inlined(reader, debug_fd);
	if (r >= 0)
		find_unreached(reader);
	if (r >= 0)
		r = place_all(reader);
	if (r >= 0)
		r = place_all_inside(reader, debug_fd);
	/* The DWARF alone may have been moved to a debug file. */
	reader->facts.stripped |= reader->facts.dwarf == -ENODATA;
	return r;
}

/* A mangled name as people write it; or `otherwise`. */
static const char *readable_name(struct reader *reader, const char *name, const char *otherwise)
{
	char *readable = reader->name_reader.readable;

	return demangle(name, readable, sizeof(reader->name_reader.readable)) ? readable
									      : otherwise;
}

/* "lookup, inlined in main" */
static void describe_inside(struct reader *reader, const struct placed *inside, char *ret_text,
			    size_t size)
{
	const char *within = inside->within;

	snprintf(ret_text, size, "%.1000s%s", readable_name(reader, inside->name, inside->name),
		 within ? ", inlined in " : "");
	if (within)
		snprintf(ret_text + strlen(ret_text), size - strlen(ret_text), "%.1000s",
			 readable_name(reader, within, within));
}

static void send_details(const struct confined_job *job, struct reader *reader,
			 const struct place *place)
{
	char text[2048];

	reading_send_string(job, place->version ? place->version : "");
	if (place->inside)
		describe_inside(reader, place->inside, text, sizeof(text));
	reading_send_string(job, place->inside ? text : readable_name(reader, place->name, ""));
}

static void answer(const struct confined_job *job, struct reader *reader)
{
	confined_send(job, &reader->facts, sizeof(reader->facts));
	for (uint32_t i = 0; i < reader->facts.n; i++) {
		confined_send(job, &reader->places[i].sent, sizeof(reader->places[i].sent));
		reading_send_string(job, reader->places[i].name);
		if (reader->question->details)
			send_details(job, reader, &reader->places[i]);
	}
}

static void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	ifunc_slots_free(reader->slots);
	elf_versions_free(&reader->versions);
	elf_file_close(reader->debug);
	free(reader->debug_bytes);
	free(reader->items);
	free(reader->places);
	functions_places_clear(&reader->inside);
	free(reader);
}
DEFINE_OWN(struct reader, reader_free)

int functions_reader_work(const struct confined_job *job)
{
	const struct functions_question *question = job->request;
	own(own_reader_free) struct reader *reader = calloc(1, sizeof(*reader));
	own(own_elf_file_close) struct elf_file *elf = NULL;
	own(own_pool_free) struct pool *names = NULL;
	struct error err = { 0 };
	int r = reader ? pool_new(&names) : -ENOMEM;

	if (r == 0)
		r = code_file_open(job->fds[0], question->path, &elf, &err);
	if (r == 0) {
		reader->question = question;
		reader->fd = job->fds[0];
		reader->elf = elf;
		reader->names = names;
		reader->inside = (struct functions_places){ .elf = elf,
							    .code = reader->code,
							    .names = names };
		reader->name_reader.matcher = question->matcher;
		reader->name_reader.nearest = &reader->facts.nearest;
		r = elf_versions_read(elf, &reader->versions);
		r = r < 0 ? r : read_all(reader, job->fds[1]);
	}
	if (r == -ENOMEM)
		error_set(&err, r, "out of memory for the functions of %.500s", question->path);
	reading_send_head(job, r, &err);
	if (r == 0)
		answer(job, reader);
	return 0;
}
