// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads a recording and prints it. The input is the file; its checksums are corrected first, so
 * that the reader gets beyond them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../recordings/checksums.h"
#include "recording/recording.h"
#include "report/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a file, or -1. */
static int file_of(const uint8_t *data, size_t size)
{
	unsigned char *copy = malloc(size + 1);
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (copy && fd >= 0) {
		memcpy(copy, data, size);
		make_checksums(copy, size);
		if (write(fd, copy, size) != (ssize_t)size) {
			close(fd);
			fd = -1;
		}
	}
	free(copy);
	return fd;
}

static void print(const struct recording *recording, const struct writer *writer, FILE *out)
{
	const struct report_options options = { .per_process = true,
						.annotations = true,
						.offset = true,
						.lines = true,
						.show_cgroup = true };
	struct profile profile = { 0 };
	const struct report report = {
		.measurement = { &recording->meta, recording->tally, recording->names,
				 &recording->timeline },
		.options = &options,
		.profile = writer->view ? &profile : NULL,
	};
	struct error err;

	if (writer->view && profile_build(recording->tally, recording->names, &recording->meta,
					  writer_view(writer, &options), NULL, &profile) < 0)
		return;
	if (writer->view && profile.total != tally_total(recording->tally))
		abort();
	/* perf script's format has a record for each sample: many would take minutes. */
	if (writer != &perf_script_writer || profile.total < 1000)
		writer->write(&report, out, &err);
	profile_clear(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	int fd;

	if (size > 65536)
		return 0;
	fd = file_of(data, size);
	if (fd < 0)
		return 0;
	if (recording_load(fd, "input", &recording, &err) == 0) {
		FILE *out = fopen("/dev/null", "we");

		for (int i = 0; out && writers[i]; i++)
			print(recording, writers[i], out);
		if (out)
			fclose(out);
	} else if (!err.text[0] || recording) {
		abort();
	}
	recording_free(recording);
	close(fd);
	return 0;
}
