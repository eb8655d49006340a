/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of process or thread ids, of any length.
 */
#ifndef STACKTALLY_BASE_ID_LIST_H
#define STACKTALLY_BASE_ID_LIST_H

#include <stdint.h>
#include <sys/types.h>

struct id_list {
	pid_t *ids;
	uint32_t n;
};

#endif
