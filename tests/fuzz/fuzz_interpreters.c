// SPDX-License-Identifier: GPL-2.0-or-later
/* The readers of interpreters' files, one for each language, and what marks such files. The input
 * is the file. */
#include <stdlib.h>

#include "elf/elf_file.h"
#include "interpreters/interpreters.h"
#include "interpreters/languages.h"

#define LANGUAGE_ADDRESS(ID, id, ...) &language_##id,

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct language_reader *const languages[] = {
		LANGUAGES(LANGUAGE_ADDRESS, LANGUAGES_NOTHING, LANGUAGES_NOTHING)
	};
	struct elf_file *elf = NULL;

	if (elf_file_open_memory(data, size, &elf))
		return 0;
	interpreters_mark(elf);
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
		struct wire_interpreter found = { 0 };

		if (languages[i]->read(elf, &found) == 0 && found.language &&
		    found.evaluator > found.evaluator_end)
			abort();
	}
	elf_file_close(elf);
	return 0;
}
