// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of /proc/PID/mountinfo, a path after its first NUL byte: mounts of any names. */
#include <stdlib.h>
#include <string.h>

#include "process/mounts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
		if (mounts_kind_in(text, text, id, id) == MOUNT_REMOTE)
			abort(); /* what is trusted is local, or not there */
		mounts_kind_in(text, text, id, MOUNT_ID_NONE);
	}
	if (mounts_path_is_local(text, path) && mounts_path_is_local("/\n", path))
		abort();
	free(text);
	return 0;
}
