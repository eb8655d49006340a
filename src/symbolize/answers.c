/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"

/* One offset of a file and the answer to it. */
struct known {
	uint64_t offset;
	struct answer answer;
} __attribute__((packed, aligned(4)));

struct known_file {
	struct known *known; /* sorted by offset */
	size_t n;
};

struct answers {
	struct pool *pool;
	struct found_symbol *symbols;
	uint32_t n_symbols, room;
	struct known_file *files;
	uint32_t n_files;
	char demangled[DEMANGLE_SIZE];
};

int answers_new(struct answers **ret_answers)
{
	own(own_answers_free) struct answers *answers = calloc(1, sizeof(*answers));
	int r;

	if (!answers)
		return -ENOMEM;
	r = pool_new(&answers->pool);
	if (r)
		return r;
	*ret_answers = take_ptr(answers);
	return 0;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	for (uint32_t i = 0; i < answers->n_files; i++)
		free(answers->files[i].known);
	free(answers->files);
	free(answers->symbols);
	pool_free(answers->pool);
	free(answers);
}

struct pool *answers_pool(struct answers *answers)
{
	return answers->pool;
}

const struct found_symbol *answers_symbol(const struct answers *answers, uint32_t symbol)
{
	return &answers->symbols[symbol];
}

int answers_add_symbol(struct answers *answers, const char *name, const char *module,
		       uint32_t flags, uint32_t *ret_symbol)
{
	struct found_symbol symbol = { .name = name, .module = module, .flags = flags };

	if (answers->n_symbols == answers->room) {
		uint32_t room = answers->room ? answers->room * 2 : 256;
		struct found_symbol *grown;

		if (room < answers->room)
			return -EFBIG;
		grown = realloc(answers->symbols, (size_t)room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		answers->symbols = grown;
		answers->room = room;
	}
	if (demangle(name, answers->demangled, sizeof(answers->demangled))) {
		symbol.linkage_name = name;
		symbol.name = pool_string(answers->pool, answers->demangled);
		if (!symbol.name)
			return -ENOMEM;
	}
	if (module) {
		symbol.module = pool_string(answers->pool, module);
		if (!symbol.module)
			return -ENOMEM;
	}
	*ret_symbol = answers->n_symbols;
	answers->symbols[answers->n_symbols++] = symbol;
	return 0;
}

bool answers_known(const struct answers *answers, uint32_t file, uint64_t offset, size_t *from,
		   struct answer *ret_answer)
{
	const struct known_file *known_file;
	size_t low = *from, high;

	if (file >= answers->n_files)
		return false;
	known_file = &answers->files[file];
	high = known_file->n;
	/* In steps that double: the next one is mostly near. */
	for (size_t step = 1; low + step < high; step *= 2) {
		if (known_file->known[low + step].offset >= offset) {
			high = low + step + 1;
			break;
		}
		low += step;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (known_file->known[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	*from = low;
	if (low == known_file->n || known_file->known[low].offset != offset)
		return false;
	*ret_answer = known_file->known[low].answer;
	return true;
}

static int room_for_file(struct answers *answers, uint32_t file)
{
	uint32_t n = file + 1 + file / 2;
	struct known_file *grown;

	if (file < answers->n_files)
		return 0;
	if (n <= file)
		return -EFBIG;
	grown = realloc(answers->files, (size_t)n * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + answers->n_files, 0, (n - answers->n_files) * sizeof(*grown));
	answers->files = grown;
	answers->n_files = n;
	return 0;
}

int answers_keep(struct answers *answers, uint32_t file, const struct symbol_query *queries,
		 const struct answer *found, size_t n)
{
	struct known_file *known_file;
	struct known *merged;
	size_t old = 0, new = 0;
	int r = room_for_file(answers, file);

	if (r)
		return r;
	known_file = &answers->files[file];
	merged = malloc((known_file->n + n ? known_file->n + n : 1) * sizeof(*merged));
	if (!merged)
		return -ENOMEM;
	for (size_t i = 0; old < known_file->n || new < n; i++) {
		if (new == n ||
		    (old < known_file->n && known_file->known[old].offset < queries[new].address)) {
			merged[i] = known_file->known[old++];
		} else {
			merged[i].offset = queries[new].address;
			merged[i].answer = found[new ++];
		}
	}
	free(known_file->known);
	known_file->known = merged;
	known_file->n += n;
	return 0;
}
