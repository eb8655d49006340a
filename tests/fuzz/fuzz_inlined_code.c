// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Optimized code of V8 and places in it, as they come through the ring buffer. The input is a
 * struct wire_inlined_code with its table; its functions' ids begin at WIRE_SCRIPT_IDS.
 */
#include <stdlib.h>
#include <string.h>

#include "drain/inlined_code.h"

#define N_KNOWN 8  /* functions */
#define N_AT	64 /* offsets */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_places(const struct inlined_code *inlined, struct scripts *scripts, uint64_t code)
{
	for (uint32_t i = 0; i < N_AT; i++) {
		struct wire_script_place place = { .id = 1000000 + i,
						   .function = code,
						   .offset = i < 32 ? i : UINT32_MAX >> (63 - i) };
		uint64_t id = place.id;
		uint32_t n = 0;
		struct script is;

		if (inlined_code_add_place(inlined, scripts, &place))
			abort();
		for (; id && scripts_find(scripts, id, &is); id = is.caller)
			if (!is.name || n++ > 64)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inlined_code *inlined;
	struct scripts *scripts;
	uint64_t code;
	/* At an address as the ring's. */
	uint8_t *record = malloc(size + 1);

	if (!record || scripts_new(&scripts) || inlined_code_new(&inlined))
		abort();
	memcpy(record, data, size);
	for (uint64_t i = 0; i < N_KNOWN; i++)
		if (scripts_add(scripts, &(struct script){ .id = WIRE_SCRIPT_IDS + i,
							   .name = "f",
							   .file = "" }))
			abort();
	if (inlined_code_take(inlined, record, size) == 0) {
		memcpy(&code, record, sizeof(code));
		take_places(inlined, scripts, code);
	}
	inlined_code_free(inlined);
	scripts_free(scripts);
	free(record);
	return 0;
}
