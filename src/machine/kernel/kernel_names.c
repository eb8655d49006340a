// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kernel_names.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "elf/build_id.h"

#define MAX_NOTES 65536

struct kernel_names {
	struct kernel_symbols *symbols; /* NULL: all names come from the table */
	pthread_mutex_t reading;	/* held while the table is read */
	struct kallsyms *table;
	int error; /* why there is no table: a negative errno */
};

int kernel_names_new(struct kernel_names **ret_kernel)
{
	struct kernel_names *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return -ENOMEM;
	pthread_mutex_init(&kernel->reading, NULL);
	*ret_kernel = kernel;
	return 0;
}

void kernel_names_free(struct kernel_names *kernel)
{
	if (!kernel)
		return;
	kernel_symbols_free(kernel->symbols);
	pthread_mutex_destroy(&kernel->reading);
	kallsyms_free(kernel->table);
	free(kernel);
}

static int read_table(struct kallsyms **ret_table)
{
	own(own_fd) int symbols = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	own(own_fd) int modules = -1;

	if (symbols < 0)
		return -errno;
	/* Kernels without modules have no such file. */
	modules = open("/proc/modules", O_RDONLY | O_CLOEXEC);
	return kallsyms_read(symbols, modules, ret_table);
}

const struct kallsyms *kernel_names_table(struct kernel_names *kernel)
{
	pthread_mutex_lock(&kernel->reading);
	if (!kernel->table && !kernel->error)
		kernel->error = read_table(&kernel->table);
	pthread_mutex_unlock(&kernel->reading);
	return kernel->table;
}

int kernel_names_ask(struct kernel_names *kernel, const struct kernel_lookup *lookup)
{
	return kernel_symbols_new(lookup, &kernel->symbols);
}

bool kernel_names_find(struct kernel_names *kernel, uint64_t address,
		       struct kernel_symbol *ret_symbol)
{
	const struct kallsyms *table;

	if (kernel->symbols && kernel_symbols_find(kernel->symbols, address, ret_symbol))
		return true;
	table = kernel_names_table(kernel);
	return table && kallsyms_find(table, address, ret_symbol);
}

static void core_range(struct kernel_names *kernel, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct kallsyms *table;

	if (kernel->symbols) {
		kernel_symbols_core_range(kernel->symbols, ret_start, ret_end);
		return;
	}
	table = kernel_names_table(kernel);
	if (table)
		kallsyms_core_range(table, ret_start, ret_end);
}

static char kptr_restrict(void)
{
	own(own_fd) int fd = open("/proc/sys/kernel/kptr_restrict", O_RDONLY | O_CLOEXEC);
	char value = '?';

	if (fd < 0 || read(fd, &value, 1) != 1)
		return '?';
	return value;
}

const char *kernel_names_advice(const struct kernel_names *kernel)
{
	if (kernel->error == -ENOENT)
		return "kernel functions have no names: there is no /proc/kallsyms (is /proc "
		       "mounted, and the kernel built with CONFIG_KALLSYMS?)";
	if (kernel->error)
		return "kernel functions have no names: /proc/kallsyms cannot be read; run as "
		       "root or with CAP_SYSLOG";
	if (!kernel->table || !kallsyms_are_hidden(kernel->table))
		return NULL;
	if (kptr_restrict() == '2')
		return "kernel functions have no names: kernel.kptr_restrict=2 hides their "
		       "addresses from everyone; run 'sysctl kernel.kptr_restrict=1' and try again";
	return "kernel functions have no names: kernel.kptr_restrict or kernel.perf_event_paranoid "
	       "hides their addresses; run as root or with CAP_SYSLOG, or run 'sysctl "
	       "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1'";
}

void kernel_names_object(struct kernel_names *kernel, struct names_object *ret_object)
{
	own(own_fd) int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	own(own_free) uint8_t *notes = malloc(MAX_NOTES);
	ssize_t n;

	memset(ret_object, 0, sizeof(*ret_object));
	core_range(kernel, &ret_object->start, &ret_object->end);
	if (fd < 0 || !notes)
		return;
	n = read(fd, notes, MAX_NOTES);
	if (n > 0)
		ret_object->build_id_size =
			build_id_in_notes(notes, (size_t)n, ret_object->build_id,
					  NAMES_BUILD_ID_SIZE);
}
