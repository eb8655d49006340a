/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding tables in plain memory, for walks of tests. Only blocks are stored: unwind/unwind.h
 * tells rules and processes.
 */
#ifndef STACKTALLY_TESTS_WALK_MEMORY_MAPS_H
#define STACKTALLY_TESTS_WALK_MEMORY_MAPS_H

#include "unwind/unwind_maps.h"

/* To be closed with unwind_maps_close(). 0 or -ENOMEM. */
int memory_maps_new(struct unwind_maps **ret_maps);

#endif
