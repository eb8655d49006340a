/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings with wildcards, as automata (struct wire_pattern): * is any text, ? one character, [a-z]
 * and [^a-z] (or [!a-z]) one of a set, \ takes the next character as it is.
 */
#ifndef STACKTALLY_EXPRESSION_PATTERN_H
#define STACKTALLY_EXPRESSION_PATTERN_H

#include <stdbool.h>

#include "bpf/expression_wire.h"

/*
 * `wildcards` false: the text itself. 0; -E2BIG: more than WIRE_PATTERN_SIZE characters; -EINVAL: a
 * set or a \ that does not end.
 */
int pattern_compile(const char *text, bool wildcards, struct wire_pattern *ret_pattern);

#endif
