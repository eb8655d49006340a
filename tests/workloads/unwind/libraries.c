// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* Loads a library, calls into it, unloads it, and loads another one. */
#include <dlfcn.h>

#include "case.h"

int main(void)
{
	static const char *const names[] = { "libm.so.6", "libz.so.1" };
	static const char *const functions[] = { "cbrt", "zlibVersion" };

	take_signals();
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(names[i], RTLD_NOW);
		void *function = library ? dlsym(library, functions[i]) : 0;

		if (!function)
			return 1;
		if (i == 0)
			sink += (long)((double (*)(double))function)(27);
		else
			sink += ((const char *(*)(void))function)()[0];
		dlclose(library);
	}
	return 0;
}
