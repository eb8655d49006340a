// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/kernel_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/own.h"
#include "base/pool.h"
#include "kernel/kallsyms_lines.h"
#include "trigger/attach.h"
#include "trigger/ftrace_functions.h"
#include "trigger/matcher.h"
#include "trigger/refused.h"
#include "trigger/tracefs.h"

struct range {
	uint64_t from, to;
};

struct scan {
	const struct matcher *matcher;
	struct nearest *nearest;
	bool exact;
	bool know_ftrace; /* `ftrace` tells what can be traced */
	struct ftrace_functions ftrace;
	struct range *blacklist;
	uint32_t n_blacklist, blacklist_capacity;
	struct range init, init_text, irqentry;
	struct pool *pool;	       /* of the names of `items` */
	struct kernel_function *items; /* all that match, by their keys (ftrace_functions.h) */
	uint32_t n, capacity;
};

static void own_scan_clear(struct scan *scan)
{
	ftrace_functions_clear(&scan->ftrace);
	free(scan->blacklist);
	pool_free(scan->pool);
	free(scan->items);
}

/* Names that a wildcard or regular expression does not mean: the tracers' own functions. */
static bool is_tracer(const char *name)
{
	static const char *const prefixes[] = { "_kbl_addr_", "__perf", "perf_", "__SCT__" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

/* "f.cold", "f.cold.3": not a function but the unlikely part of one. */
static bool is_cold(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (cold[5] == '\0' || cold[5] == '.');
}

/* "0xSTART-0xEND\tNAME" */
static int read_blacklisted(void *context, char *line, size_t size)
{
	struct scan *scan = context;
	struct range range;
	char *at;
	int r;

	(void)size;
	range.from = strtoull(line, &at, 16);
	if (*at != '-')
		return 0;
	range.to = strtoull(at + 1, NULL, 16);
	if (range.from == 0 || range.to < range.from)
		return 0;
	if (range.to == range.from)
		range.to++;
	r = grow(&scan->blacklist, &scan->blacklist_capacity, scan->n_blacklist + 1);
	if (r == 0)
		scan->blacklist[scan->n_blacklist++] = range;
	return r;
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

/* The nearest names are to be ones that can be traced: where ftrace tells, it has offered them. */
static bool name_matches(const struct scan *scan, const char *name)
{
	if (matcher_matches(scan->matcher, name))
		return true;
	if (scan->nearest && !scan->know_ftrace)
		nearest_add(scan->nearest, name);
	return false;
}

static int read_symbol(void *context, const struct kallsyms_line *line)
{
	struct scan *scan = context;
	char buffer[FTRACE_FUNCTIONS_KEY_SIZE];
	const char *key;
	int r;

	if (!line->module)
		note_marker(scan, line->name, line->address);
	if (!kallsyms_lines_is_code(line->type) || !name_matches(scan, line->name))
		return 0;
	key = ftrace_functions_key(line->name, line->module, line->module_size, buffer);
	r = grow(&scan->items, &scan->capacity, scan->n + 1);
	if (r < 0)
		return r;
	scan->items[scan->n] = (struct kernel_function){ .name = pool_string(scan->pool, key),
							 .address = line->address };
	if (!scan->items[scan->n].name)
		return -ENOMEM;
	scan->n++;
	return 0;
}

static bool in_range(const struct range *range, uint64_t address)
{
	return address && address >= range->from && address < range->to;
}

/* Why the function cannot be traced, or KERNEL_ABSENT. */
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
	if (scan->know_ftrace &&
	    !ftrace_functions_have(&scan->ftrace, function->name, function->address))
		return KERNEL_NOTRACE;
	if (is_cold(function->name) || (!scan->exact && is_tracer(function->name)))
		return KERNEL_TRACER;
	return KERNEL_ABSENT;
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
		if (tab) {
			item->module = pool_string(scan->pool, tab + 1);
			item->name =
				pool_string_n(scan->pool, item->name, (size_t)(tab - item->name));
		}
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
	functions->hooked = scan->know_ftrace;
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
	bool with_addresses = texts->traceable_addresses >= 0;
	int traceable = with_addresses ? texts->traceable_addresses : texts->traceable;
	int r = pool_new(&scan.pool);

	if (r == 0 && traceable >= 0) {
		scan.know_ftrace = true;
		r = ftrace_functions_read(traceable, with_addresses, matcher, nearest,
					  &scan.ftrace);
	}
	/* The blacklist only saves attempts: without it, the kernel refuses the probe. */
	if (r == 0 && texts->blacklist >= 0 &&
	    lines_read(texts->blacklist, UINT64_MAX, read_blacklisted, &scan) == -ENOMEM)
		r = -ENOMEM;
	if (r == 0)
		r = kallsyms_lines_read(texts->kallsyms, read_symbol, &scan);
	if (r == 0)
		r = select_functions(&scan, &functions);
	if (r < 0)
		return error_set(err, r, "cannot read the kernel's functions: %s", strerror(-r));
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

/* The list of functions that ftrace can trace exists, but cannot be opened. */
static int no_list(int code, struct error *err)
{
	if (have_kprobe())
		return refused_file(err, code, "cannot open available_filter_functions of tracefs");
	return error_privilege(err, code,
			       "kernel functions cannot be traced: this kernel has no kprobes "
			       "(CONFIG_KPROBES), and its list of functions for fentry cannot be "
			       "read: %s. Tracepoints can: stackcount -l 't:*' lists them",
			       strerror(-code));
}

int kernel_functions_find(const struct matcher *matcher, bool exact, struct nearest *nearest,
			  struct kernel_functions *ret_functions, struct error *err)
{
	own(own_fd) int tracefs = tracefs_open(err);
	own(own_fd) int debugfs = -1, kallsyms = -1;
	own(own_fd) int traceable = -1, addresses = -1, blacklist = -1;

	if (tracefs < 0)
		return tracefs;
	kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (kallsyms < 0)
		return refused_file(err, -errno, "cannot open /proc/kallsyms");
	addresses = openat(tracefs, "available_filter_functions_addrs", O_RDONLY | O_CLOEXEC);
	if (addresses < 0)
		traceable = openat(tracefs, "available_filter_functions", O_RDONLY | O_CLOEXEC);
	/* A kernel without ftrace has no such file, but may have kprobes. */
	if (addresses < 0 && traceable < 0 && errno != ENOENT)
		return no_list(-errno, err);
	debugfs = debugfs_open(NULL);
	if (debugfs >= 0)
		blacklist = openat(debugfs, "kprobes/blacklist", O_RDONLY | O_CLOEXEC);
	return kernel_functions_read(&(struct kernel_texts){ .kallsyms = kallsyms,
							     .traceable = traceable,
							     .traceable_addresses = addresses,
							     .blacklist = blacklist },
				     matcher, exact, nearest, ret_functions, err);
}
