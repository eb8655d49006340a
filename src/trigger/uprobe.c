// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of programs and libraries: uprobes at their entries. */
#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "trigger/entry.h"
#include "trigger/functions.h"
#include "trigger/kinds.h"
#include "trigger/matcher.h"
#include "trigger/nearest.h"
#include "trigger/sites.h"

static const struct trigger_ops UPROBE_OPS = {
	.meet = true,
	.select = sites_select,
	.attach = sites_attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = sites_free,
	.n_attached = probes_n_attached,
	.file = sites_file,
};

static int no_match(const struct spec *spec, const struct library *library,
		    const struct functions *functions, const struct nearest *nearest,
		    struct error *err)
{
	char pattern[300], near[400];

	matcher_describe(spec->name, spec->regexp, pattern, sizeof(pattern));
	if (functions->n_unresolved > 0)
		return error_set(
			err, -ENOENT,
			"No functions matched by pattern %s in %.200s, but %s is an IFUNC: "
			"each process chooses its implementation for the CPU; name that, "
			"or a caller",
			pattern, library->path, functions->unresolved);
	if (functions->n_symbols == 0)
		return error_set(err, -ENOENT,
				 "No functions matched by pattern %s: %.200s has no function "
				 "symbols; install its debug symbols",
				 pattern, library->path);
	nearest_describe(nearest, near, sizeof(near));
	return error_set(err, -ENOENT, "No functions matched by pattern %s in %.200s%s", pattern,
			 library->path, near);
}

/* The sites of the functions that can be probed; of the others, the first is *ret_bad. */
static uint32_t list_sites(const struct functions *functions, struct site *sites,
			   const struct function **ret_bad)
{
	uint32_t n = 0;

	*ret_bad = NULL;
	for (uint32_t i = 0; i < functions->n; i++) {
		const struct function *function = &functions->items[i];

		if (!function->unprobeable)
			sites[n++] =
				(struct site){ .name = function->name, .offset = function->offset };
		else if (!*ret_bad)
			*ret_bad = function;
	}
	return n;
}

static void name_left_out(struct probes *probes, const struct functions *functions)
{
	for (uint32_t i = 0; i < functions->n; i++)
		if (functions->items[i].unprobeable)
			probes_leave_out(probes, functions->items[i].name,
					 "begins with an instruction that probes break");
	if (functions->n_unresolved > 0) {
		probes_leave_out(probes, functions->unresolved, "chosen by each process");
		probes->n_left_out += functions->n_unresolved - 1;
	}
}

/* Takes over the library and the functions' names. */
static int make_sites(struct library *library, struct functions *functions,
		      struct probes **ret_probes, struct error *err)
{
	own(own_free) struct site *sites = calloc(functions->n, sizeof(*sites));
	const struct function *bad;
	uint32_t n;
	int r;

	if (!sites)
		return error_set(err, -ENOMEM, "out of memory");
	n = list_sites(functions, sites, &bad);
	if (n == 0)
		return error_set(err, -EOPNOTSUPP,
				 "%.200s of %.200s cannot be traced safely: user probes break "
				 "the AVX or locked instruction that it begins with; trace its "
				 "callers",
				 bad->name, library->path);
	r = sites_trigger_new(&UPROBE_OPS, library, take_ptr(sites), n, take_ptr(functions->names),
			      ret_probes, err);
	if (r < 0)
		return r;
	name_left_out(*ret_probes, functions);
	return 0;
}

/* Makes a trigger of the file's functions that match; without a match, the file stays open. */
static int try_file(const struct spec *spec, pid_t pid, const struct matcher *matcher,
		    struct library *library, struct probes **ret_probes, struct error *err)
{
	own(functions_clear) struct functions functions = { 0 };
	struct nearest nearest;
	int r;

	nearest_init(&nearest, spec->regexp ? "" : spec->name);
	r = functions_read(&(struct functions_request){ .fd = library->fd,
							.path = library->path,
							.matcher = matcher,
							.cplusplus =
								strstr(spec->name, "::") != NULL,
							.pid = pid,
							.nearest = &nearest },
			   &functions, err);
	if (r < 0)
		return r;
	if (functions.n == 0)
		return no_match(spec, library, &functions, &nearest, err);
	return make_sites(library, &functions, ret_probes, err);
}

static int make(const struct spec *spec, pid_t pid, struct probes **ret_probes, struct error *err)
{
	own(own_matcher_free) struct matcher *matcher = NULL;
	own(library_clear) struct library library = { .fd = -1 }, moved = { .fd = -1 };
	const char *moved_to = library_moved_to(spec->library);
	struct error moved_err;
	int r = matcher_new(spec->name, spec->regexp, &matcher, err);

	if (r < 0)
		return r;
	r = library_find(spec->library, pid, &library, err);
	if (r == 0)
		r = try_file(spec, pid, matcher, &library, ret_probes, err);
	if (r == -ENOENT && moved_to && library_find(moved_to, pid, &moved, NULL) == 0) {
		r = try_file(spec, pid, matcher, &moved, ret_probes, &moved_err);
		if (r < 0 && err)
			*err = moved_err;
	}
	if (r < 0)
		return r;
	(*ret_probes)->trigger.user_entry = true;
	return 0;
}

const struct trigger_kind uprobe_kind = {
	.type = 'p',
	.form = "functions are p:LIBRARY:FUNCTION or p::FUNCTION",
	.takes_library = true,
	.make = make,
};
