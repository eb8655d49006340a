// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * USDT probes: uprobes at their nops, which the notes of the ELF file name (elf/usdt_notes.h), and
 * the semaphores by which programs see whether a probe is in use.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/user.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/pool.h"
#include "elf/code_file.h"
#include "elf/usdt_notes.h"
#include "trigger/entry.h"
#include "trigger/kinds.h"
#include "trigger/matcher.h"
#include "trigger/nearest.h"
#include "trigger/reading.h"
#include "trigger/sites.h"
#include "trigger/unprobeable.h"
#include "trigger/usdt_arguments.h"
#include "trigger/usdt_values.h"

#define NOTES_MAX (64u << 20)
#define PAGE	  4096

/* The probes that are looked for in a file. */
struct question {
	const struct matcher *provider, *name; /* provider may be NULL */
	const struct nearest *nearest;	       /* the nearest names so far */
	const char *path;
};

/* The head of a child's answer; the sites follow. */
struct facts {
	uint32_t n, n_notes;
	uint32_t n_unset; /* sites whose semaphore is not in the file */
	struct nearest nearest;
};

/* One site; its arguments, its name and the text of the arguments follow. */
struct sent_site {
	uint64_t offset, semaphore;
	uint32_t n_arguments;
	uint8_t emulated; /* 0: not */
	uint8_t reserved[3];
};

/* The probes found in one file. */
struct search {
	const struct question *question;
	struct facts facts;
	struct pool *names;
	struct site *items;
	uint32_t capacity;
	/* In the child: */
	const struct elf_file *elf;
	uint64_t base; /* address of .stapsdt.base, or 0 */
};

/* Counts probes, not sites: a probe has many sites where its function was inlined. */
static uint32_t n_attached(const struct trigger *trigger)
{
	const struct sites *sites = (const struct sites *)trigger;
	uint32_t n = 0;

	if (sites->probes.n_attached == 0)
		return 0;
	/* Sites are sorted by name, and the pool keeps each name once. */
	for (uint32_t i = 0; i < sites->n; i++)
		n += i == 0 || sites->items[i].name != sites->items[i - 1].name;
	return n;
}

/* The arguments that all sites have. */
static int values(struct trigger *trigger, bool of_returns, struct event_values *ret_values,
		  struct error *err)
{
	struct sites *sites = (struct sites *)trigger;
	int r = sites_check_64(sites, err);

	(void)of_returns; /* they are refused */
	if (r < 0)
		return r;
	if (!sites->values.n)
		r = usdt_values_add(sites);
	*ret_values = value_list_values(&sites->values);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/* "-4@%edi" as "arg1 int32_t %edi". */
static void list_argument(uint32_t number, const char *word, size_t size,
			  const struct listing *listing)
{
	const char *at = memchr(word, '@', size);
	bool is_signed = *word == '-';
	long bytes = strtol(word + is_signed, NULL, 10);
	char text[300];

	if (at && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8))
		snprintf(text, sizeof(text), "arg%u %sint%ld_t %.*s", number, is_signed ? "" : "u",
			 bytes * 8, (int)(word + size - at - 1), at + 1);
	else
		snprintf(text, sizeof(text), "arg%u %.*s", number, (int)size, word);
	listing->detail(listing->to, text);
}

static void list_arguments(const char *text, const struct listing *listing)
{
	uint32_t n = 0;

	for (text += strspn(text, " "); *text && n < USDT_ARGUMENTS_MAX; n++) {
		size_t size = strcspn(text, " ");

		list_argument(n + 1, text, size < 200 ? size : 200, listing);
		text += size;
		text += strspn(text, " ");
	}
}

static int list(const struct trigger *trigger, const struct listing *listing, struct error *err)
{
	const struct sites *sites = (const struct sites *)trigger;
	char prefix[PATH_MAX + 4];

	(void)err;
	snprintf(prefix, sizeof(prefix), "u:%s:", sites->library.path);
	for (uint32_t i = 0; i < sites->n; i++) {
		const struct site *site = &sites->items[i];

		sites_list(site, prefix, listing);
		list_arguments(site->argument_text, listing);
		if (site->semaphore)
			listing->detail(listing->to, "has a semaphore, by which the program sees "
						     "that it is probed");
	}
	return 0;
}

static const struct trigger_ops USDT_OPS = {
	.meet = true,
	.select = sites_select,
	.attach = sites_attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = sites_free,
	.n_attached = n_attached,
	.file = sites_file,
	.values = values,
	.list = list,
};

/* The name is one of the pool, which gets a copy of the arguments. */
static int add(struct search *search, const struct site *site, const struct event_value *arguments)
{
	int r = grow(&search->items, &search->capacity, search->facts.n + 1);
	struct site added = *site;

	if (r < 0)
		return r;
	added.arguments = pool_string_n(search->names, (const char *)arguments,
					site->n_arguments * sizeof(*arguments));
	if (!added.arguments)
		return -ENOMEM;
	search->items[search->facts.n++] = added;
	return 0;
}

/*
 * The kernel finds a semaphore by its offset in the file, in a writable mapping of that. So it also
 * finds one that is not in the file (.bss), if it is on the last page of the file's data. But when
 * a program begins, that page is cleared behind the data after the kernel has set the semaphore.
 */
static bool bss_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		uint64_t within = address - segment->address;
		uint64_t end = segment->address + segment->file_size; /* of the file's data */

		if (segment->type != PT_LOAD || !(segment->flags & PF_W) || !segment->file_size ||
		    address < segment->address || within >= segment->memory_size ||
		    (end - 1) / PAGE != address / PAGE || segment->offset > elf->size)
			continue;
		*ret_offset = segment->offset + within;
		return true;
	}
	return false;
}

static uint64_t semaphore_offset(struct search *search, uint64_t address)
{
	uint64_t offset = 0;

	if (code_file_offset(search->elf, address, false, &offset))
		return offset;
	search->facts.n_unset++;
	return bss_offset(search->elf, address, &offset) ? offset : 0;
}

static bool is_emulated(const struct search *search, uint64_t offset)
{
	uint8_t code[UNPROBEABLE_BYTES];

	return elf_file_read(search->elf, offset, code, sizeof(code)) == 0 &&
	       probe_emulated(code, sizeof(code));
}

/* prelink(8) moves addresses without correcting the notes: by as much as it moved the base. */
static int consider(struct search *search, const struct usdt_note *note)
{
	uint64_t moved = search->base && note->base ? search->base - note->base : 0;
	struct event_value arguments[USDT_ARGUMENTS_MAX];
	struct site site = { 0 };
	char full[512];

	search->facts.n_notes++;
	if ((search->question->provider &&
	     !matcher_matches(search->question->provider, note->provider)) ||
	    !matcher_matches(search->question->name, note->name)) {
		nearest_add(&search->facts.nearest, note->name);
		return 0;
	}
	if (!code_file_offset(search->elf, note->address + moved, true, &site.offset))
		return 0;
	if (note->semaphore)
		site.semaphore = semaphore_offset(search, note->semaphore + moved);
	snprintf(full, sizeof(full), "%s:%s", note->provider, note->name);
	site.name = pool_string(search->names, full);
	site.n_arguments = usdt_arguments_parse(note->arguments, arguments);
	site.argument_text = pool_string(search->names, note->arguments);
	site.emulated = is_emulated(search, site.offset);
	return site.name && site.argument_text ? add(search, &site, arguments) : -ENOMEM;
}

static int compare_offsets(const void *left, const void *right)
{
	const struct site *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int compare_names(const void *left, const void *right)
{
	const struct site *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : compare_offsets(left, right);
}

/* Several notes may name one site; it is probed once. */
static void drop_duplicates(struct search *search)
{
	uint32_t n = 0;

	if (search->facts.n == 0)
		return;
	qsort(search->items, search->facts.n, sizeof(*search->items), compare_offsets);
	for (uint32_t i = 0; i < search->facts.n; i++) {
		if (n == 0 || search->items[i].offset != search->items[n - 1].offset)
			search->items[n++] = search->items[i];
	}
	search->facts.n = n;
	qsort(search->items, search->facts.n, sizeof(*search->items), compare_names);
}

static int read_notes(struct search *search, struct error *err)
{
	const char *path = search->question->path;
	const struct elf_section *section = elf_file_section(search->elf, ".note.stapsdt");
	const struct elf_section *base = elf_file_section(search->elf, ".stapsdt.base");
	own(own_free) void *bytes = NULL;
	struct usdt_note note;
	size_t offset = 0;
	int r;

	if (!section)
		return 0;
	search->base = base ? base->address : 0;
	r = elf_file_load(search->elf, section, NOTES_MAX, &bytes);
	if (r < 0)
		return error_set(err, r, "cannot read the USDT notes of %.300s: %s", path,
				 strerror(-r));
	while (usdt_notes_next(bytes, section->size, search->elf->is_64, &offset, &note)) {
		r = consider(search, &note);
		if (r < 0)
			return error_set(err, r, "out of memory");
	}
	drop_duplicates(search);
	return 0;
}

static void clear(struct search *search)
{
	free(search->items);
	pool_free(search->names);
}

/* Runs in a child. */
static int work(const struct confined_job *job)
{
	own(clear) struct search search = { .question = job->request };
	own(own_elf_file_close) struct elf_file *elf = NULL;
	struct error err = { 0 };
	int r = code_file_open(job->fds[0], search.question->path, &elf, &err);

	search.elf = elf;
	search.facts.nearest = *search.question->nearest;
	if (r == 0 && pool_new(&search.names) < 0)
		r = error_set(&err, -ENOMEM, "out of memory");
	if (r == 0)
		r = read_notes(&search, &err);
	reading_send_head(job, r, &err);
	if (r < 0)
		return 0;
	confined_send(job, &search.facts, sizeof(search.facts));
	for (uint32_t i = 0; i < search.facts.n; i++) {
		const struct site *site = &search.items[i];
		const struct sent_site sent = { .offset = site->offset,
						.semaphore = site->semaphore,
						.n_arguments = site->n_arguments,
						.emulated = site->emulated };

		confined_send(job, &sent, sizeof(sent));
		confined_send(job, site->arguments, site->n_arguments * sizeof(struct event_value));
		reading_send_string(job, site->name);
		reading_send_string(job, site->argument_text);
	}
	return 0;
}

/* Whether a child's answer is one that usdt_arguments_parse() gives. */
static bool is_argument(const struct event_value *value)
{
	const uint32_t most = sizeof(struct user_regs_struct) - sizeof(uint64_t);

	return value->kind <= EVENT_VALUE_CONSTANT && value->text <= EVENT_TEXT_KERNEL &&
	       value->offset <= most && value->index.offset <= most && value->index.scale <= 8 &&
	       value->size <= sizeof(uint64_t) && !value->unit && !value->sites;
}

/* Reads one site of the answer. 0 or a negative errno. */
static int take_site(struct search *search, struct reading *reading)
{
	struct event_value arguments[USDT_ARGUMENTS_MAX];
	struct sent_site sent;
	struct site site = { 0 };
	int r = reading_bytes(reading, &sent, sizeof(sent));

	if (r < 0)
		return r;
	if (sent.n_arguments > USDT_ARGUMENTS_MAX)
		return -EPROTO;
	site = (struct site){ .offset = sent.offset,
			      .semaphore = sent.semaphore,
			      .n_arguments = sent.n_arguments,
			      .emulated = sent.emulated != 0 };
	r = reading_bytes(reading, arguments, site.n_arguments * sizeof(arguments[0]));
	for (uint32_t i = 0; r == 0 && i < site.n_arguments; i++)
		r = is_argument(&arguments[i]) ? 0 : -EPROTO;
	if (r == 0)
		r = reading_string(reading, search->names, &site.name);
	if (r == 0)
		r = reading_string(reading, search->names, &site.argument_text);
	return r < 0 ? r : add(search, &site, arguments);
}

/* The sites that a child finds in the file. */
static int ask(struct search *search, int fd, struct error *err)
{
	const struct question *question = search->question;
	own(reading_end) struct reading reading = { 0 };
	struct facts facts;
	int r = reading_begin(work, question, sizeof(*question), &fd, 1, &reading, err);

	if (r < 0)
		return r;
	r = reading_bytes(&reading, &facts, sizeof(facts));
	for (uint32_t i = 0; r == 0 && i < facts.n; i++)
		r = take_site(search, &reading);
	if (r < 0)
		return error_set(err, r, "cannot read the USDT notes of %.300s: %s", question->path,
				 strerror(-r));
	search->facts = facts;
	return 0;
}

static int no_match(const struct spec *spec, const struct search *search,
		    const struct library *library, struct error *err)
{
	char pattern[300], near[400];

	if (search->facts.n_notes == 0)
		return error_set(err, -ENOENT,
				 "No functions matched by pattern u:%.100s:%.100s%s%.100s: "
				 "%.200s has no USDT probes",
				 spec->library, spec->provider ? spec->provider : "",
				 spec->provider ? ":" : "", spec->name, library->path);
	matcher_describe(spec->name, spec->regexp, pattern, sizeof(pattern));
	nearest_describe(&search->facts.nearest, near, sizeof(near));
	return error_set(err, -ENOENT,
			 "No functions matched by pattern %s in the USDT probes of "
			 "%.200s%s",
			 pattern, library->path, near);
}

/* Looks in one library. `question` lacks its path. */
static int try_library(const struct spec *spec, const char *name, pid_t pid,
		       struct question question, struct probes **ret_probes, struct error *err)
{
	own(library_clear) struct library library = { .fd = -1 };
	own(clear) struct search search = { .question = &question };
	int r = library_find(name, pid, &library, err);

	if (r < 0)
		return r;
	if (pool_new(&search.names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	question.path = library.path;
	r = ask(&search, library.fd, err);
	if (r < 0)
		return r;
	if (search.facts.n == 0)
		return no_match(spec, &search, &library, err);
	r = sites_trigger_new(&USDT_OPS, &library, take_ptr(search.items), search.facts.n,
			      take_ptr(search.names), ret_probes, err);
	if (r == 0 && search.facts.n_unset > 0)
		probes_note(*ret_probes,
			    "the semaphore of %u of %u sites is not in the file (.bss): if the "
			    "program looks at it, they count at most in processes that run already",
			    search.facts.n_unset, search.facts.n);
	return r;
}

static int make(const struct spec *spec, pid_t pid, struct probes **ret_probes, struct error *err)
{
	own(own_matcher_free) struct matcher *provider = NULL;
	own(own_matcher_free) struct matcher *name = NULL;
	const char *moved_to = library_moved_to(spec->library);
	struct question question = { 0 };
	struct nearest nearest;
	struct error moved_err;
	int r = matcher_new(spec->name, spec->regexp, &name, err);

	if (r == 0 && spec->provider)
		r = matcher_new(spec->provider, spec->regexp, &provider, err);
	if (r < 0)
		return r;
	nearest_init(&nearest, spec->regexp ? "" : spec->name);
	question = (struct question){ .provider = provider, .name = name, .nearest = &nearest };
	r = try_library(spec, spec->library, pid, question, ret_probes, err);
	if (r == -ENOENT && moved_to) {
		r = try_library(spec, moved_to, pid, question, ret_probes, &moved_err);
		if (r < 0 && err)
			*err = moved_err;
	}
	return r;
}

const struct trigger_kind usdt_kind = {
	.type = 'u',
	.form = "USDT probes are u:LIBRARY:PROBE",
	.takes_library = true,
	.takes_provider = true,
	.make = make,
};
