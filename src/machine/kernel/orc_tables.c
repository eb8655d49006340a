// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/orc_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/own.h"
#include "kernel/kallsyms_lines.h"
#include "kernel/module_lines.h"

/* More entries than any kernel has; the search in BPF makes as many steps as this takes. */
#define MAX_ENTRIES (1u << 22)

enum symbol {
	IPS,
	IPS_END,
	ENTRIES,
	TEXT,
	TEXT_END,
	FUNCTION,
	SCHED,
	SCHED_END,
	GRAPH,
	RETURN,
	RETURN_5_16,
	RETURN_OLD,
	N_SYMBOLS
};

static const char *const NAMES[N_SYMBOLS] = {
	[IPS] = "__start_orc_unwind_ip",
	[IPS_END] = "__stop_orc_unwind_ip",
	[ENTRIES] = "__start_orc_unwind",
	[TEXT] = "_stext",
	[TEXT_END] = "_etext",
	[FUNCTION] = "schedule",
	[SCHED] = "__sched_text_start",
	[SCHED_END] = "__sched_text_end",
	[GRAPH] = "return_to_handler",
	/* Kernels have one of these three: since Linux 5.18, since 5.16, before. */
	[RETURN] = "arch_rethook_trampoline",
	[RETURN_5_16] = "__kretprobe_trampoline",
	[RETURN_OLD] = "kretprobe_trampoline",
};

static void fill(const uint64_t *addresses, volatile struct wire_orc *orc)
{
	uint64_t size = addresses[IPS_END] - addresses[IPS];

	if (!addresses[FUNCTION] || !addresses[IPS] || !addresses[ENTRIES] || !addresses[TEXT] ||
	    addresses[TEXT_END] <= addresses[TEXT] || addresses[IPS_END] <= addresses[IPS] ||
	    size / sizeof(int32_t) > MAX_ENTRIES)
		return;
	orc->ips = addresses[IPS];
	orc->entries = addresses[ENTRIES];
	orc->text = addresses[TEXT];
	orc->text_end = addresses[TEXT_END];
	orc->function = addresses[FUNCTION];
	orc->sched = addresses[SCHED];
	orc->sched_end = addresses[SCHED_END];
	orc->hooks[0] = addresses[GRAPH];
	orc->hooks[1] = addresses[RETURN] | addresses[RETURN_5_16] | addresses[RETURN_OLD];
	__atomic_store_n(&orc->n, (uint32_t)(size / sizeof(int32_t)), __ATOMIC_RELEASE);
}

void orc_tables_look_up(const struct kernel_lookup *lookup, volatile struct wire_orc *orc)
{
	uint64_t addresses[N_SYMBOLS] = { 0 };

	for (int i = 0; i < N_SYMBOLS; i++) {
		if (i > RETURN && addresses[i - 1])
			break;
		if (lookup->address_of(lookup->context, NAMES[i], &addresses[i]) < 0) {
			addresses[i] = 0;
			if (i == IPS)
				return;
		}
	}
	fill(addresses, orc);
}

static int take_symbol(void *context, const struct kallsyms_line *line)
{
	uint64_t *addresses = context;

	if (line->module || !strchr("_raks", line->name[0]))
		return 0;
	for (int i = 0; i < N_SYMBOLS; i++)
		if (!addresses[i] && strcmp(line->name, NAMES[i]) == 0)
			addresses[i] = line->address;
	return 0;
}

void orc_tables_read(int kallsyms_fd, volatile struct wire_orc *orc)
{
	uint64_t addresses[N_SYMBOLS] = { 0 };

	if (kallsyms_fd >= 0 && kallsyms_lines_read(kallsyms_fd, take_symbol, addresses) == 0)
		fill(addresses, orc);
}

/* The address of a module's section, 0 where it has none. */
static uint64_t section(int directory, const char *module, const char *name)
{
	char path[160], text[32] = "";
	own(own_fd) int fd = -1;

	snprintf(path, sizeof(path), "%s/sections/%s", module, name);
	fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	return strtoull(text, NULL, 16);
}

static int compare_start(const void *a, const void *b)
{
	const struct wire_module *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

struct module_list {
	int directory;
	struct wire_module *modules;
	uint32_t n;
};

static int take_module(void *context, const struct module_line *line)
{
	struct module_list *list = context;
	struct wire_module module = { .start = line->start, .end = line->end };

	if (!line->live || strchr(line->name, '/'))
		return 0;
	module.module = section(list->directory, line->name, ".gnu.linkonce.this_module");
	module.ips = section(list->directory, line->name, ".orc_unwind_ip");
	if (module.module && module.ips)
		list->modules[list->n++] = module;
	return list->n == WIRE_MAX_MODULES;
}

uint32_t orc_tables_modules(int list_fd, int directory, struct wire_module *modules)
{
	struct module_list list = { .directory = directory, .modules = modules };

	if (list_fd >= 0)
		module_lines_read(list_fd, take_module, &list);
	qsort(modules, list.n, sizeof(*modules), compare_start);
	return list.n;
}

void orc_tables_write_modules(int map, volatile struct wire_orc *orc)
{
	own(own_fd) int list = open("/proc/modules", O_RDONLY | O_CLOEXEC);
	own(own_fd) int directory = open("/sys/module", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct wire_module modules[WIRE_MAX_MODULES];
	uint32_t n = orc_tables_modules(list, directory, modules), i;

	for (i = 0; i < n && bpf_map_update_elem(map, &i, &modules[i], BPF_ANY) == 0; i++)
		;
	orc->n_modules = i;
}
