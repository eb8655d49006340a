// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kernel_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/own.h"

/* More entries than any kernel has, and what a search finds its way through. */
#define MAX_ENTRIES (1u << 22)

enum symbol {
	IPS,
	IPS_END,
	ENTRIES,
	TEXT,
	TEXT_END,
	FUNCTION,
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
	[GRAPH] = "return_to_handler",
	/* One of these: since Linux 5.18, 5.16, and before. */
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
	orc->hooks[0] = addresses[GRAPH];
	orc->hooks[1] = addresses[RETURN] | addresses[RETURN_5_16] | addresses[RETURN_OLD];
	__atomic_store_n(&orc->n, (uint32_t)(size / sizeof(int32_t)), __ATOMIC_RELEASE);
}

void kernel_tables_ask(const struct kernel_lookup *asker, volatile struct wire_orc *orc)
{
	uint64_t addresses[N_SYMBOLS] = { 0 };

	for (int i = 0; i < N_SYMBOLS; i++) {
		if (i > RETURN && addresses[i - 1])
			break;
		if (asker->address_of(asker->context, NAMES[i], &addresses[i]) < 0) {
			addresses[i] = 0;
			if (i == IPS)
				return;
		}
	}
	fill(addresses, orc);
}

void kernel_tables_read(FILE *kallsyms, volatile struct wire_orc *orc)
{
	uint64_t addresses[N_SYMBOLS] = { 0 };
	own(own_free) char *line = NULL;
	size_t room = 0;

	while (kallsyms && getline(&line, &room, kallsyms) > 0) {
		char *end, *name;
		uint64_t address = strtoull(line, &end, 16);

		if (strlen(end) < 4 || strchr(end, '[')) /* " T NAME", and modules' have one more */
			continue;
		name = end + 3;
		name[strcspn(name, "\n")] = '\0';
		if (name[0] != '_' && name[0] != 'r' && name[0] != 'a' && name[0] != 'k' &&
		    name[0] != 's')
			continue;
		for (int i = 0; i < N_SYMBOLS; i++)
			if (!addresses[i] && strcmp(name, NAMES[i]) == 0)
				addresses[i] = address;
	}
	fill(addresses, orc);
}

/* Where a section of a module is; 0 where it has none. */
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

uint32_t kernel_tables_modules(FILE *list, int directory, struct wire_module *modules)
{
	own(own_free) char *line = NULL;
	uint32_t n = 0;
	size_t room = 0;

	/* "NAME SIZE USERS USED_BY STATE 0xADDRESS"; addresses may be hidden: 0 */
	while (list && n < WIRE_MAX_MODULES && getline(&line, &room, list) > 0) {
		struct wire_module *module = &modules[n];
		uint64_t size = 0, start = 0;
		char name[64];

		if (sscanf(line, "%63s %" SCNu64 " %*s %*s Live %" SCNx64, name, &size, &start) !=
			    3 ||
		    !start || strchr(name, '/'))
			continue;
		*module = (struct wire_module){
			.start = start,
			.end = start + size,
			.module = section(directory, name, ".gnu.linkonce.this_module"),
			.ips = section(directory, name, ".orc_unwind_ip"),
		};
		n += module->module && module->ips;
	}
	qsort(modules, n, sizeof(*modules), compare_start);
	return n;
}

void kernel_tables_tell_modules(int map, volatile struct wire_orc *orc)
{
	own(own_file) FILE *list = fopen("/proc/modules", "re");
	own(own_fd) int directory = open("/sys/module", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct wire_module modules[WIRE_MAX_MODULES];
	uint32_t n = kernel_tables_modules(list, directory, modules), i;

	for (i = 0; i < n && bpf_map_update_elem(map, &i, &modules[i], BPF_ANY) == 0; i++)
		;
	orc->n_modules = i;
}
