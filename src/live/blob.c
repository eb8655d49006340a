// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/blob.h"

#include <stdlib.h>

struct blob *blob_new(char *bytes, size_t size)
{
	struct blob *blob = bytes ? malloc(sizeof(*blob)) : NULL;

	if (!blob) {
		free(bytes);
		return NULL;
	}
	*blob = (struct blob){ .users = 1, .size = size, .bytes = bytes };
	return blob;
}

struct blob *blob_share(struct blob *blob)
{
	__atomic_add_fetch(&blob->users, 1, __ATOMIC_RELAXED);
	return blob;
}

void blob_free(struct blob *blob)
{
	if (!blob || __atomic_sub_fetch(&blob->users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free(blob->bytes);
	free(blob);
}
