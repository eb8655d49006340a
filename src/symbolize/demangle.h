/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangles names of C++, Rust and D: those that begin with _Z or ___Z (C++, and Rust's legacy
 * scheme, whose hash is dropped), _R (Rust v0) and _D. With libiberty and, where that is too old
 * for a C++ name, with LLVM's demangler. Stateless. The names may be hostile: one that is too long,
 * nested too deeply, or too large when demangled is left as it is.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEMANGLE_H
#define STACKTALLY_SYMBOLIZE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_SIZE 16384 /* bytes; longer results are not used */

/* Writes the demangled name, terminated; false when `name` is not mangled or too large. */
bool demangle(const char *name, char *ret_name, size_t size);

#endif
