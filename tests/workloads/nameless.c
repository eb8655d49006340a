// SPDX-License-Identifier: GPL-2.0-or-later
/* nameless PROGRAM [ARG...]: executes a copy of PROGRAM that is in memory only (memfd). */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "burn.h"

int main(int argc, char **argv)
{
	int from = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int to = memfd_create("in-memory", MFD_CLOEXEC);
	struct stat status;
	off_t done = 0;

	if (from < 0 || to < 0 || fstat(from, &status))
		return 1;
	while (done < status.st_size)
		if (sendfile(to, from, &done, (size_t)(status.st_size - done)) <= 0)
			return 1;
	fexecve(to, argv + 1, environ);
	return 1;
}
