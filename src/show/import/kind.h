/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kind of file that is read: of the first in the list of import/kinds.h that knows a file by its
 * content. Names of files tell nothing.
 */
#ifndef STACKTALLY_IMPORT_KIND_H
#define STACKTALLY_IMPORT_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "import/baseline.h"
#include "import/kinds.h"

/* Bytes of a file that may be hostile; at least one. */
struct import_file {
	const char *bytes;
	size_t size;
	const char *value; /* --value; or NULL */
};

struct import_kind {
	const char *name; /* "speedscope's JSON"; NULL: it is known, and not read */
	bool has_values;  /* of which --value names one */
	bool (*knows)(const char *bytes, size_t size);
	/*
	 * Fills `base`, which is empty. 0, or a negative errno and an error; -ENOEXEC: the file is
	 * of another kind after all, and `base` is still empty.
	 */
	int (*read)(const struct import_file *file, struct baseline *base, struct error *err);
};

#define IMPORT_KIND(id) extern const struct import_kind id##_kind;
IMPORT_KINDS(IMPORT_KIND)
#undef IMPORT_KIND

#endif
