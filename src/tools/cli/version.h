/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The version, and the commit that the program was made from: what --version prints after the
 * command's name.
 */
#ifndef STACKTALLY_CLI_VERSION_H
#define STACKTALLY_CLI_VERSION_H

/* `0.1.0 (commit 0123456789ab)`; or `unknown` for the commit. */
extern const char version_text[];

#endif
