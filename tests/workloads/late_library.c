// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * late_library LIBRARY MS [KIB]: burns, loads the library, burns in its plugin_entry, unloads it.
 * Main has a frame of KIB.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <string.h>

#include "burn.h"

static __attribute__((noinline)) void before_loading(uint64_t ns)
{
	burn(ns);
}

int main(int argc, char **argv)
{
	void (*entry)(uint64_t);
	void *library;

	if (argc <= 2)
		return 1;
	if (argc > 3)
		memset(alloca((size_t)atoi(argv[3]) << 10), 1, (size_t)atoi(argv[3]) << 10);
	say_ready();
	before_loading(ns_argument(argc, argv, 2));
	library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	entry = (void (*)(uint64_t))dlsym(library, "plugin_entry");
	if (!entry)
		return 1;
	entry(ns_argument(argc, argv, 2));
	dlclose(library);
	return 0;
}
