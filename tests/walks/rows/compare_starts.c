/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares where functions of stripped files are said to begin with the symbols that were stripped:
 *	compare_starts [--spoil] WITH-SYMBOLS STRIPPED
 * Asks for the first byte, the middle and the last byte of each function of .symtab. An answer
 * agrees if a function that contains the byte begins there; for the cold part of a function also if
 * the function itself does. The last line counts functions, and by kind those that differ.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cfi/function_starts.h"

struct function {
	uint64_t begin, end;
	const char *name;
};

struct functions {
	struct function *of; /* by address */
	size_t n;
};

enum outcome { AGREES, COLD_OF_FUNCTION, NO_START, BEFORE, WITHIN, N_OUTCOMES };

static const char *const outcomes[N_OUTCOMES] = {
	"agree", "cold, of their function", "no start", "start before", "start within",
};

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

/* The functions of .symtab that have bytes in an executable section. */
static struct functions read_functions(Elf *elf)
{
	struct functions all = { 0 };
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		size_t n;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		n = header.sh_size / header.sh_entsize;
		all.of = calloc(n, sizeof(*all.of));
		for (size_t i = 0; i < n; i++) {
			GElf_Shdr code;
			GElf_Sym symbol;
			int type;

			if (!gelf_getsym(data, (int)i, &symbol))
				continue;
			type = GELF_ST_TYPE(symbol.st_info);
			if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !symbol.st_size ||
			    !gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &code) ||
			    !(code.sh_flags & SHF_EXECINSTR))
				continue;
			all.of[all.n++] =
				(struct function){ .begin = symbol.st_value,
						   .end = symbol.st_value + symbol.st_size,
						   .name = elf_strptr(elf, header.sh_link,
								      symbol.st_name) };
		}
		qsort(all.of, all.n, sizeof(*all.of), by_address);
	}
	return all;
}

static bool contained_at(const struct functions *all, size_t near, uint64_t start, uint64_t address)
{
	/* Functions that contain an address are near each other in the list. */
	size_t from = near > 64 ? near - 64 : 0;

	for (size_t i = from; i < all->n && i < near + 64; i++) {
		if (all->of[i].begin == start && address >= all->of[i].begin &&
		    address < all->of[i].end)
			return true;
	}
	return false;
}

/* Whether NAME.cold is a part of the function at `start`: NAME, or a clone of NAME. */
static bool is_cold_part_of(const struct functions *all, const char *name, uint64_t start)
{
	const char *cold = strstr(name, ".cold");
	size_t size = cold ? (size_t)(cold - name) : 0;

	for (size_t i = 0; cold && i < all->n; i++) {
		if (all->of[i].begin == start && strncmp(all->of[i].name, name, size) == 0 &&
		    (all->of[i].name[size] == '\0' || all->of[i].name[size] == '.'))
			return true;
	}
	return false;
}

static enum outcome outcome_of(const struct functions *all, size_t i,
			       const struct symbol_query *answer)
{
	const struct function *function = &all->of[i];

	if (!answer->is_start)
		return NO_START;
	if (contained_at(all, i, answer->start, answer->address))
		return AGREES;
	if (is_cold_part_of(all, function->name, answer->start))
		return COLD_OF_FUNCTION;
	return answer->start < function->begin ? BEFORE : WITHIN;
}

int main(int argc, char **argv)
{
	bool spoil = argc > 1 && strcmp(argv[1], "--spoil") == 0;
	uint64_t counts[N_OUTCOMES] = { 0 };
	struct symbol_query *queries;
	struct functions all;
	struct elf_file *stripped;
	struct pool *pool;
	size_t n = 0;
	int fd, shown = 0;
	Elf *elf;

	argv += spoil;
	if (argc - spoil != 3)
		return 2;
	elf_version(EV_CURRENT);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	all = read_functions(elf);
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (!all.n || elf_file_open(fd, &stripped) || pool_new(&pool))
		return 1;
	queries = calloc(3 * all.n, sizeof(*queries));
	for (size_t i = 0; i < all.n; i++) {
		queries[n++].address = all.of[i].begin;
		queries[n++].address = all.of[i].begin + (all.of[i].end - all.of[i].begin) / 2;
		queries[n++].address = all.of[i].end - 1;
	}
	qsort(queries, n, sizeof(*queries), by_query);
	if (function_starts_find(stripped, queries, n, pool))
		return 1;
	for (size_t i = 0; spoil && i < n; i++)
		queries[i].start++;
	for (size_t i = 0; i < all.n; i++) {
		const uint64_t at[3] = { all.of[i].begin,
					 all.of[i].begin + (all.of[i].end - all.of[i].begin) / 2,
					 all.of[i].end - 1 };
		enum outcome worst = AGREES;
		uint64_t start = 0;

		for (int k = 0; k < 3; k++) {
			const struct symbol_query *answer =
				&queries[symbol_query_lower_bound(queries, n, at[k])];
			enum outcome outcome = outcome_of(&all, i, answer);

			if (outcome > worst) {
				worst = outcome;
				start = answer->start;
			}
		}
		counts[worst]++;
		if (worst > COLD_OF_FUNCTION && shown++ < 20)
			printf("%s: 0x%" PRIx64 "-0x%" PRIx64 " %s: %s 0x%" PRIx64 "\n", argv[1],
			       all.of[i].begin, all.of[i].end, all.of[i].name, outcomes[worst],
			       start);
	}
	printf("%zu functions", all.n);
	for (int i = 0; i < N_OUTCOMES; i++)
		printf(", %" PRIu64 " %s", counts[i], outcomes[i]);
	putchar('\n');
	return 0;
}
