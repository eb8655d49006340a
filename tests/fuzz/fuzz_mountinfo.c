// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile mount points and options: the text of mountinfo, and a path behind its first NUL. */
#include <stdlib.h>
#include <string.h>

#include "files/mountinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum mount_kind kind_in(const char *text, uint64_t id, uint64_t root)
{
	struct mountinfo_own own = mountinfo_own_parse(text, root);
	enum mount_kind kind = mountinfo_kind(text, id, &own);

	mountinfo_own_clear(&own);
	return kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *path;
	size_t length;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	length = strlen(text);
	path = length < size ? text + length + 1 : "/usr/bin/cat";
	for (uint64_t id = 0; id < 64; id++) {
		if (kind_in(text, id, id) == MOUNT_REMOTE)
			abort(); /* our own root is local */
		kind_in(text, id, UINT64_MAX);
	}
	if (mountinfo_path_is_local(text, path) && mountinfo_path_is_local("/\n", path))
		abort();
	free(text);
	return 0;
}
