// SPDX-License-Identifier: GPL-2.0-or-later
/* late_library LIBRARY MS: burns, loads the library, burns in its plugin_entry, unloads it. */
#include <dlfcn.h>

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
