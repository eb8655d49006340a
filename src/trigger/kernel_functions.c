// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/kernel_functions.h"

#include <errno.h>
#include <string.h>

#include "base/index.h"
#include "base/own.h"
#include "base/pool.h"
#include "trigger/attach.h"
#include "trigger/probes.h"
#include "trigger/spec.h"
#include "trigger/tracefs.h"

/* From a function's first byte to the place ftrace patches: past ENDBR, BTI and the like. */
#define PATCH_SITE_MAX 32

#define READ_SIZE (256u << 10)

struct range {
	uint64_t from, to;
};

struct scan {
	const struct matcher *matcher;
	struct nearest *nearest;
	bool exact;
	struct pool *pool;
	struct index traceable; /* of names below: "name" or "name\tmodule" */
	const char **names;
	uint32_t n_names, names_capacity;
	bool know_traceable, know_sites;
	uint64_t *sites; /* where ftrace patches, sorted */
	uint32_t n_sites, sites_capacity;
	struct range *blacklist;
	uint32_t n_blacklist, blacklist_capacity;
	struct range init, init_text, irqentry;
	struct kernel_function *items;
	uint32_t n, capacity;
};

static void own_scan_clear(struct scan *scan)
{
	pool_free(scan->pool);
	index_free(&scan->traceable);
	free(scan->names);
	free(scan->sites);
	free(scan->blacklist);
	free(scan->items);
}

/* Room for one more; `array` is the address of a pointer to elements of `size`. */
static int reserve(void *array, uint32_t n, uint32_t *capacity, size_t size)
{
	uint32_t grown = *capacity ? *capacity * 2 : 256;
	void *moved;

	if (n < *capacity)
		return 0;
	moved = reallocarray(*(void **)array, grown, size);
	if (!moved)
		return -ENOMEM;
	*(void **)array = moved;
	*capacity = grown;
	return 0;
}

static bool is_tracer(const char *name)
{
	static const char *const prefixes[] = { "_kbl_addr_", "__perf", "perf_", "__SCT__" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

/* "f.cold", "f.cold.3": the unlikely part of a function, no function. */
static bool is_cold(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (cold[5] == '\0' || cold[5] == '.');
}

static uint32_t find_name(const struct scan *scan, const char *name)
{
	struct index_cursor cursor;
	uint32_t i = index_first(&scan->traceable, hash_bytes(name, strlen(name)), &cursor);

	while (i != INDEX_NONE && strcmp(scan->names[i], name) != 0)
		i = index_next(&scan->traceable, &cursor);
	return i;
}

static int add_name(struct scan *scan, const char *name)
{
	if (find_name(scan, name) != INDEX_NONE)
		return 0;
	if (reserve(&scan->names, scan->n_names, &scan->names_capacity, sizeof(*scan->names)) < 0)
		return -ENOMEM;
	scan->names[scan->n_names] = pool_string(scan->pool, name);
	if (!scan->names[scan->n_names])
		return -ENOMEM;
	if (index_add(&scan->traceable, hash_bytes(name, strlen(name)), scan->n_names) < 0)
		return -ENOMEM;
	scan->n_names++;
	return 0;
}

static int add_site(struct scan *scan, uint64_t site)
{
	if (reserve(&scan->sites, scan->n_sites, &scan->sites_capacity, sizeof(*scan->sites)) < 0)
		return -ENOMEM;
	scan->sites[scan->n_sites++] = site;
	return 0;
}

/* "name", "name [module]", the latter as "name\tmodule"; cuts what else is on the line. */
static char *name_and_module(char *line)
{
	char *end = line + strcspn(line, " \t\n");
	char *module = *end == '\n' || !*end ? NULL : end + strspn(end, " \t");

	*end = '\0';
	if (module && *module == '[') {
		size_t n = strcspn(module + 1, "]\n");

		*end = '\t';
		memmove(end + 1, module + 1, n);
		end[1 + n] = '\0';
	}
	return line;
}

/* Does the name, up to the module, match? Others may be near to it. */
static bool name_matches(const struct scan *scan, char *full)
{
	char *tab = strchr(full, '\t');
	bool matches;

	if (tab)
		*tab = '\0';
	matches = matcher_matches(scan->matcher, full);
	if (!matches && scan->nearest)
		nearest_add(scan->nearest, full);
	if (tab)
		*tab = '\t';
	return matches;
}

static int read_traceable(struct scan *scan, FILE *text, bool with_addresses)
{
	own(own_free) char *line = NULL;
	size_t size = 0;
	int rc = 0;

	while (rc == 0 && getline(&line, &size, text) > 0) {
		char *at = line, *name;
		uint64_t site = 0;

		if (with_addresses) {
			site = strtoull(line, &at, 16);
			at += strspn(at, " \t");
		}
		name = name_and_module(at);
		if (strncmp(name, "__ftrace_invalid_address__", 26) == 0 ||
		    !name_matches(scan, name))
			continue;
		rc = add_name(scan, name);
		if (rc == 0 && site)
			rc = add_site(scan, site);
	}
	return rc;
}

static int read_blacklist(struct scan *scan, FILE *text)
{
	own(own_free) char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, text) > 0) {
		struct range range;
		char *at;

		range.from = strtoull(line, &at, 16);
		if (*at != '-')
			continue;
		range.to = strtoull(at + 1, NULL, 16);
		if (range.from == 0 || range.to < range.from)
			continue;
		if (range.to == range.from)
			range.to++;
		if (reserve(&scan->blacklist, scan->n_blacklist, &scan->blacklist_capacity,
			    sizeof(*scan->blacklist)) < 0)
			return -ENOMEM;
		scan->blacklist[scan->n_blacklist++] = range;
	}
	return 0;
}

static void note_marker(struct scan *scan, const char *name, uint64_t address)
{
	const struct {
		const char *name;
		uint64_t *address;
	} markers[] = {
		{ "__init_begin", &scan->init.from },
		{ "__init_end", &scan->init.to },
		{ "_sinittext", &scan->init_text.from },
		{ "_einittext", &scan->init_text.to },
		{ "__irqentry_text_start", &scan->irqentry.from },
		{ "__irqentry_text_end", &scan->irqentry.to },
	};

	if (name[0] != '_')
		return;
	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
		if (strcmp(name, markers[i].name) == 0)
			*markers[i].address = address;
	}
}

/* "ffffffff81000000 T name\t[module]". The traceable name may well be another module's. */
static int read_kallsyms(struct scan *scan, FILE *text)
{
	own(own_free) char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, text) > 0) {
		char *at, *name, *tab;
		uint64_t address = strtoull(line, &at, 16);

		if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
			continue;
		name = name_and_module(at + 3);
		if (!strchr("tTwW", at[1])) {
			note_marker(scan, name, address);
			continue;
		}
		tab = strchr(name, '\t');
		if (!tab)
			note_marker(scan, name, address);
		/* Near names are those that can be traced, where that is known. */
		if (scan->know_traceable
			    ? !name_matches(&(struct scan){ .matcher = scan->matcher }, name)
			    : !name_matches(scan, name))
			continue;
		if (reserve(&scan->items, scan->n, &scan->capacity, sizeof(*scan->items)) < 0)
			return -ENOMEM;
		scan->items[scan->n].address = address;
		scan->items[scan->n].name = pool_string(scan->pool, name);
		if (!scan->items[scan->n].name)
			return -ENOMEM;
		scan->n++;
	}
	return 0;
}

static bool in_range(const struct range *range, uint64_t address)
{
	return address && address >= range->from && address < range->to;
}

static bool has_site(const struct scan *scan, uint64_t address)
{
	uint32_t low = 0, high = scan->n_sites;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (scan->sites[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < scan->n_sites && scan->sites[low] - address < PATCH_SITE_MAX;
}

/* Several functions may have one name: by address it is known which of them can be traced. */
static bool is_traceable(const struct scan *scan, const struct kernel_function *function)
{
	if (!scan->know_traceable)
		return true;
	if (find_name(scan, function->name) == INDEX_NONE)
		return false;
	return !scan->know_sites || !function->address || has_site(scan, function->address);
}

/* KERNEL_ABSENT: nothing is against it. */
static enum kernel_untraceable judge(const struct scan *scan,
				     const struct kernel_function *function)
{
	if (in_range(&scan->init, function->address) ||
	    in_range(&scan->init_text, function->address))
		return KERNEL_INIT;
	for (uint32_t i = 0; i < scan->n_blacklist; i++) {
		if (in_range(&scan->blacklist[i], function->address))
			return KERNEL_BLACKLISTED;
	}
	if (in_range(&scan->irqentry, function->address))
		return KERNEL_IRQENTRY;
	if (!is_traceable(scan, function))
		return KERNEL_NOTRACE;
	if (is_cold(function->name) || (!scan->exact && is_tracer(function->name)))
		return KERNEL_TRACER;
	return KERNEL_ABSENT;
}

static int compare_sites(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static int compare_functions(const void *left, const void *right)
{
	const struct kernel_function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int select_functions(struct scan *scan, struct kernel_functions *functions)
{
	uint32_t n = 0;

	if (scan->n > 0)
		qsort(scan->items, scan->n, sizeof(*scan->items), compare_functions);
	for (uint32_t i = 0; i < scan->n; i++) {
		struct kernel_function *item = &scan->items[i];
		enum kernel_untraceable verdict = judge(scan, item);
		char *tab;

		if (verdict != KERNEL_ABSENT) {
			functions->untraceable = verdict;
			continue;
		}
		tab = strchr(item->name, '\t');
		if (tab)
			item->name =
				pool_string_n(scan->pool, item->name, (size_t)(tab - item->name));
		if (!item->name)
			return -ENOMEM;
		if (n > 0 && (item->address ? item->address == scan->items[n - 1].address
					    : item->name == scan->items[n - 1].name))
			continue;
		functions->have_addresses = item->address != 0;
		scan->items[n++] = *item;
	}
	functions->items = take_ptr(scan->items);
	functions->n = n;
	functions->names = take_ptr(scan->pool);
	return 0;
}

int kernel_functions_read(const struct kernel_texts *texts, const struct matcher *matcher,
			  bool exact, struct nearest *nearest,
			  struct kernel_functions *ret_functions, struct error *err)
{
	own(own_scan_clear) struct scan scan = { .matcher = matcher,
						 .nearest = nearest,
						 .exact = exact };
	struct kernel_functions functions = { 0 };
	FILE *traceable =
		texts->traceable_addresses ? texts->traceable_addresses : texts->traceable;
	int rc;

	rc = pool_new(&scan.pool);
	if (rc == 0 && traceable) {
		scan.know_traceable = true;
		rc = read_traceable(&scan, traceable, texts->traceable_addresses != NULL);
		if (scan.n_sites > 0)
			qsort(scan.sites, scan.n_sites, sizeof(*scan.sites), compare_sites);
		scan.know_sites = scan.n_sites > 0;
	}
	if (rc == 0 && texts->blacklist)
		rc = read_blacklist(&scan, texts->blacklist);
	if (rc == 0)
		rc = read_kallsyms(&scan, texts->kallsyms);
	if (rc == 0)
		rc = select_functions(&scan, &functions);
	if (rc < 0)
		return error_set(err, rc, "out of memory for the names of kernel functions");
	*ret_functions = functions;
	return 0;
}

void kernel_functions_clear(struct kernel_functions *functions)
{
	if (!functions)
		return;
	free(functions->items);
	pool_free(functions->names);
	*functions = (struct kernel_functions){ 0 };
}

/* The kernel looks for where it was at each read: with stdio's pages that is half of the time. */
static void read_in_large(FILE *file, char *buffer)
{
	if (file && buffer)
		setvbuf(file, buffer, _IOFBF, READ_SIZE);
}

int kernel_functions_find(const struct matcher *matcher, bool exact, struct nearest *nearest,
			  struct kernel_functions *ret_functions, struct error *err)
{
	own(own_free) char *buffers = malloc(2 * (size_t)READ_SIZE); /* closed files need none */
	own(own_file) FILE *kallsyms = fopen("/proc/kallsyms", "re");
	own(own_file) FILE *traceable = NULL, *addresses = NULL, *blacklist = NULL;
	own(own_fd) int tracefs = tracefs_open(err);
	own(own_fd) int debugfs = -1;

	if (tracefs < 0)
		return tracefs;
	if (!kallsyms)
		return refused(err, -errno, "cannot open /proc/kallsyms");
	addresses = tracefs_file(tracefs, "available_filter_functions_addrs");
	if (!addresses)
		traceable = tracefs_file(tracefs, "available_filter_functions");
	/* Without ftrace there is no such file, and kprobes can still be set. */
	if (!addresses && !traceable && errno != ENOENT && !have_kprobe())
		return error_privilege(err, -errno,
				       "kernel functions cannot be traced: this kernel has no "
				       "kprobes (CONFIG_KPROBES), and its list of functions for "
				       "fentry cannot be read: %s",
				       strerror(errno));
	if (!addresses && !traceable && errno != ENOENT)
		return refused(err, -errno, "cannot open available_filter_functions of tracefs");
	read_in_large(kallsyms, buffers);
	read_in_large(addresses ? addresses : traceable, buffers ? buffers + READ_SIZE : NULL);
	/* The blacklist only spares us attempts: where it cannot be read, the kernel refuses. */
	debugfs = debugfs_open(NULL);
	if (debugfs >= 0)
		blacklist = tracefs_file(debugfs, "kprobes/blacklist");
	return kernel_functions_read(&(struct kernel_texts){ .kallsyms = kallsyms,
							     .traceable = traceable,
							     .traceable_addresses = addresses,
							     .blacklist = blacklist },
				     matcher, exact, nearest, ret_functions, err);
}
