// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/clock_events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct named {
	const char *name;
	uint32_t value;
};

/* Values of linux/perf_event.h by the names that `perf list` prints. */
static const struct named hardware[] = {
	{ "cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
};

static const struct named software[] = {
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS },
};

static const struct named caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D }, { "L1-icache", PERF_COUNT_HW_CACHE_L1I },
	{ "LLC", PERF_COUNT_HW_CACHE_LL },	  { "dTLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB },	  { "branch", PERF_COUNT_HW_CACHE_BPU },
	{ "node", PERF_COUNT_HW_CACHE_NODE },
};

static const struct named cache_suffixes[] = {
	{ "-loads", PERF_COUNT_HW_CACHE_OP_READ << 8 },
	{ "-load-misses",
	  PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ "-stores", PERF_COUNT_HW_CACHE_OP_WRITE << 8 },
	{ "-store-misses",
	  PERF_COUNT_HW_CACHE_OP_WRITE << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ "-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 },
	{ "-prefetch-misses",
	  PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct named *lookup(const struct named *table, size_t n, const char *name,
				  size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
			return &table[i];
	return NULL;
}

static bool find_cache(const char *name, size_t length, struct perf_event_attr *attr)
{
	for (size_t i = 0; i < COUNT_OF(caches); i++) {
		size_t prefix = strlen(caches[i].name);
		const struct named *suffix;

		if (length <= prefix || memcmp(name, caches[i].name, prefix) != 0)
			continue;
		suffix = lookup(cache_suffixes, COUNT_OF(cache_suffixes), name + prefix,
				length - prefix);
		if (!suffix)
			continue;
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = caches[i].value | suffix->value;
		return true;
	}
	return false;
}

static bool find_raw(const char *name, size_t length, struct perf_event_attr *attr)
{
	uint64_t config = 0;

	if (length < 2 || length > 17 || name[0] != 'r')
		return false;
	for (size_t i = 1; i < length; i++) {
		const char *digits = "0123456789abcdef", *digit = strchr(digits, name[i] | 0x20);

		if (!name[i] || !digit || !*digit)
			return false;
		config = config << 4 | (uint64_t)(digit - digits);
	}
	attr->type = PERF_TYPE_RAW;
	attr->config = config;
	return true;
}

static bool find(const char *name, size_t length, struct perf_event_attr *attr)
{
	const struct named *event = lookup(hardware, COUNT_OF(hardware), name, length);

	if (event) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = event->value;
		return true;
	}
	event = lookup(software, COUNT_OF(software), name, length);
	if (event) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = event->value;
		return true;
	}
	return find_cache(name, length, attr) || find_raw(name, length, attr);
}

int clock_event_by_name(const char *name, struct perf_event_attr *attr, struct error *err)
{
	const char *colon = strchr(name, ':');
	size_t length = colon ? (size_t)(colon - name) : strlen(name);

	if (!find(name, length, attr))
		return error_set(
			err, -ENOENT,
			"unknown event '%s': events go by perf's names, such as cpu-clock, "
			"cycles, instructions, cache-misses, page-faults or "
			"context-switches (see `perf list hw sw cache`)",
			name);
	if (!colon)
		return 0;
	if (strcmp(colon, ":u") == 0)
		attr->exclude_kernel = 1;
	else if (strcmp(colon, ":k") == 0)
		attr->exclude_user = 1;
	else
		return error_set(err, -EINVAL,
				 "event '%s': the modifiers are :u (user space only) and :k "
				 "(kernel only)",
				 name);
	return 0;
}
