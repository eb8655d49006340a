/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define LIBRARY "libdebuginfod.so.1"

struct debuginfod {
	void *library, *client;
	void (*end)(void *client);
	int (*find_debuginfo)(void *client, const unsigned char *build_id, int size, char **path);
	bool unreachable;
};

void debuginfod_free(struct debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	if (debuginfod->client)
		debuginfod->end(debuginfod->client);
	/* The library stays loaded: what it uses (libcurl, TLS) does not like to be unloaded. */
	free(debuginfod);
}

int debuginfod_new(struct debuginfod **ret_debuginfod)
{
	own(own_debuginfod_free) struct debuginfod *debuginfod = NULL;
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *(*begin)(void);

	if (!urls || !*urls)
		return -ENOENT;
	debuginfod = calloc(1, sizeof(*debuginfod));
	if (!debuginfod)
		return -ENOMEM;
	debuginfod->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!debuginfod->library)
		return -ENOENT;
	begin = (void *(*)(void))dlsym(debuginfod->library, "debuginfod_begin");
	debuginfod->end = (void (*)(void *))dlsym(debuginfod->library, "debuginfod_end");
	debuginfod->find_debuginfo =
		(int (*)(void *, const unsigned char *, int,
			 char **))dlsym(debuginfod->library, "debuginfod_find_debuginfo");
	if (!begin || !debuginfod->end || !debuginfod->find_debuginfo)
		return -ENOENT;
	debuginfod->client = begin();
	if (!debuginfod->client)
		return -ENOMEM;
	*ret_debuginfod = take_ptr(debuginfod);
	return 0;
}

int debuginfod_open(struct debuginfod *debuginfod, const uint8_t *build_id, uint32_t size)
{
	int fd;

	if (debuginfod->unreachable)
		return -ENOENT;
	fd = debuginfod->find_debuginfo(debuginfod->client, build_id, (int)size, NULL);
	if (fd < 0 && fd != -ENOENT)
		debuginfod->unreachable = true;
	return fd;
}
