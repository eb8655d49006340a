/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiles a file into rows in a confined child: what is wrong with the file spoils its own rows.
 * The rows that come back are checked as those of a file of the cache are.
 */
#ifndef STACKTALLY_UNWIND_ROWS_CONFINED_H
#define STACKTALLY_UNWIND_ROWS_CONFINED_H

#include "cfi/unwind_rows.h"
#include "confined/confined.h"

/*
 * As unwind_rows_compile(); also -EDQUOT, -ETIMEDOUT, -EIO (confined_begin(), confined_read()) and
 * -EPROTO: the child sent no rows. On failure, some rules may have been added.
 */
int rows_confined_compile(struct confined *confined, int fd, struct rule_table *rules,
			  struct unwind_rows *ret_rows);

#endif
