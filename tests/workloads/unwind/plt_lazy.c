// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -fcf-protection=none -Wl,-z,lazy
/* Functions bound at their first call: PLT0, PLTn, the dynamic linker's resolver. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"

int main(void)
{
	char text[16] = "some text";

	take_signals();
	for (int i = 0; i < 2; i++) {
		sink += getpid() + getppid() + toupper(text[i]);
		sink += strtol("42", NULL, 10) + labs(sink);
		sink += (long)strdup(text);
		sink += strcoll(text, "other") + strspn(text, "so");
	}
	return 0;
}
