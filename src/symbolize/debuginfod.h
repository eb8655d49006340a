/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from the servers in DEBUGINFOD_URLS, fetched by elfutils' debuginfod-find where it
 * is installed: a program of its own, so that no network code runs in ours and the commands can
 * be static. Where to ask, how long to wait and where to keep what came is told by that
 * program's own environment variables.
 *
 * After a fetch that failed only after a long wait no more is asked for: a server that cannot be
 * reached must not cost its time-out for each file.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUGINFOD_H
#define STACKTALLY_SYMBOLIZE_DEBUGINFOD_H

#include <stdint.h>

#include "base/own.h"

struct debuginfod;

/* 0, -ENOMEM, or -ENOENT when no servers are set. */
int debuginfod_new(struct debuginfod **ret_debuginfod);
void debuginfod_free(struct debuginfod *debuginfod);
DEFINE_OWN(struct debuginfod, debuginfod_free)

/* A descriptor of the debug file with this build-id, which the caller closes; or a negative errno.
 */
int debuginfod_open(struct debuginfod *debuginfod, const uint8_t *build_id, uint32_t size);

#endif
