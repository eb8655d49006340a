// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/sites.h"

#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "base/pool.h"
#include "files/path.h"
#include "trigger/attach.h"
#include "trigger/entry.h"

int sites_trigger_new(const struct trigger_ops *ops, struct library *library, struct site *items,
		      uint32_t n, struct pool *names, struct probes **ret_probes, struct error *err)
{
	struct sites *sites = calloc(1, sizeof(*sites));

	if (!sites) {
		library_clear(library);
		free(items);
		pool_free(names);
		return error_set(err, -ENOMEM, "out of memory");
	}
	sites->probes.trigger.ops = ops;
	sites->library = *library;
	*library = (struct library){ .fd = -1 };
	sites->items = items;
	sites->n = n;
	sites->names = names;
	sites->program = -1;
	*ret_probes = &sites->probes;
	return 0;
}

static void add_program(struct sites *sites, const char *name, enum attach_point point)
{
	sites->programs[sites->n_programs++] = (struct site_program){ name, point };
}

static void choose_programs(struct sites *sites)
{
	if (sites->n_programs)
		return;
	if (sites->probes.trigger.scope.calls) {
		add_program(sites, "on_user_call", ATTACH_ENTRY);
		add_program(sites, "on_user_return", ATTACH_RETURN);
	} else {
		add_program(sites, sites->at_once ? "on_uprobe_multi" : "on_uprobe", ATTACH_ENTRY);
	}
}

static int select_program(const struct sites *sites, struct bpf_object *object, const char *name,
			  struct error *err)
{
	struct bpf_program *program;
	int r;

	/* The object that walks interpreters has only the programs that walk. */
	if (sites->probes.trigger.scope.calls && !entry_has(object, name))
		return 0;
	r = entry_select(&sites->probes.trigger.scope, object, name, &program, err);
	if (r == 0 && sites->at_once)
		bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)
								       ATTACH_TRACE_UPROBE_MULTI);
	return r;
}

int sites_select(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct sites *sites = (struct sites *)trigger;
	int r;

	sites->at_once = have_uprobe_multi();
	if (!sites->at_once && !have_uprobe())
		return error_privilege(err, -EOPNOTSUPP,
				       "this kernel has no user probes (CONFIG_UPROBE_EVENTS)");
	r = probes_check_limit(sites->n, sites->at_once, err);
	if (r < 0)
		return r;
	choose_programs(sites);
	for (uint32_t i = 0; r == 0 && i < sites->n_programs; i++)
		r = select_program(sites, object, sites->programs[i].name, err);
	return r;
}

static int attach_some(const void *context, uint32_t from, uint32_t n)
{
	const struct sites *sites = context;
	enum attach_point point = sites->point;

	if (!sites->at_once)
		return attach_uprobe(sites->program, point, sites->library.fd_path,
				     sites->items[from].offset, sites->items[from].semaphore,
				     sites->pid);
	return attach_uprobe_multi(sites->program, point, sites->library.fd_path,
				   sites->offsets + from,
				   sites->semaphores ? sites->semaphores + from : NULL, n,
				   sites->pid);
}

static const char *site_name(const void *context, uint32_t i)
{
	return ((const struct sites *)context)->items[i].name;
}

/* The kernel takes arrays of offsets. */
static int fill_arrays(struct sites *sites)
{
	bool any = false;

	free(sites->offsets);
	free(sites->semaphores);
	sites->semaphores = NULL;
	sites->offsets = calloc(sites->n, sizeof(*sites->offsets));
	if (!sites->offsets)
		return -ENOMEM;
	for (uint32_t i = 0; i < sites->n; i++) {
		sites->offsets[i] = sites->items[i].offset;
		any = any || sites->items[i].semaphore;
	}
	if (!any)
		return 0;
	sites->semaphores = calloc(sites->n, sizeof(*sites->semaphores));
	if (!sites->semaphores)
		return -ENOMEM;
	for (uint32_t i = 0; i < sites->n; i++)
		sites->semaphores[i] = sites->items[i].semaphore;
	return 0;
}

/*
 * The process whose code the kernel is to patch, or 0 for all; the BPF program filters in any case.
 * The kernel uses the address space of the given thread: if the thread group's leader has ended,
 * no probe would fire.
 */
static pid_t kernel_filter(const struct sites *sites)
{
	pid_t pid = sites->probes.trigger.scope.pid;
	struct stat status;
	char path[40];

	if (pid <= 0 || (sites->at_once && !have_uprobe_multi_pid()))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return path_stat_link(path, &status) == 0 ? pid : 0;
}

int sites_attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	struct sites *sites = (struct sites *)trigger;
	struct probes_source source = { .n = sites->n,
					.at_once = sites->at_once,
					.attach = attach_some,
					.name = site_name,
					.context = sites };
	int r = 0;

	if (fill_arrays(sites) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	sites->pid = kernel_filter(sites);
	for (uint32_t i = 0; r == 0 && i < sites->n_programs; i++) {
		sites->point = sites->programs[i].point;
		sites->program = entry_fd(object, sites->programs[i].name, err);
		if (sites->program < 0)
			return sites->program;
		r = (i ? probes_attach_more : probes_attach)(&sites->probes, &source, err);
	}
	return r;
}

int sites_file(const struct trigger *trigger)
{
	return ((const struct sites *)trigger)->library.fd;
}

void sites_list(const struct site *site, const char *prefix, const struct listing *listing)
{
	char pattern[PATH_MAX + 4096], where[40];

	snprintf(pattern, sizeof(pattern), "%s%s", prefix, site->name);
	snprintf(where, sizeof(where), "+0x%" PRIx64, site->offset);
	listing->probe(listing->to,
		       &(struct listed){ pattern, where,
					 site->emulated ? PROBE_COST_MEDIUM : PROBE_COST_HIGH });
}

int sites_check_64(const struct sites *sites, struct error *err)
{
	unsigned char ident[EI_NIDENT] = { 0 };

	if (pread(sites->library.fd, ident, sizeof(ident), 0) != sizeof(ident) ||
	    ident[EI_CLASS] == ELFCLASS64)
		return 0;
	return error_usage(err,
			   "argument --if: %.200s is 32-bit code, whose arguments are "
			   "not in registers",
			   sites->library.path);
}

void sites_free(struct trigger *trigger)
{
	struct sites *sites = (struct sites *)trigger;

	probes_clear(&sites->probes);
	library_clear(&sites->library);
	free(sites->items);
	pool_free(sites->names);
	free(sites->offsets);
	free(sites->semaphores);
	value_list_clear(&sites->values);
	value_list_clear(&sites->returned);
	for (size_t i = 0; i < USDT_ARGUMENTS_MAX; i++)
		free(sites->arguments[i]);
	free(sites);
}
