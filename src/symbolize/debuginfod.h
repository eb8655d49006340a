/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetches debug files from the servers in DEBUGINFOD_URLS, with elfutils' debuginfod-find(1) if it
 * is installed: so no network code runs in our process, which is root. That program's environment
 * variables set the servers, its time-out and its cache.
 *
 * A fetch that fails after 10 seconds is the last: a server that cannot be reached must not cost
 * its time-out for every file.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUGINFOD_H
#define STACKTALLY_SYMBOLIZE_DEBUGINFOD_H

#include <stdint.h>

#include "base/own.h"

struct debuginfod;

/* 0, -ENOMEM, or -ENOENT: DEBUGINFOD_URLS is not set. */
int debuginfod_new(struct debuginfod **ret_debuginfod);
void debuginfod_free(struct debuginfod *debuginfod);
DEFINE_OWN(struct debuginfod, debuginfod_free)

/*
 * Fetches and opens the debug file with this build-id of `size` bytes. Blocks as long as that
 * takes. Returns a descriptor, which the caller closes, or a negative errno.
 */
int debuginfod_open(struct debuginfod *debuginfod, const uint8_t *build_id, uint32_t size);

#endif
