// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile text of /proc/PID/maps: the fields of each parsed line are within their bounds. */
#include <stdlib.h>
#include <string.h>

#include "files/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size, *before = at;
	struct maps_line line;
	char name[64];

	while (maps_next(&at, end, &line)) {
		size_t length = maps_name(&line, name, sizeof(name));

		if (at <= before || at > end || line.start >= line.end)
			abort();
		if (line.name < (const char *)data || line.name + line.name_size > end)
			abort();
		if (length >= sizeof(name) || strlen(name) != length ||
		    maps_name_undeleted(name, length) > length)
			abort();
		before = at;
	}
	if (at != end)
		abort();
	return 0;
}
