// SPDX-License-Identifier: GPL-2.0-or-later
/* USDT probes: uprobes at their nops, with the semaphores that programs guard them by. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "base/pool.h"
#include "elf/code_offset.h"
#include "elf/usdt_notes.h"
#include "trigger/entry.h"
#include "trigger/kinds.h"
#include "trigger/nearest.h"
#include "trigger/sites.h"

#define NOTES_MAX (64u << 20)

DEFINE_OWN(struct matcher, matcher_free)

/* The probes of one file, as they are found. */
struct search {
	const struct elf_file *elf;
	const struct matcher *provider, *name; /* provider may be NULL */
	struct nearest nearest;
	struct pool *names;
	struct site *items;
	uint32_t n, capacity, n_notes;
	uint64_t base; /* .stapsdt.base in the file, or 0 */
};

/* Probes, not places: one probe is in many places when its function was inlined. */
static uint32_t n_attached(const struct trigger *trigger)
{
	const struct sites *sites = (const struct sites *)trigger;
	uint32_t n = 0;

	if (sites->probes.n_attached == 0)
		return 0;
	/* They are sorted by name, and equal names are one string. */
	for (uint32_t i = 0; i < sites->n; i++)
		n += i == 0 || sites->items[i].name != sites->items[i - 1].name;
	return n;
}

static const struct trigger_ops USDT_OPS = {
	.kind = "usdt",
	.preemptible = true,
	.select = sites_select,
	.attach = sites_attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = sites_free,
	.n_attached = n_attached,
};

static int add(struct search *search, const char *name, uint64_t offset, uint64_t semaphore)
{
	if (search->n == search->capacity) {
		uint32_t capacity = search->capacity ? search->capacity * 2 : 16;
		struct site *items = reallocarray(search->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		search->items = items;
		search->capacity = capacity;
	}
	search->items[search->n++] =
		(struct site){ .name = name, .offset = offset, .semaphore = semaphore };
	return 0;
}

/* Prelink moved the addresses after the notes were written: by as much as the base was moved. */
static int consider(struct search *search, const struct usdt_note *note)
{
	uint64_t moved = search->base && note->base ? search->base - note->base : 0;
	uint64_t offset, semaphore = 0;
	char full[512];
	const char *name;

	search->n_notes++;
	if ((search->provider && !matcher_matches(search->provider, note->provider)) ||
	    !matcher_matches(search->name, note->name)) {
		nearest_add(&search->nearest, note->name);
		return 0;
	}
	if (!code_offset(search->elf, note->address + moved, true, &offset))
		return 0;
	if (note->semaphore &&
	    !code_offset(search->elf, note->semaphore + moved, false, &semaphore))
		return 0; /* without its semaphore it would never fire */
	snprintf(full, sizeof(full), "%s:%s", note->provider, note->name);
	name = pool_string(search->names, full);
	return name ? add(search, name, offset, semaphore) : -ENOMEM;
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

/* Several notes for one place: it is probed once. */
static void drop_doubles(struct search *search)
{
	uint32_t n = 0;

	if (search->n == 0)
		return;
	qsort(search->items, search->n, sizeof(*search->items), compare_offsets);
	for (uint32_t i = 0; i < search->n; i++) {
		if (n == 0 || search->items[i].offset != search->items[n - 1].offset)
			search->items[n++] = search->items[i];
	}
	search->n = n;
	qsort(search->items, search->n, sizeof(*search->items), compare_names);
}

static int read_notes(struct search *search, const char *path, struct error *err)
{
	const struct elf_section *section = elf_file_section(search->elf, ".note.stapsdt");
	const struct elf_section *base = elf_file_section(search->elf, ".stapsdt.base");
	own(own_free) void *bytes = NULL;
	struct usdt_note note;
	size_t offset = 0;
	int rc;

	if (!section)
		return 0;
	search->base = base ? base->address : 0;
	rc = elf_file_load(search->elf, section, NOTES_MAX, &bytes);
	if (rc < 0)
		return error_set(err, rc, "cannot read the USDT notes of %.300s: %s", path,
				 strerror(-rc));
	while (usdt_notes_next(bytes, section->size, search->elf->is_64, &offset, &note)) {
		rc = consider(search, &note);
		if (rc < 0)
			return error_set(err, rc, "out of memory");
	}
	drop_doubles(search);
	return 0;
}

static int no_match(const struct spec *spec, const struct search *search,
		    const struct library *library, struct error *err)
{
	char pattern[300], near[400];

	if (search->n_notes == 0)
		return error_set(err, -ENOENT,
				 "No functions matched by pattern u:%.100s:%.100s%s%.100s: "
				 "%.200s has no USDT probes",
				 spec->library, spec->provider ? spec->provider : "",
				 spec->provider ? ":" : "", spec->name, library->path);
	matcher_describe(spec->name, spec->regexp, pattern, sizeof(pattern));
	nearest_describe(&search->nearest, near, sizeof(near));
	return error_set(err, -ENOENT,
			 "No functions matched by pattern %s in the USDT probes of "
			 "%.200s%s",
			 pattern, library->path, near);
}

/* Whatever it finds is in the search then; the caller frees what is left there. */
static int try_library(const struct spec *spec, const char *name, pid_t pid, struct search *search,
		       struct probes **ret_probes, struct error *err)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;
	struct library library = { .fd = -1 };
	int rc;

	rc = library_find(name, pid, &library, err);
	if (rc < 0)
		return rc;
	rc = code_file_open(library.fd, library.path, &elf, err);
	search->elf = elf;
	if (rc == 0)
		rc = read_notes(search, library.path, err);
	if (rc == 0 && search->n == 0)
		rc = no_match(spec, search, &library, err);
	if (rc == 0)
		rc = sites_trigger_new(&USDT_OPS, &library, take_ptr(search->items), search->n,
				       take_ptr(search->names), ret_probes, err);
	library_clear(&library);
	return rc;
}

static void own_search_clear(struct search *search)
{
	free(search->items);
	pool_free(search->names);
}

int usdt_trigger_new(const struct spec *spec, pid_t pid, struct probes **ret_probes,
		     struct error *err)
{
	own(own_matcher_free) struct matcher *provider = NULL;
	own(own_matcher_free) struct matcher *name = NULL;
	own(own_search_clear) struct search search = { 0 };
	const char *other = library_moved_to(spec->library);
	struct error other_err;
	int rc;

	rc = matcher_new(spec->name, spec->regexp, &name, err);
	if (rc == 0 && spec->provider)
		rc = matcher_new(spec->provider, spec->regexp, &provider, err);
	if (rc < 0)
		return rc;
	search.provider = provider;
	search.name = name;
	nearest_init(&search.nearest, spec->regexp ? "" : spec->name);
	if (pool_new(&search.names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	rc = try_library(spec, spec->library, pid, &search, ret_probes, err);
	if (rc == -ENOENT && other) {
		rc = try_library(spec, other, pid, &search, ret_probes, &other_err);
		if (rc < 0 && err)
			*err = other_err;
	}
	return rc;
}
