/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of --symbols: which files lack symbols, and how to get them on this system.
 */
#ifndef STACKTALLY_RUN_SYMBOLS_TABLE_H
#define STACKTALLY_RUN_SYMBOLS_TABLE_H

#include <stdio.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"

/* 0 or a negative errno with `err` set. The caller also checks ferror(out). */
int symbols_table_write(const struct tally *tally, const struct names *names, FILE *out,
			struct error *err);

#endif
