/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /etc/ld.so.cache, the dynamic linker's list of libraries (glibc: sysdeps/generic/dl-cache.h), in
 * its new format, alone (since glibc 2.32) or behind the old one. A pure function of bytes, which
 * may be damaged.
 */
#ifndef STACKTALLY_TRIGGER_LD_CACHE_H
#define STACKTALLY_TRIGGER_LD_CACHE_H

#include <stddef.h>

/*
 * The absolute path of the first library for this machine's 64-bit programs whose name is `name`
 * ("libc.so.6") or begins with it and a dot ("libc.so"). Points into `bytes`. NULL when there is
 * none.
 */
const char *ld_cache_find(const void *bytes, size_t size, const char *name);

#endif
