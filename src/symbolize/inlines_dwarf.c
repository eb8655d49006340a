// SPDX-License-Identifier: GPL-2.0-or-later
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>

#include "base/clock.h"
#include "symbolize/dwarf_units.h"
#include "symbolize/inlines_internal.h"

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name;

	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return NULL;
	name = dwarf_formstring(&attribute);
	return name && *name ? name : NULL;
}

static int name_function(struct inlines *inlines, Dwarf_Die *die, struct inline_frame *frame)
{
	const char *linkage = linkage_name(die), *plain = dwarf_diename(die);

	if (linkage && demangle(linkage, inlines->text, sizeof(inlines->text))) {
		frame->linkage_name = pool_string(inlines->pool, linkage);
		frame->name = pool_string(inlines->pool, inlines->text);
		return frame->name && frame->linkage_name ? 0 : -ENOMEM;
	}
	if (!plain)
		plain = linkage;
	if (!plain)
		return 0;
	frame->name = pool_string(inlines->pool, plain);
	return frame->name ? 0 : -ENOMEM;
}

static int set_line(struct inlines *inlines, const char *file, int line, struct inline_frame *frame)
{
	if (!inlines->lines || !file || line <= 0)
		return 0;
	frame->file = pool_string(inlines->pool, file);
	if (!frame->file)
		return -ENOMEM;
	frame->line = (uint32_t)line;
	return 0;
}

/* Sets the line where the inlined function was called. */
static int set_call_line(struct inlines *inlines, Dwarf_Die *unit, Dwarf_Die *inlined,
			 struct inline_frame *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	Dwarf_Die own;
	size_t n_files;

	/* With -gsplit-dwarf, the unit of the inlined function is another one. */
	if (inlined->cu != unit->cu && dwarf_diecu(inlined, &own, NULL, NULL))
		unit = &own;
	if (!inlines->lines || dwarf_getsrcfiles(unit, &files, &n_files) != 0 ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
	    file >= n_files || line > INT32_MAX)
		return 0;
	return set_line(inlines, dwarf_filesrc(files, file, NULL, NULL), (int)line, frame);
}

static int set_address_line(struct inlines *inlines, Dwarf_Die *unit, uint64_t address,
			    struct inline_frame *frame)
{
	Dwarf_Line *line;
	int number;

	if (!inlines->lines)
		return 0;
	line = dwarf_getsrc_die(unit, address);
	if (!line || dwarf_lineno(line, &number) != 0)
		return 0;
	return set_line(inlines, dwarf_linesrc(line, NULL, NULL), number, frame);
}

static int make_chain(struct inlines *inlines, struct dwarf_units *units,
		      struct symbol_query *query)
{
	struct inline_frame frames[INLINES_MAX_DEPTH] = { 0 };
	Dwarf_Die inlined[INLINES_MAX_DEPTH], unit, function;
	uint32_t n = 0;
	int r;

	if (!dwarf_units_find(units, query->address, &unit))
		return 0;
	if (inlines->functions && dwarf_units_function(units, query->address, &function))
		n = dwarf_function_inlined(&function, query->address, inlined,
					   INLINES_MAX_DEPTH - 1);
	r = set_address_line(inlines, &unit, query->address, &frames[0]);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		Dwarf_Die *die = &inlined[n - 1 - i];

		r = name_function(inlines, die, &frames[i]);
		if (r < 0)
			return r;
		r = set_call_line(inlines, &unit, die, &frames[i + 1]);
		if (r < 0)
			return r;
	}
	if (n == 0 && !frames[0].file)
		return 0;
	return inlines_add_chain(inlines, frames, n + 1, &query->chain);
}

/* What is in .dwo files that are not there. */
static int note_missing(struct inlines *inlines, const struct dwarf_units *units)
{
	const char *name;
	uint32_t n = dwarf_units_missing(units, &name);

	if (!n)
		return 0;
	inlines->n_missing += n;
	inlines->missing = pool_string(inlines->pool, name ? name : "a .dwo file");
	return inlines->missing ? 0 : -ENOMEM;
}

int inlines_read(const struct inlines_job *job, int fd)
{
	own(own_dwarf_units_close) struct dwarf_units *units = NULL;
	int r = dwarf_units_open(fd, job->end_ns, &units);

	if (r < 0)
		return r;
	for (size_t i = 0; i < job->n; i++) {
		struct symbol_query *query = &job->queries[i];

		if (monotonic_ns() > job->end_ns)
			return -ETIMEDOUT;
		query->chain = QUERY_NO_CHAIN;
		r = make_chain(job->inlines, units, query);
		if (r < 0)
			return r;
		if (query->chain != QUERY_NO_CHAIN)
			job->done(job->context, (uint32_t)i, query->chain);
	}
	return note_missing(job->inlines, units);
}
