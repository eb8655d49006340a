/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the machine is found out without measuring: by reading the file, or asking the kernel for
 * what is needed, never by a version.
 */
#ifndef STACKTALLY_CHECK_FACTS_H
#define STACKTALLY_CHECK_FACTS_H

#include "check/finding.h"

void facts_find(struct findings *findings);

#endif
