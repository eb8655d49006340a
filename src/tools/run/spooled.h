/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a file that is to be loaded. What can be read only once, front to back (a pipe, a FIFO, a
 * socket, as `-`, /dev/stdin and <(...) are), is copied to memory first.
 */
#ifndef STACKTALLY_RUN_SPOOLED_H
#define STACKTALLY_RUN_SPOOLED_H

#include "base/error.h"

/*
 * "standard input" for `-`, else the path: how messages call the file.
 */
const char *spooled_name(const char *path);

/*
 * Of perf's data, *ret_fd has what `perf script` prints of it. If it is another user's, perf runs
 * as that user, since the data may be hostile.
 *
 * *ret_fd is a regular file at its beginning, which the caller closes. Waits for what writes to a
 * pipe until that ends; a FIFO that nobody writes to is empty. 0, or a negative errno and an error
 * that names the path: terminals, directories and devices are refused, and so are pipes of more
 * than BASELINE_FILE_MAX bytes.
 */
int spooled_open(const char *path, int *ret_fd, struct error *err);

#endif
