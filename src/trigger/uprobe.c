// SPDX-License-Identifier: GPL-2.0-or-later
/* User functions: uprobes at their entries. */
#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "base/pool.h"
#include "trigger/entry.h"
#include "trigger/functions.h"
#include "trigger/kinds.h"
#include "trigger/sites.h"

DEFINE_OWN(struct matcher, matcher_free)

static const struct trigger_ops UPROBE_OPS = {
	.kind = "uprobe",
	.preemptible = true,
	.select = sites_select,
	.attach = sites_attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = sites_free,
	.n_attached = probes_n_attached,
};

static int no_match(const struct spec *spec, const struct library *library,
		    const struct functions *functions, const struct nearest *nearest,
		    struct error *err)
{
	char pattern[300], near[400];

	matcher_describe(spec->name, spec->regexp, pattern, sizeof(pattern));
	if (functions->n_unresolved > 0)
		return error_set(err, -ENOENT,
				 "No functions matched by pattern %s in %.200s, but %s is chosen "
				 "by each process for its CPU (IFUNC): name an implementation, or "
				 "one of its callers",
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

/* Takes the library and the names over from where they are when it succeeds. */
static int make_trigger(struct library *library, struct functions *functions,
			struct probes **ret_probes, struct error *err)
{
	struct site *items = calloc(functions->n, sizeof(*items));
	const struct function *first_bad = NULL;
	uint32_t n = 0, n_items = functions->n;
	int rc;

	if (!items)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n_items; i++) {
		const struct function *function = &functions->items[i];

		if (!function->unprobeable)
			items[n++] =
				(struct site){ .name = function->name, .offset = function->offset };
		else if (!first_bad)
			first_bad = function;
	}
	if (n == 0) {
		free(items);
		return error_set(err, -EOPNOTSUPP,
				 "%.200s of %.200s cannot be traced safely: user probes break "
				 "the AVX or locked instruction that it begins with; trace its "
				 "callers",
				 first_bad->name, library->path);
	}
	rc = sites_trigger_new(&UPROBE_OPS, library, items, n, take_ptr(functions->names),
			       ret_probes, err);
	for (uint32_t i = 0; rc == 0 && i < n_items; i++) {
		if (functions->items[i].unprobeable)
			probes_leave_out(*ret_probes, functions->items[i].name,
					 "begins with an instruction that probes break");
	}
	if (rc == 0 && functions->n_unresolved > 0) {
		probes_leave_out(*ret_probes, functions->unresolved, "chosen by each process");
		(*ret_probes)->n_left_out += functions->n_unresolved - 1;
	}
	return rc;
}

/* One file's matches; without any, an error, and the file stays the caller's. */
static int try_file(const struct spec *spec, const struct matcher *matcher, struct library *library,
		    struct probes **ret_probes, struct error *err)
{
	struct functions functions;
	struct nearest nearest;
	int rc;

	nearest_init(&nearest, spec->regexp ? "" : spec->name);
	rc = functions_read(library->fd, library->path, matcher, strstr(spec->name, "::") != NULL,
			    &nearest, &functions, err);
	if (rc < 0)
		return rc;
	if (functions.n == 0) {
		rc = no_match(spec, library, &functions, &nearest, err);
		functions_clear(&functions);
		return rc;
	}
	rc = make_trigger(library, &functions, ret_probes, err);
	functions_clear(&functions);
	return rc;
}

int uprobe_trigger_new(const struct spec *spec, pid_t pid, struct probes **ret_probes,
		       struct error *err)
{
	own(own_matcher_free) struct matcher *matcher = NULL;
	const char *other = library_moved_to(spec->library);
	struct library library = { .fd = -1 };
	struct error other_err;
	int rc;

	rc = matcher_new(spec->name, spec->regexp, &matcher, err);
	if (rc == 0)
		rc = library_find(spec->library, pid, &library, err);
	if (rc == 0)
		rc = try_file(spec, matcher, &library, ret_probes, err);
	library_clear(&library);
	if (rc == -ENOENT && other && library_find(other, pid, &library, NULL) == 0) {
		rc = try_file(spec, matcher, &library, ret_probes, &other_err);
		library_clear(&library);
		if (rc < 0 && err)
			*err = other_err;
	}
	if (rc == 0)
		(*ret_probes)->trigger.user_entry = true;
	return rc;
}
