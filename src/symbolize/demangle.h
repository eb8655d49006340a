/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++ and Rust names as in their sources. Stateless; the names may be hostile: what is too long,
 * nested too deep or grows too large when written out stays as it is.
 *
 * Knows the prefixes _Z and ___Z (C++, and Rust's legacy scheme, whose hash is cut) and _R (Rust
 * v0). All else is left alone.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEMANGLE_H
#define STACKTALLY_SYMBOLIZE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_SIZE 16384 /* room for any result */

/* Writes the demangled name, or returns false when `name` is not mangled or cannot be told. */
bool demangle(const char *name, char *ret_name, size_t size);

#endif
