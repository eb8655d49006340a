/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares what is said of the code of stripped files with the symbols that were stripped:
 *	compare_stripped WITH-SYMBOLS STRIPPED
 * Asks for the first byte, the middle and the last byte of each function of .symtab. A start agrees
 * if a function that contains the byte begins there, a name if a symbol with it does; for the cold
 * part of a function also if the function itself does. Counts the functions whose instructions have
 * unwinding rows, too. The last line has all counts; lines before it show what differs.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cfi/instruction.h"
#include "cfi/unwind_rows.h"
#include "symbolize/sources.h"
#include "symbolize/symbol_tables.h"

struct function {
	uint64_t begin, end;
	const char *name;
	bool sized;
};

struct functions {
	struct function *of; /* by address */
	size_t n;
};

enum outcome { NAMED, STARTS, COLD, NOTHING, BEFORE, WITHIN, MISNAMED, N_OUTCOMES };

static const char *const outcomes[N_OUTCOMES] = {
	"named", "start", "cold", "nothing", "start-before", "start-within", "misnamed",
};

enum coverage { ALL_ROWS, SOME_ROWS, NO_ROWS, N_COVERAGES };

static const char *const coverages[N_COVERAGES] = { "rows", "some-rows", "no-rows" };

static int by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int by_query(const void *left, const void *right)
{
	const struct symbol_query *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void add_function(struct functions *all, Elf *elf, const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	GElf_Shdr code;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    !gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &code) ||
	    !(code.sh_flags & SHF_EXECINSTR))
		return;
	all->of[all->n++] = (struct function){ .begin = symbol->st_value,
					       .end = symbol->st_value + symbol->st_size,
					       .name = name ? name : "",
					       .sized = symbol->st_size > 0 };
}

static struct functions read_functions(Elf *elf)
{
	struct functions all = { 0 };
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		Elf_Data *data;
		size_t n;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		n = header.sh_size / header.sh_entsize;
		all.of = calloc(n, sizeof(*all.of));
		for (size_t i = 0; i < n; i++) {
			if (gelf_getsym(data, (int)i, &symbol))
				add_function(&all, elf, &symbol,
					     elf_strptr(elf, header.sh_link, symbol.st_name));
		}
		qsort(all.of, all.n, sizeof(*all.of), by_address);
	}
	return all;
}

/* The first of the functions that may contain what contains the one at `near`. */
static size_t first_near(size_t near)
{
	return near > 64 ? near - 64 : 0;
}

static const char *name_of(const struct symbol_query *answer)
{
	return answer->linkage_name ? answer->linkage_name : answer->name;
}

static bool is_named(const struct functions *all, size_t near, const struct symbol_query *answer)
{
	const char *name = name_of(answer);

	for (size_t i = first_near(near); i < all->n && i < near + 64; i++) {
		const struct function *function = &all->of[i];
		size_t size = strcspn(function->name, "@");

		if (strncmp(function->name, name, size) == 0 &&
		    (name[size] == '\0' || name[size] == '@') &&
		    answer->address >= function->begin &&
		    (answer->address < function->end || !function->sized))
			return true;
	}
	return false;
}

static bool contained_at(const struct functions *all, size_t near, uint64_t start, uint64_t address)
{
	for (size_t i = first_near(near); i < all->n && i < near + 64; i++) {
		if (all->of[i].begin == start && address >= start && address < all->of[i].end)
			return true;
	}
	return false;
}

/* Whether NAME.cold is a part of the function at `start`: NAME, or a clone of NAME. */
static bool is_cold_part_of(const struct functions *all, const char *name,
			    const struct symbol_query *answer)
{
	const char *cold = strstr(name, ".cold");
	size_t size = cold ? (size_t)(cold - name) : 0;

	for (size_t i = 0; cold && i < all->n; i++) {
		const struct function *whole = &all->of[i];

		if (strncmp(whole->name, name, size) == 0 &&
		    (whole->name[size] == '\0' || whole->name[size] == '.') &&
		    (answer->is_start ? whole->begin == answer->start
				      : strncmp(whole->name, name_of(answer), size) == 0))
			return true;
	}
	return false;
}

static enum outcome outcome_of(const struct functions *all, size_t i,
			       const struct symbol_query *answer)
{
	const struct function *function = &all->of[i];

	if (!answer->name)
		return NOTHING;
	if (answer->is_start ? contained_at(all, i, answer->start, answer->address)
			     : is_named(all, i, answer))
		return answer->is_start ? STARTS : NAMED;
	if (is_cold_part_of(all, function->name, answer))
		return COLD;
	if (!answer->is_start)
		return MISNAMED;
	return answer->start < function->begin ? BEFORE : WITHIN;
}

static bool has_row(const struct unwind_rows *rows, uint64_t address)
{
	return address <= UINT32_MAX && unwind_rows_find(rows, (uint32_t)address) != RULE_GAP;
}

/* The bytes of the function in its file, or NULL. */
static const uint8_t *code_of(Elf *elf, const struct function *function)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_type == SHT_NOBITS || function->begin < header.sh_addr ||
		    function->end > header.sh_addr + header.sh_size)
			continue;
		data = elf_rawdata(section, NULL);
		return data && data->d_buf
			       ? (uint8_t *)data->d_buf + (function->begin - header.sh_addr)
			       : NULL;
	}
	return NULL;
}

/* Padding within the function needs no rows. */
static enum coverage coverage_of(Elf *elf, const struct unwind_rows *rows,
				 const struct function *function)
{
	uint64_t size = function->end - function->begin, known = 0, n = 0, at = 0;
	const uint8_t *code = code_of(elf, function);

	while (code && at < size) {
		uint32_t padding = instruction_padding(code + at, size - at);
		uint32_t of = padding ? padding : instruction_decode(code + at, size - at).size;

		if (!padding) {
			known += has_row(rows, function->begin + at);
			n++;
		}
		at += of ? of : 1;
	}
	return known == n ? ALL_ROWS : known ? SOME_ROWS : NO_ROWS;
}

static enum outcome worst_of(const struct functions *all, size_t i,
			     const struct symbol_query *queries, size_t n,
			     const struct symbol_query **ret_answer)
{
	const struct function *function = &all->of[i];
	const uint64_t at[3] = { function->begin,
				 function->begin + (function->end - function->begin) / 2,
				 function->end - 1 };
	enum outcome worst = NAMED;

	for (int k = 0; k < 3; k++) {
		const struct symbol_query *answer =
			&queries[symbol_query_lower_bound(queries, n, at[k])];
		enum outcome outcome = outcome_of(all, i, answer);

		if (outcome >= worst) {
			worst = outcome;
			*ret_answer = answer;
		}
	}
	return worst;
}

static void compare(const char *path, const struct functions *all, struct symbol_query *queries,
		    size_t n, const struct unwind_rows *rows, Elf *stripped)
{
	uint64_t counts[N_OUTCOMES] = { 0 }, covered[N_COVERAGES] = { 0 };
	uint64_t functions = 0, shown[N_OUTCOMES + N_COVERAGES] = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct function *function = &all->of[i];
		const struct symbol_query *answer = NULL;
		enum coverage coverage;
		enum outcome worst;

		if (!function->sized)
			continue;
		functions++;
		worst = worst_of(all, i, queries, n, &answer);
		counts[worst]++;
		coverage = coverage_of(stripped, rows, function);
		covered[coverage]++;
		if (worst > COLD && shown[worst]++ < 8)
			printf("%s: 0x%" PRIx64 "-0x%" PRIx64 " %s: %s %s at 0x%" PRIx64 "\n", path,
			       function->begin, function->end, function->name, outcomes[worst],
			       answer->name ? answer->name : "", answer->address);
		if (coverage != ALL_ROWS && shown[N_OUTCOMES + coverage]++ < 8)
			printf("%s: 0x%" PRIx64 "-0x%" PRIx64 " %s: %s\n", path, function->begin,
			       function->end, function->name, coverages[coverage]);
	}
	printf("functions %" PRIu64, functions);
	for (int i = 0; i < N_OUTCOMES; i++)
		printf(" %s %" PRIu64, outcomes[i], counts[i]);
	for (int i = 0; i < N_COVERAGES; i++)
		printf(" %s %" PRIu64, coverages[i], covered[i]);
	putchar('\n');
}

/* Asks as the symbolizer does, but by addresses of the file. */
static int look_up(int fd, struct symbol_query *queries, size_t n)
{
	struct symbol_tables tables = SYMBOL_TABLES_NONE;
	struct pool *pool;
	int r = elf_file_open(fd, &tables.main);

	if (r == 0)
		r = pool_new(&pool);
	if (r == 0)
		r = symbol_tables_find(&tables, pool, queries, n);
	for (file_source *const *source = sources_of_files; r == 0 && *source; source++)
		r = (*source)(tables.main, queries, n, pool);
	return r;
}

static struct symbol_query *queries_for(const struct functions *all, size_t *ret_n)
{
	struct symbol_query *queries = calloc(3 * all->n + 1, sizeof(*queries));
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct function *of = &all->of[i];

		if (!of->sized)
			continue;
		queries[n++].address = of->begin;
		queries[n++].address = of->begin + (of->end - of->begin) / 2;
		queries[n++].address = of->end - 1;
	}
	qsort(queries, n, sizeof(*queries), by_query);
	for (size_t i = 0; i < n; i++) {
		if (!kept || queries[kept - 1].address != queries[i].address)
			queries[kept++] = queries[i];
	}
	*ret_n = kept;
	return queries;
}

int main(int argc, char **argv)
{
	struct unwind_rows rows = { 0 };
	struct symbol_query *queries;
	struct rule_table *rules;
	struct functions all;
	struct error err;
	size_t n;
	int fd;

	if (argc != 3)
		return 2;
	elf_version(EV_CURRENT);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	all = read_functions(elf_begin(fd, ELF_C_READ, NULL));
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (!all.n || fd < 0 || rule_table_new(&rules))
		return 1;
	if (unwind_rows_compile(fd, rules, &rows, &err))
		printf("%s: no rows: %s\n", argv[1], err.text);
	queries = queries_for(&all, &n);
	if (look_up(fd, queries, n))
		return 1;
	compare(argv[1], &all, queries, n, &rows, elf_begin(fd, ELF_C_READ, NULL));
	return 0;
}
