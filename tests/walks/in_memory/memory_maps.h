/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding tables in plain memory, for tests that walk. Only blocks are stored; rules and
 * processes come from unwind/unwind.h.
 */
#ifndef STACKTALLY_TESTS_WALKS_MEMORY_MAPS_H
#define STACKTALLY_TESTS_WALKS_MEMORY_MAPS_H

#include "unwind/unwind_maps.h"

/* The caller closes it with unwind_maps_close(). 0 or -ENOMEM. */
int memory_maps_new(struct unwind_maps **ret_maps);

#endif
