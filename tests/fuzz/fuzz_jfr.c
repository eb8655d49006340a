// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording of Java's. What is read of it has an error or a total; its times tell all of it, or
 * nothing; and each of its stacks has names. The first byte chooses the value.
 */
#include <stdlib.h>
#include <string.h>

#include "import/baseline.h"
#include "import/jfr_chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const values[] = { NULL,   "cpu",  "wall",	   "alloc",
				      "lock", "live", "nativemem", "ThreadSleep" };

static void check(const struct baseline *base)
{
	struct profile profile = { 0 };

	if (profile_build(base->tally, base->names, &base->meta, PROFILE_VIEW_PROCESS, NULL,
			  &profile) < 0)
		abort();
	if (profile.total != tally_total(base->tally) || profile.total > INT64_MAX)
		abort();
	if (base->timeline.n_slices > 0 && !timeline_tells(&base->timeline, base->tally))
		abort();
	if (names_n_addresses(base->names) != tally_n_addresses(base->tally))
		abort();
	profile_clear(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct baseline *base = NULL;
	struct error err = { 0 };
	char *bytes;

	if (size < 1 + JFR_MAGIC_SIZE || size > 65536)
		return 0;
	bytes = malloc(size - 1); /* so that what is behind it is seen to be read */
	if (!bytes)
		abort();
	memcpy(bytes, data + 1, size - 1);
	memcpy(bytes, JFR_MAGIC, JFR_MAGIC_SIZE);
	if (baseline_read(bytes, size - 1, values[data[0] % 8], &base, &err) == 0)
		check(base);
	else if (!err.text[0])
		abort();
	baseline_free(base);
	free(bytes);
	return 0;
}
