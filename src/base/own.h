/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scoped ownership: fn() releases a variable declared with own(fn) when it leaves its scope;
 * take_ptr() and take_fd() pass the ownership on. Every destructor in this tree accepts NULL.
 */
#ifndef STACKTALLY_BASE_OWN_H
#define STACKTALLY_BASE_OWN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define own(release) __attribute__((cleanup(release)))

/* Defines own_RELEASE(), which calls release() on the pointer at the given address. */
#define DEFINE_OWN(type, release)                                                                  \
	static inline void own_##release(type **pointer)                                           \
	{                                                                                          \
		release(*pointer);                                                                 \
	}

#define take_ptr(pointer)                                                                          \
	({                                                                                         \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void own_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void own_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void own_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void own_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

#endif
