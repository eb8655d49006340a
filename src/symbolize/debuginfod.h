/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from the servers in DEBUGINFOD_URLS, through libdebuginfod where it is installed: it
 * is loaded when asked for and never linked, since few machines have it. Where to ask, how long
 * to wait and where to keep what came is told by that library's own environment variables.
 *
 * A server that cannot be reached is asked once, not once for each file.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUGINFOD_H
#define STACKTALLY_SYMBOLIZE_DEBUGINFOD_H

#include <stdint.h>

#include "base/own.h"

struct debuginfod;

/* 0, -ENOMEM, or -ENOENT when the library is not there or no servers are set. */
int debuginfod_new(struct debuginfod **ret_debuginfod);
void debuginfod_free(struct debuginfod *debuginfod);
DEFINE_OWN(struct debuginfod, debuginfod_free)

/* A descriptor of the debug file with this build-id, which the caller closes; or a negative errno.
 */
int debuginfod_open(struct debuginfod *debuginfod, const uint8_t *build_id, uint32_t size);

#endif
