// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile files of container runtimes: the first byte chooses the kind, the rest is the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "containers/container_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_texts texts = { 0 };
	char *text;

	if (size == 0 || !(text = malloc(size)))
		return 0;
	/* A copy of its own size, so that reading behind its end is found. */
	memcpy(text, data + 1, size - 1);
	container_config_read(data[0] & 1 ? CONTAINER_LIST : CONTAINER_OWN_FILE, "aa", text,
			      size - 1, &texts);
	for (int i = 0; i < CONTAINER_N_TEXTS; i++) {
		if (!memchr(texts.of[i], 0, CONTAINER_TEXT_SIZE))
			abort();
		for (const char *at = texts.of[i]; *at; at++)
			if ((unsigned char)*at < ' ' || *at == 127)
				abort();
	}
	free(text);
	return 0;
}
