// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/line_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "symbolize/dwarf_units.h"

#define MAX_ROWS    65536u
#define MAX_INLINED 64

/* A row of the line, by the function or inlined function that it is in. */
struct row {
	uint64_t address;
	bool statement;
	Dwarf_Die function, scope; /* `scope` is the innermost; the same where none is inlined */
};

struct search {
	const struct line_request *request;
	struct dwarf_units *units;
	struct line_neighbours near;
	struct row *rows;
	uint32_t n, capacity;
};

static void own_search_clear(struct search *search)
{
	free(search->rows);
}

/* Whether the path is `end`, or ends with it behind a slash. */
static bool path_ends_with(const char *path, const char *end)
{
	size_t size = strlen(path), wanted = strlen(end);

	return size >= wanted && strcmp(path + size - wanted, end) == 0 &&
	       (size == wanted || path[size - wanted - 1] == '/' || end[0] == '/');
}

/* The innermost inlined function at the address; the function, if there is none. */
static Dwarf_Die find_scope(const Dwarf_Die *function, uint64_t address)
{
	Dwarf_Die inlined[MAX_INLINED];
	uint32_t n = dwarf_function_inlined(function, address, inlined, MAX_INLINED);

	return n ? inlined[n - 1] : *function;
}

static void note_neighbour(struct line_neighbours *near, uint32_t wanted, uint32_t line)
{
	near->file = true;
	if (line < wanted && line > near->before)
		near->before = line;
	if (line > wanted && (!near->behind || line < near->behind))
		near->behind = line;
}

static int add_row(struct search *search, Dwarf_Line *line)
{
	struct row row = { .statement = true };
	Dwarf_Addr address;
	bool statement;
	int r;

	if (dwarf_lineaddr(line, &address) != 0)
		return 0;
	row.address = address;
	if (dwarf_linebeginstatement(line, &statement) == 0)
		row.statement = statement;
	if (search->n == MAX_ROWS)
		return -E2BIG;
	r = grow(&search->rows, &search->capacity, search->n + 1);
	if (r == 0)
		search->rows[search->n++] = row;
	return r;
}

static int read_unit(struct search *search, Dwarf_Die *unit)
{
	const char *last = NULL; /* the path of the row before: rows of one file share it */
	bool of_file = false;
	Dwarf_Lines *lines;
	size_t n;
	int r = 0;

	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		bool end;
		int number;

		if (!path || dwarf_lineendsequence(line, &end) != 0 || end ||
		    dwarf_lineno(line, &number) != 0 || number <= 0)
			continue;
		if (path != last)
			of_file = path_ends_with(path, search->request->file);
		last = path;
		if (!of_file)
			continue;
		note_neighbour(&search->near, search->request->line, (uint32_t)number);
		if ((uint32_t)number == search->request->line)
			r = add_row(search, line);
	}
	return r;
}

static int read_units(struct search *search)
{
	Dwarf *dwarf = dwarf_units_dwarf(search->units);
	Dwarf_Off offset = 0, next;
	size_t header_size;
	int r = 0;

	while (r == 0 && dwarf_nextcu(dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (monotonic_ns() > search->request->end_ns)
			return -ETIMEDOUT;
		if (next <= offset)
			break;
		if (dwarf_offdie(dwarf, offset + header_size, &unit))
			r = read_unit(search, &unit);
		offset = next;
	}
	return r;
}

static int compare_addresses(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Rows that begin a statement, if there are any, in functions; by address. */
static void keep_statements(struct search *search)
{
	bool any = false;
	uint32_t n = 0;

	if (search->n)
		qsort(search->rows, search->n, sizeof(*search->rows), compare_addresses);
	for (uint32_t i = 0; i < search->n; i++)
		any = any || search->rows[i].statement;
	for (uint32_t i = 0; i < search->n; i++) {
		struct row row = search->rows[i];

		if ((any && !row.statement) ||
		    !dwarf_units_function(search->units, row.address, &row.function))
			continue;
		row.scope = find_scope(&row.function, row.address);
		search->rows[n++] = row;
	}
	search->n = n;
}

static bool is_first_of_scope(const struct search *search, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (search->rows[j].scope.addr == search->rows[i].scope.addr)
			return false;
	return true;
}

static int tell(const struct search *search, code_place_fn each, void *context)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < search->n; i++) {
		struct row *row = &search->rows[i];
		struct code_place place = { .address = row->address };

		if (monotonic_ns() > search->request->end_ns)
			return -ETIMEDOUT;
		if (!is_first_of_scope(search, i) ||
		    !code_place_range(&row->function, row->address, &place.function))
			continue;
		place.name = code_place_name(&row->scope);
		if (row->scope.addr != row->function.addr)
			place.within = code_place_name(&row->function);
		r = each(context, &place);
	}
	return r;
}

int line_places_each(const struct line_request *request, code_place_fn each, void *context,
		     struct line_neighbours *ret_neighbours)
{
	own(own_dwarf_units_close) struct dwarf_units *units = NULL;
	own(own_search_clear) struct search search = { .request = request };
	int r = dwarf_units_open(request->fd, request->end_ns, &units);

	search.units = units;
	if (r == 0)
		r = read_units(&search);
	if (r < 0)
		return r;
	keep_statements(&search);
	r = tell(&search, each, context);
	if (r == 0)
		*ret_neighbours = search.near;
	return r;
}
