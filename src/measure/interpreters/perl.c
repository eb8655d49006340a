// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perl with threads. Its structures are those of its headers (perl_offsets.h). A file has them if
 * it exports the same version, size of an interpreter and number of operations.
 */
#include "elf/elf_exports.h"
#include "interpreters/languages.h"

/* Of one minor version. perl_offsets.h is made by scripts/perl-offsets. */
struct perl_offsets {
	uint8_t revision, version;
	uint16_t state_size; /* bytes of an interpreter */
	uint16_t n_ops;
	struct wire_perl is; /* without addresses */
};

#include "interpreters/perl_offsets.h"

enum perl_symbol {
	PERL_REVISION,
	PERL_VERSION,
	PERL_STATE_SIZE,
	PERL_OPERATIONS,
	PERL_THREAD_KEY,
	PERL_MAIN,
	PERL_EVALUATOR,
	PERL_N_SYMBOLS,
};

#define OPERATION_SIZE sizeof(uint32_t) /* of an element of PL_opargs */

static const struct perl_offsets *offsets_of(const struct elf_file *elf,
					     const struct elf_export *symbols)
{
	uint8_t revision, version;
	uint16_t size;

	if (!symbols[PERL_REVISION].address || !symbols[PERL_VERSION].address ||
	    !symbols[PERL_STATE_SIZE].address || !symbols[PERL_THREAD_KEY].address ||
	    !symbols[PERL_MAIN].address ||
	    elf_exports_read(elf, symbols[PERL_REVISION].address, &revision, 1) < 0 ||
	    elf_exports_read(elf, symbols[PERL_VERSION].address, &version, 1) < 0 ||
	    elf_exports_read(elf, symbols[PERL_STATE_SIZE].address, &size, sizeof(size)) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(perl_offsets) / sizeof(perl_offsets[0]); i++) {
		const struct perl_offsets *it = &perl_offsets[i];

		if (revision == it->revision && version == it->version && size == it->state_size &&
		    symbols[PERL_OPERATIONS].size == it->n_ops * OPERATION_SIZE)
			return it;
	}
	return NULL;
}

static int read_perl(const struct elf_file *elf, struct wire_interpreter *ret_interpreter)
{
	struct elf_export symbols[PERL_N_SYMBOLS] = {
		[PERL_REVISION] = { .name = "PL_revision" },
		[PERL_VERSION] = { .name = "PL_version" },
		[PERL_STATE_SIZE] = { .name = "PL_interp_size" },
		[PERL_OPERATIONS] = { .name = "PL_opargs" },
		[PERL_THREAD_KEY] = { .name = "PL_thr_key" }, /* without threads there is none */
		[PERL_MAIN] = { .name = "perl_run" },
		[PERL_EVALUATOR] = { .name = "Perl_runops_standard" },
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
	offsets = offsets_of(elf, symbols);
	if (!offsets) {
		ret_interpreter->refused = WIRE_CODE_VERSION;
		return 0;
	}
	ret_interpreter->perl = offsets->is;
	ret_interpreter->perl.thread_key = symbols[PERL_THREAD_KEY].address;
	ret_interpreter->perl.main = symbols[PERL_MAIN].address;
	ret_interpreter->perl.main_size = (uint32_t)symbols[PERL_MAIN].size;
	return 0;
}

const struct language_reader language_perl = {
	.exports = LANGUAGE_EXPORTS("perl_run"),
	.file_name = "perl",
	.read = read_perl,
};
