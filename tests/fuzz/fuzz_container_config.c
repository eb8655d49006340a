// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile files of container runtimes: the first byte chooses the kind, the rest is the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "containers/container_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char text[CONTAINER_TEXT_SIZE])
{
	if (!memchr(text, 0, CONTAINER_TEXT_SIZE))
		abort();
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			abort();
}

static void check_listed(void *context, const struct container_listed *listed)
{
	(void)context;
	if (strlen(listed->id) != CGROUP_CONTAINER_ID)
		abort();
	check(listed->name);
	check(listed->image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_texts texts = { 0 };
	char *text;

	if (size == 0 || !(text = malloc(size)))
		return 0;
	/* A copy of its own size, so that reading behind its end is found. */
	memcpy(text, data + 1, size - 1);
	if (data[0] & 1)
		container_list_read(text, size - 1, check_listed, NULL);
	else
		container_config_read((enum container_file)((data[0] >> 1) % CONTAINER_N_FILES),
				      text, size - 1, &texts);
	for (int i = 0; i < CONTAINER_N_TEXTS; i++)
		check(texts.of[i]);
	free(text);
	return 0;
}
