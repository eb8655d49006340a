// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a base (folded text or pprof). Compared with itself, no count differs; written as pprof and
 * read again, it has as many samples.
 */
#include <stdlib.h>
#include <string.h>

#include "import/baseline.h"
#include "report/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct report_options options = { .per_process = true, .by_comm = true };

/* The output of a writer for the base, or for it compared with itself; allocated. */
static char *written(const struct baseline *base, const struct writer *writer, bool compared,
		     size_t *ret_size)
{
	struct profile profile = { 0 }, same = { 0 };
	const struct report report = { .options = &options, .profile = &profile };
	uint32_t view = writer_view(writer, &options);
	struct error err = { 0 };
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	if (!out ||
	    profile_build(base->tally, base->names, &base->meta, view, NULL, &profile) < 0 ||
	    profile_build(base->tally, base->names, &base->meta, view, NULL, &same) < 0)
		abort();
	if (profile.total != tally_total(base->tally))
		abort();
	if (compared) {
		profile.base = &same;
		profile.base_scale = scale_make(SCALE_SHARES, &base->meta, profile.total,
						&base->meta, same.total);
	}
	if (writer->write(&report, out, &err) < 0)
		abort();
	fclose(out);
	profile_clear(&profile);
	profile_clear(&same);
	return text;
}

/* Every line ends with the same count twice. */
static void check_folded(const struct baseline *base)
{
	size_t size;
	char *text = written(base, &folded_writer, true, &size);

	for (char *line = text, *end; *line; line = end + 1) {
		char *now, *then;

		end = strchr(line, '\n');
		if (!end)
			abort();
		*end = '\0';
		now = strrchr(line, ' ');
		if (!now)
			abort();
		*now = '\0';
		then = strrchr(line, ' ');
		if (!then || strcmp(now + 1, then + 1) != 0)
			abort();
	}
	free(text);
}

static void check_pprof(const struct baseline *base)
{
	struct baseline *again = NULL;
	struct error err = { 0 };
	size_t size;
	char *text = written(base, &pprof_writer, false, &size);

	if (baseline_read(text, size, NULL, &again, &err) < 0)
		abort();
	if (tally_total(base->tally) <= INT64_MAX &&
	    tally_total(again->tally) != tally_total(base->tally))
		abort();
	baseline_free(again);
	free(text);
	free(written(base, &pprof_writer, true, &size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct baseline *base = NULL;
	struct error err = { 0 };

	if (size > 65536)
		return 0;
	if (baseline_read((const char *)data, size, NULL, &base, &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	check_folded(base);
	check_pprof(base);
	if (base->before) {
		check_folded(base->before);
		check_pprof(base->before);
	}
	baseline_free(base);
	return 0;
}
