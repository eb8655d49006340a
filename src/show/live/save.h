/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A range of seconds as a file in a report format, or as a recording. */
#ifndef STACKTALLY_LIVE_SAVE_H
#define STACKTALLY_LIVE_SAVE_H

#include "live/model.h"

#define SAVE_MAX_SIZE (256u << 20) /* of a file, bytes */

/*
 * Writes the seconds `from` to `to`, by number and as far as they are kept, or with `from` = 0
 * everything since the start. `writer` NULL: a recording. The caller owns `ret_buffer`. 0, -EFBIG
 * when the file would exceed SAVE_MAX_SIZE, or another negative errno.
 */
int save_range(struct model *model, const struct writer *writer, uint64_t from, uint64_t to,
	       struct buffer **ret_buffer);

#endif
