// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perl, with and without threads. Its structures are those of its headers (perl_offsets.h), a later
 * version's those of the last one that is known; the numbers of operations are those of the file.
 * With threads, what the walk begins with is in a structure that each thread has, and without
 * threads in variables that the file exports.
 */
#include <errno.h>

#include "elf/elf_exports.h"
#include "interpreters/languages.h"
#include "interpreters/perl_operations.h"

/* The offsets of one minor version. perl_offsets.h is made by scripts/perl-offsets. */
struct perl_offsets {
	uint8_t revision, version;
	struct wire_perl is; /* without addresses, and of a perl with threads */
};

#include "interpreters/perl_offsets.h"

enum perl_symbol {
	PERL_REVISION,
	PERL_VERSION,
	PERL_OPERATIONS,
	PERL_THREAD_KEY,
	PERL_MAIN,
	PERL_EVALUATOR,
	/* Without threads. */
	PERL_STACKINFO,
	PERL_CURCOP,
	PERL_OP,
	PERL_TOP_ENV,
	PERL_PROGRAM_FILE,
	PERL_SAVESTACK,
	PERL_N_SYMBOLS,
};

/* Those of the version, or of the last one before it; NULL: it is older than all. */
static const struct perl_offsets *offsets_of(const struct elf_file *elf,
					     const struct elf_export *symbols)
{
	size_t i = sizeof(perl_offsets) / sizeof(perl_offsets[0]);
	uint8_t revision, version;

	if (!symbols[PERL_REVISION].address || !symbols[PERL_VERSION].address ||
	    elf_exports_read(elf, symbols[PERL_REVISION].address, &revision, 1) < 0 ||
	    elf_exports_read(elf, symbols[PERL_VERSION].address, &version, 1) < 0)
		return NULL;
	while (i > 0 &&
	       (perl_offsets[i - 1].revision != revision || perl_offsets[i - 1].version > version))
		i--;
	return i ? &perl_offsets[i - 1] : NULL;
}

/*
 * Without threads: the variables as offsets from the first of them, as if they were members of a
 * structure there. False: there are none.
 */
static bool find_variables(const struct elf_export *symbols, struct wire_perl *perl)
{
	uint16_t *const offsets[] = {
		&perl->stackinfo, &perl->curcop,      &perl->op,
		&perl->top_env,	  &perl->interp_file, &perl->savestack,
	};
	uint64_t first = UINT64_MAX;

	for (size_t i = PERL_STACKINFO; i < PERL_N_SYMBOLS; i++)
		if (symbols[i].address < first)
			first = symbols[i].address;
	for (size_t i = PERL_STACKINFO; i < PERL_N_SYMBOLS; i++) {
		if (!symbols[i].address || symbols[i].address - first > UINT16_MAX)
			return false;
		*offsets[i - PERL_STACKINFO] = (uint16_t)(symbols[i].address - first);
	}
	perl->state = first;
	perl->has_threads = 0;
	return true;
}

static int find_state(const struct elf_file *elf, const struct elf_export *symbols,
		      struct wire_perl *perl)
{
	struct perl_operation operations[] = { { .name = "leavesub" }, { .name = "nextstate" } };
	int r = perl_operations_find(elf, &symbols[PERL_OPERATIONS], operations, 2);

	if (r < 0)
		return r;
	perl->op_leavesub = (uint16_t)operations[0].number;
	perl->op_nextstate = (uint16_t)operations[1].number;
	perl->main = symbols[PERL_MAIN].address;
	perl->main_size = (uint32_t)symbols[PERL_MAIN].size;
	if (!symbols[PERL_THREAD_KEY].address)
		return find_variables(symbols, perl) ? 0 : -ENODATA;
	perl->state = symbols[PERL_THREAD_KEY].address;
	perl->has_threads = 1;
	return 0;
}

static int read_perl(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[PERL_N_SYMBOLS] = {
		[PERL_REVISION] = { .name = "PL_revision" },
		[PERL_VERSION] = { .name = "PL_version" },
		[PERL_OPERATIONS] = { .name = "PL_op_name" },
		[PERL_THREAD_KEY] = { .name = "PL_thr_key" }, /* without threads there is none */
		[PERL_MAIN] = { .name = "perl_run" },
		[PERL_EVALUATOR] = { .name = "Perl_runops_standard" },
		[PERL_STACKINFO] = { .name = "PL_curstackinfo" },
		[PERL_CURCOP] = { .name = "PL_curcop" },
		[PERL_OP] = { .name = "PL_op" },
		[PERL_TOP_ENV] = { .name = "PL_top_env" },
		[PERL_PROGRAM_FILE] = { .name = "PL_origfilename" },
		[PERL_SAVESTACK] = { .name = "PL_savestack" },
	};
	const struct elf_export *evaluator = &symbols[PERL_EVALUATOR];
	const struct perl_offsets *offsets;
	int r = elf_exports_find(elf, symbols, PERL_N_SYMBOLS);

	if (r < 0)
		return r;
	if (!evaluator->address)
		return 0;
	ret_interpreter->language = LANGUAGE_PERL;
	ret_interpreter->evaluator = evaluator->address;
	ret_interpreter->evaluator_end = evaluator->address + evaluator->size;
	ret_interpreter->refused = WIRE_SCRIPT_VERSION;
	offsets = offsets_of(elf, symbols);
	if (!offsets || !symbols[PERL_MAIN].address)
		return 0;
	ret_interpreter->perl = offsets->is;
	r = find_state(elf, symbols, &ret_interpreter->perl);
	if (r == 0)
		ret_interpreter->refused = WIRE_SCRIPT_KNOWN;
	return r == -ENODATA ? 0 : r;
}

const struct language_reader language_perl = {
	.exports = LANGUAGE_EXPORTS("perl_run"),
	.file_name = "perl",
	.program = "perl",
	.read = read_perl,
};
