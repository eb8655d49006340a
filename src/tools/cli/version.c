// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/version.h"

#include <commit.h> /* made by the Makefile */

const char version_text[] = STACKTALLY_VERSION " (commit " STACKTALLY_COMMIT ")";
