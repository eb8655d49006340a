// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of programs and libraries: uprobes at their entries. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/own.h"
#include "trigger/call_values.h"
#include "trigger/entry.h"
#include "trigger/functions.h"
#include "trigger/kinds.h"
#include "trigger/matcher.h"
#include "trigger/nearest.h"
#include "trigger/sites.h"

/* Functions, of which some have several sites. */
static uint32_t n_attached(const struct trigger *trigger)
{
	const struct sites *sites = (const struct sites *)trigger;
	uint32_t n = sites->probes.n_attached;

	for (uint32_t i = 0; i < sites->n && n > 1; i++)
		n -= sites->items[i].more;
	return n;
}

static int values(struct trigger *trigger, bool of_returns, struct event_values *ret_values,
		  struct error *err)
{
	struct sites *sites = (struct sites *)trigger;
	struct value_list *list = of_returns ? &sites->returned : &sites->values;
	int r = sites_check_64(sites, err);

	if (r < 0)
		return r;
	if (sites->inside)
		return error_usage(err, "argument --if: inside of a function, and where one was "
					"inlined, arguments are not known");
	if (!list->n)
		r = of_returns ? call_values_add_result(list, NULL, EVENT_TEXT_USER)
			       : call_values_add(list, CALL_REGISTERS, EVENT_TEXT_USER);
	if (r < 0)
		return error_set(err, r, "out of memory");
	*ret_values = value_list_values(list);
	return 0;
}

static void list_details(const struct site *site, const struct listing *listing)
{
	char text[1200];

	if (site->readable && *site->readable)
		listing->detail(listing->to, site->readable);
	if (site->version && *site->version) {
		snprintf(text, sizeof(text), "version %.200s", site->version);
		listing->detail(listing->to, text);
	}
}

static int list(const struct trigger *trigger, const struct listing *listing, struct error *err)
{
	const struct sites *sites = (const struct sites *)trigger;

	(void)err;
	for (uint32_t i = 0; i < sites->n; i++) {
		const struct site *site = &sites->items[i];
		char prefix[PATH_MAX + 2];

		snprintf(prefix, sizeof(prefix), "%s:", sites->library.path);
		sites_list(site, prefix, listing);
		list_details(site, listing);
	}
	return 0;
}

static const struct trigger_ops UPROBE_OPS = {
	.meet = true,
	.select = sites_select,
	.attach = sites_attach,
	.stop_begin = entry_stop_begin,
	.stop = entry_stop,
	.free = sites_free,
	.n_attached = n_attached,
	.file = sites_file,
	.values = values,
	.list = list,
};

static int no_dwarf(const struct library *library, const struct functions *functions,
		    struct error *err)
{
	if (functions->dwarf == -ETIMEDOUT || functions->dwarf == -EFBIG)
		return error_set(err, functions->dwarf,
				 "the debug information of %.300s is too large to be searched",
				 library->path);
	return error_set(err, -ENOENT,
			 "%.300s has no debug information (DWARF) that tells lines and inlined "
			 "functions, and no debug file with it is found; build it with -g or "
			 "install its debug symbols",
			 library->path);
}

/* "lines 12 and 14 have some", or less. */
static void describe_near(const struct line_neighbours *near, char *ret_text, size_t size)
{
	ret_text[0] = '\0';
	if (near->before && near->behind)
		snprintf(ret_text, size, "; lines %u and %u have some", near->before, near->behind);
	else if (near->before || near->behind)
		snprintf(ret_text, size, "; line %u has some",
			 near->before ? near->before : near->behind);
}

static int no_line(const struct spec *spec, const struct library *library,
		   const struct functions *functions, struct error *err)
{
	char near[80];

	if (functions->dwarf < 0)
		return no_dwarf(library, functions, err);
	if (!functions->near.file)
		return error_set(err, -ENOENT,
				 "No line matched by pattern %.300s in %.300s: no source file of "
				 "it is called %.200s",
				 spec->name, library->path, spec->file);
	describe_near(&functions->near, near, sizeof(near));
	return error_set(err, -ENOENT,
			 "No line matched by pattern %.300s in %.300s: the compiler made no code "
			 "of line %u%s",
			 spec->name, library->path, spec->point.line, near);
}

/* An offset at which no instruction begins. */
static int no_instruction(const struct spec *spec, const struct library *library,
			  const struct function_bad *bad, struct error *err)
{
	if (bad->middle)
		return error_set(err, -EINVAL,
				 "%.128s+0x%" PRIx64 " of %.300s is in the middle of an "
				 "instruction, where a probe would crash the program: instructions "
				 "begin at +0x%" PRIx64 " and +0x%" PRIx64,
				 bad->name, spec->point.offset, library->path, bad->before,
				 bad->behind);
	if (bad->size && spec->point.offset >= bad->size)
		return error_set(err, -EINVAL,
				 "%.128s of %.300s has no byte 0x%" PRIx64 ": it has 0x%" PRIx64,
				 bad->name, library->path, spec->point.offset, bad->size);
	return error_set(err, -EINVAL,
			 "%.128s+0x%" PRIx64 " of %.300s cannot be probed: it is not known that an "
			 "instruction begins there, and elsewhere a probe would crash the program",
			 bad->name, spec->point.offset, library->path);
}

static int no_match(const struct spec *spec, const struct library *library,
		    const struct functions *functions, const struct nearest *nearest,
		    struct error *err)
{
	char pattern[300], near[400];

	if (spec->point.file)
		return no_line(spec, library, functions, err);
	if (functions->bad.name[0])
		return no_instruction(spec, library, &functions->bad, err);
	matcher_describe(spec->name, spec->regexp, pattern, sizeof(pattern));
	if (spec->point.inlined && functions->dwarf < 0)
		return no_dwarf(library, functions, err);
	if (functions->n_unresolved > 0)
		return error_set(
			err, -ENOENT,
			"No functions matched by pattern %s in %.200s, but %s is an IFUNC: "
			"each process chooses its implementation for the CPU; name that, "
			"or a caller",
			pattern, library->path, functions->unresolved);
	if (functions->n_inlined > 0)
		return error_set(err, -ENOENT,
				 "No functions matched by pattern %s in %.200s: the compiler "
				 "inlined it at %u place%s, which --inlined counts",
				 pattern, library->path, functions->n_inlined,
				 functions->n_inlined > 1 ? "s" : "");
	if (functions->n_symbols == 0)
		return error_set(err, -ENOENT,
				 "No functions matched by pattern %s: %.200s has no function "
				 "symbols; install its debug symbols",
				 pattern, library->path);
	if (functions->cold.n > 0)
		return error_set(err, -ENOENT,
				 "No functions matched by pattern %s in %.200s: %s is a part of a "
				 "function that is jumped into, not called; name it in full to "
				 "count that",
				 pattern, library->path, functions->cold.first);
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

		if (!function->unprobeable && !function->doubtful && !function->uncalled)
			sites[n++] = (struct site){ .name = function->name,
						    .offset = function->offset,
						    .more = function->more,
						    .emulated = function->emulated,
						    .version = function->version,
						    .readable = function->readable };
		else if (!*ret_bad)
			*ret_bad = function;
	}
	return n;
}

static void name_left_out(struct probes *probes, const struct functions *functions)
{
	for (uint32_t i = 0; i < functions->n; i++)
		if (functions->items[i].doubtful)
			probes_leave_out(probes, functions->items[i].name,
					 "the debug information names a place where it is not "
					 "known that an instruction begins");
		else if (functions->items[i].uncalled)
			probes_leave_out(probes, functions->items[i].name,
					 "a program begins there, and it does not return");
		else if (functions->items[i].unprobeable)
			probes_leave_out(probes, functions->items[i].name,
					 "begins with an instruction that probes break");
	if (functions->n_unresolved > 0) {
		probes_leave_out(probes, functions->unresolved, "chosen by each process");
		probes->n_left_out += functions->n_unresolved - 1;
	}
}

static bool no_file(const struct library *library, void *context)
{
	(void)library;
	(void)context;
	return false;
}

static const char *others_text(const struct function_group *group, char *buffer, size_t size)
{
	buffer[0] = '\0';
	if (group->n > 1)
		snprintf(buffer, size, " and %u other%s", group->n - 1, group->n > 2 ? "s" : "");
	return buffer;
}

/* Which calls of what the user named are not counted, or what else is. */
static void note(struct probes *probes, const struct spec *spec, const struct functions *functions)
{
	char others[40];

	if (functions->are_clones)
		probes_note(probes,
			    "counted: %s; the compiler made it from %s, which has no other code",
			    functions->items[0].name, spec->name);
	if (functions->weaker.n > 0)
		probes_note(probes,
			    "not counted: %s%s, another function of that name or made from it by "
			    "the compiler; its full name or a pattern with * counts it, too",
			    functions->weaker.first,
			    others_text(&functions->weaker, others, sizeof(others)));
	if (functions->n_inlined > 0)
		probes_note(
			probes,
			"not counted: calls at %u place%s where the compiler inlined what matches; "
			"--inlined counts them",
			functions->n_inlined, functions->n_inlined > 1 ? "s" : "");
	if (functions->unreached.n > 0 && functions->n_inlined == 0)
		probes_note(probes,
			    "not called in its file: %s%s; the compiler inlined it wherever it is "
			    "called, or it is not used; compiled with -g, --inlined counts it",
			    functions->unreached.first,
			    others_text(&functions->unreached, others, sizeof(others)));
	if (spec->point.inlined && functions->dwarf < 0)
		probes_note(probes, "not counted: where %s may have been inlined, which %s",
			    spec->name,
			    functions->dwarf == -ENODATA
				    ? "takes debug information (DWARF)"
				    : "takes too long to be found in the debug information");
	if (functions->turning.n > 0)
		probes_note(probes,
			    "%s%s begin%s with a loop: its turns are counted, not the calls alone",
			    functions->turning.first,
			    others_text(&functions->turning, others, sizeof(others)),
			    functions->turning.n == 1 ? "s" : "");
}

/*
 * Whether returns can be probed without harm: the kernel puts its own return address on the stack,
 * which Go's runtime does not know when it moves a stack, nor exceptions when they look for a
 * handler.
 */
static int check_returns(const struct spec *spec, const struct library *library,
			 const struct functions *functions, struct error *err)
{
	if (functions->is_go)
		return error_set(err, -EOPNOTSUPP,
				 "returns of functions in %.200s cannot be probed: it is a Go "
				 "program, which such probes crash",
				 library->path);
	if (functions->throws && !spec->force)
		return error_set(
			err, -EOPNOTSUPP,
			"%.200s has exceptions: one that leaves a function whose return is "
			"probed ends the program; if none leaves %.200s, add --force",
			library->path, spec->name);
	return 0;
}

/* Takes over the library and the functions' names. */
static int make_sites(const struct spec *spec, struct library *library, struct functions *functions,
		      struct probes **ret_probes, struct error *err)
{
	own(own_free) struct site *sites = calloc(functions->n, sizeof(*sites));
	const struct function *bad;
	uint32_t n;
	int r = spec->calls ? check_returns(spec, library, functions, err) : 0;

	if (r < 0)
		return r;
	if (!sites)
		return error_set(err, -ENOMEM, "out of memory");
	n = list_sites(functions, sites, &bad);
	if (n == 0 && bad->doubtful)
		return error_set(err, -EOPNOTSUPP,
				 "%.200s of %.200s cannot be traced safely: where the debug "
				 "information has it, it is not known that an instruction begins",
				 bad->name, library->path);
	if (n == 0 && bad->uncalled)
		return error_set(err, -EOPNOTSUPP,
				 "%.200s of %.200s does not return: a program begins there",
				 bad->name, library->path);
	if (n == 0)
		return error_set(
			err, -EOPNOTSUPP,
			"%.200s of %.200s cannot be traced safely: user probes break "
			"the AVX, locked or prefixed instruction that it begins with; trace "
			"its callers",
			bad->name, library->path);
	r = sites_trigger_new(&UPROBE_OPS, library, take_ptr(sites), n, take_ptr(functions->names),
			      ret_probes, err);
	if (r < 0)
		return r;
	((struct sites *)*ret_probes)->inside = code_point_is_inside(&spec->point);
	(*ret_probes)->trigger.user_entry = !code_point_is_inside(&spec->point);
	name_left_out(*ret_probes, functions);
	note(*ret_probes, spec, functions);
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
							.calls = spec->calls,
							.details = spec->details,
							.point = &spec->point,
							.pid = pid,
							.nearest = &nearest },
			   &functions, err);
	if (r < 0)
		return r;
	if (functions.n == 0)
		return no_match(spec, library, &functions, &nearest, err);
	return make_sites(spec, library, &functions, ret_probes, err);
}

/* ---- functions that are in another file of the process ---- */

/* For all files of a process together; one takes some milliseconds. */
#define ASKING_NS (1 * NS_PER_SECOND)

/* Files that a process maps are asked for a function, one after another. */
struct asking {
	pid_t pid;
	const struct matcher *matcher;
	const struct library *but; /* not this one, or NULL */
	uint64_t deadline;	   /* CLOCK_MONOTONIC, ns; later files are not asked */
	uint32_t n_late;
};

static bool has_function(const struct library *library, void *context)
{
	struct asking *asking = context;
	own(functions_clear) struct functions functions = { 0 };
	struct stat but, this;
	int r;

	if (asking->but && fstat(asking->but->fd, &but) == 0 && fstat(library->fd, &this) == 0 &&
	    but.st_ino == this.st_ino && but.st_dev == this.st_dev)
		return false;
	if (monotonic_ns() >= asking->deadline) {
		asking->n_late++;
		return false;
	}
	r = functions_read(&(struct functions_request){ .fd = library->fd,
							.path = library->path,
							.matcher = asking->matcher,
							.exported = asking->but != NULL,
							.briefly = true,
							.pid = asking->pid },
			   &functions, NULL);
	return r == 0 && functions.n > 0;
}

/* What find_elsewhere() learned of a process. */
struct elsewhere {
	uint32_t n; /* files that it maps */
	uint32_t n_late;
};

static void note_late(struct probes *probes, const struct spec *spec, pid_t pid,
		      const struct elsewhere *elsewhere)
{
	if (elsewhere->n_late)
		probes_note(probes,
			    "not looked for %s in %u of the %u files that process %d maps, as that "
			    "takes too long; name the file: stackcount -p %d FILE:%s",
			    spec->name, elsewhere->n_late, elsewhere->n, pid, pid, spec->name);
}

static int fail_late(const struct spec *spec, pid_t pid, const struct elsewhere *elsewhere, int r,
		     struct error *err)
{
	const struct error why = err ? *err : (struct error){ 0 };

	return error_set(err, r,
			 "%.900s; not looked for it in %u of the %u files that process %d maps, as "
			 "that takes too long: name the file: stackcount -p %d FILE:%.200s",
			 why.text, elsewhere->n_late, elsewhere->n, pid, pid, spec->name);
}

/*
 * The process maps no such library: its function may be in the program itself, or in a library of
 * another name.
 */
static int find_elsewhere(const struct spec *spec, pid_t pid, const struct matcher *matcher,
			  struct probes **ret_probes, struct elsewhere *ret_elsewhere)
{
	struct asking asking = { .pid = pid,
				 .matcher = matcher,
				 .deadline = monotonic_ns() + ASKING_NS };
	own(library_clear) struct library library = { .fd = -1 };
	struct probes *probes;
	char path[300];
	int r;

	/* A pattern would match the functions of others as well. */
	if (!matcher_is_name(matcher))
		return library_find_mapped(pid, no_file, NULL, &library, &ret_elsewhere->n);
	r = library_find_mapped(pid, has_function, &asking, &library, &ret_elsewhere->n);
	ret_elsewhere->n_late = asking.n_late;
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s", library.path);
	r = try_file(spec, pid, matcher, &library, &probes, NULL);
	if (r < 0)
		return r;
	probes_note(probes, "process %d maps no library %s: counted is %s of %s", pid,
		    spec->library, spec->name, path);
	*ret_probes = probes;
	return 0;
}

/* Libraries may take each other's place: the first one in the linker's order is called. */
static void note_others(struct probes *probes, const struct spec *spec, pid_t pid,
			const struct matcher *matcher)
{
	const struct sites *sites = (const struct sites *)probes;
	struct asking asking = { .pid = pid,
				 .matcher = matcher,
				 .but = &sites->library,
				 .deadline = monotonic_ns() + ASKING_NS };
	own(library_clear) struct library library = { .fd = -1 };
	uint32_t n;

	if (!matcher_is_name(matcher))
		return;
	if (library_find_mapped(pid, has_function, &asking, &library, &n) < 0) {
		note_late(probes, spec, pid,
			  &(struct elsewhere){ .n = n, .n_late = asking.n_late });
		return;
	}
	snprintf(probes->trigger.instead, sizeof(probes->trigger.instead), "%s:%s", library.path,
		 spec->name);
	probes_note(probes,
		    "process %d has %s in %s, too, which may be the one that is called: "
		    "stackcount -p %d %s:%s",
		    pid, spec->name, library.path, pid, library.path, spec->name);
}

static int try_library(const struct spec *spec, pid_t pid, const struct matcher *matcher,
		       struct library *library, struct probes **ret_probes, struct error *err)
{
	bool mapped = library->mapped;
	int r = try_file(spec, pid, matcher, library, ret_probes, err);

	if (r < 0 || pid <= 0)
		return r;
	if (mapped && !strchr(spec->library, '/'))
		note_others(*ret_probes, spec, pid, matcher);
	if (!mapped)
		probes_note(*ret_probes,
			    "process %d does not map %s: until it does, nothing is counted", pid,
			    ((const struct sites *)*ret_probes)->library.path);
	return 0;
}

static int make(const struct spec *spec, pid_t pid, struct probes **ret_probes, struct error *err)
{
	own(own_matcher_free) struct matcher *matcher = NULL;
	own(library_clear) struct library library = { .fd = -1 }, moved = { .fd = -1 };
	const char *moved_to = library_moved_to(spec->library);
	struct error moved_err;
	struct elsewhere elsewhere = { 0 };
	int r = matcher_new(spec->name, spec->regexp, &matcher, err);

	if (r < 0)
		return r;
	r = library_find(spec->library, pid, &library, err);
	if (pid > 0 && ((r == 0 && !library.mapped) || r == -ENOENT)) {
		if (find_elsewhere(spec, pid, matcher, ret_probes, &elsewhere) == 0)
			return 0;
		if (r == 0 && elsewhere.n == 1 && !strchr(spec->library, '/'))
			return error_set(err, -ENOENT,
					 "process %d maps no library %.100s: it is a static "
					 "program; name that: stackcount -p %d /proc/%d/exe:%.200s",
					 pid, spec->library, pid, pid, spec->name);
	}
	if (r == 0)
		r = try_library(spec, pid, matcher, &library, ret_probes, err);
	if (r == -ENOENT && moved_to && library_find(moved_to, pid, &moved, NULL) == 0) {
		r = try_library(spec, pid, matcher, &moved, ret_probes, &moved_err);
		if (r < 0 && err)
			*err = moved_err;
	}
	if (r < 0)
		return elsewhere.n_late ? fail_late(spec, pid, &elsewhere, r, err) : r;
	note_late(*ret_probes, spec, pid, &elsewhere);
	return 0;
}

const struct trigger_kind uprobe_kind = {
	.type = 'p',
	.returns = true,
	.form = "functions are p:LIBRARY:FUNCTION or p::FUNCTION",
	.takes_library = true,
	.takes_source = true,
	.make = make,
};
