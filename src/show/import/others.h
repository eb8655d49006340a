/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats that are not read here, by their first bytes, and what makes one of them that is. */
#ifndef STACKTALLY_IMPORT_OTHERS_H
#define STACKTALLY_IMPORT_OTHERS_H

#include <stddef.h>

/* What it is, and the next command: a string constant; or NULL. */
const char *others_advice(const char *bytes, size_t size);

#endif
