/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demanglers of libraries that allocate as they go: LLVM's for C++, from libc++abi, and libiberty's
 * for D. They have neither a bound of memory nor a way to fail, so the build renames the functions
 * that their objects call (Makefile, FOREIGN_OBJECTS): each call gets memory of its own, which is
 * freed as a whole, and ends where the library would end the process.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEMANGLE_FOREIGN_H
#define STACKTALLY_SYMBOLIZE_DEMANGLE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the demangled name, terminated; false: it is not mangled by that scheme, or is too large,
 * or takes too much memory. How deep they recurse depends on the length of the name alone.
 */
bool demangle_foreign_cxx(const char *name, char *ret_name, size_t size);
bool demangle_foreign_d(const char *name, char *ret_name, size_t size);

#endif
