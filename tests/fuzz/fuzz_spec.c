// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Patterns: bit 0 of the first byte is set if the rest is a regular expression. A pattern that
 * parses is compiled as wildcards and matched against itself; regular expressions are not compiled,
 * because the C library takes unlimited time for some.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/kinds.h"
#include "trigger/matcher.h"
#include "trigger/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct matcher *matcher = NULL;
	char *text, shown[64];
	struct error err = { 0 };
	struct spec spec;

	if (size == 0 || size > 4096)
		return 0;
	text = calloc(1, size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	if (spec_parse(text, data[0] & 1, &spec, &err) == 0) {
		if (!spec.name || !spec.kind || !spec.library == spec.kind->takes_library)
			abort();
		matcher_describe(spec.name, spec.regexp, shown, sizeof(shown));
		if (matcher_new(spec.name, false, &matcher, &err) == 0 &&
		    !matcher_matches(matcher, spec.name))
			abort();
		matcher_free(matcher);
		spec_clear(&spec);
	} else if (err.exit_class != EXIT_CLASS_RUNTIME || !err.text[0]) {
		abort();
	}
	free(text);
	return 0;
}
