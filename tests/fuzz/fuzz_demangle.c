// SPDX-License-Identifier: GPL-2.0-or-later
/* Demangles the input, behind each of the prefixes of mangled names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const prefixes[] = { "", "_Z", "_R", "___Z", "_ZN", "_D1a" };
	static char demangled[DEMANGLE_SIZE];

	if (size > 16384)
		return 0;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t prefix = strlen(prefixes[i]);
		char *name = malloc(prefix + size + 1);

		if (!name)
			return 0;
		memcpy(name, prefixes[i], prefix);
		memcpy(name + prefix, data, size);
		name[prefix + size] = '\0';
		if (demangle(name, demangled, sizeof(demangled)) &&
		    (!*demangled || strlen(demangled) >= sizeof(demangled)))
			abort();
		free(name);
	}
	return 0;
}
