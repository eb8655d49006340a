/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks gzip, all of its members, as zcat does. The input may be hostile: what is unpacked has a
 * bound.
 */
#ifndef STACKTALLY_IMPORT_PACKED_H
#define STACKTALLY_IMPORT_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

bool packed_is_gzip(const char *bytes, size_t size);

/*
 * *ret_bytes is allocated. 0, or a negative errno and an error: -EBADMSG if a member is damaged or
 * cut, or something else follows, -E2BIG for more than `most` bytes, -ENOMEM.
 */
int packed_unpack(const char *packed, size_t size, size_t most, char **ret_bytes, size_t *ret_size,
		  struct error *err);

#endif
