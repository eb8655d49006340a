/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dynamic linker's cache of libraries (/etc/ld.so.cache in the format of glibc 2.32 and
 * before alike), as bytes in, path out. Trusts no offset in it.
 */
#ifndef STACKTALLY_TRIGGER_LD_CACHE_H
#define STACKTALLY_TRIGGER_LD_CACHE_H

#include <stddef.h>

/*
 * The path of the first 64-bit library of this machine whose name is `name` ("libc.so.6") or
 * begins with it and a dot ("libc.so"); it points into `bytes`. NULL when there is none.
 */
const char *ld_cache_find(const void *bytes, size_t size, const char *name);

#endif
