/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of functions without parameters, template arguments and return types: "ns::f<int>(char)
 * const" is "ns::f". Names come from demanglers, of C++, Rust, D and Go; others stay as they are.
 */
#ifndef STACKTALLY_VIEW_SIMPLE_NAME_H
#define STACKTALLY_VIEW_SIMPLE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Names up to this size are shortened. */
#define SIMPLE_NAME_MAX 65536u

/* Writes the short name to `to`, which has room for the name. False: there is none. */
bool simple_name(const char *name, char *to);

#endif
