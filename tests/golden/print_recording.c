// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a recording through one writer, with the given report options:
 *
 *	print_recording RECORDING FORMAT [OPTION ...]
 *
 * An option is the name of a field of struct report_options, "rows=N", "columns=LIST" or
 *"sort=COLUMN" for a table, or "stackcount" for that layout. Warnings go to standard output too,
 *last.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "recording/recording.h"
#include "report/writer.h"
#include "view/warnings.h"

DEFINE_OWN(struct recording, recording_free)

static bool set_option(struct report_options *options, const char *name)
{
	const struct {
		const char *name;
		bool *field;
	} fields[] = {
		{ "delimited", &options->delimited },
		{ "annotations", &options->annotations },
		{ "offset", &options->offset },
		{ "address", &options->address },
		{ "verbose_address", &options->verbose_address },
		{ "by_address", &options->by_address },
		{ "per_process", &options->per_process },
		{ "hide_process_line", &options->hide_process_line },
		{ "per_thread", &options->per_thread },
		{ "show_cgroup", &options->show_cgroup },
		{ "lines", &options->lines },
		{ "user_only", &options->user_only },
		{ "kernel_only", &options->kernel_only },
		{ "bare_unknown", &options->bare_unknown },
	};

	if (strncmp(name, "rows=", 5) == 0) {
		options->rows = (uint32_t)atoi(name + 5);
		return true;
	}
	if (strncmp(name, "columns=", 8) == 0) {
		options->columns = name + 8;
		return true;
	}
	if (strncmp(name, "sort=", 5) == 0) {
		options->sort = name + 5;
		return true;
	}
	if (strcmp(name, "stackcount") == 0) {
		options->layout = REPORT_LAYOUT_STACKCOUNT;
		return true;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(name, fields[i].name) == 0) {
			*fields[i].field = true;
			return true;
		}
	}
	return false;
}

static int print(const char *path, const struct writer *writer,
		 const struct report_options *options)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	own(own_recording_free) struct recording *recording = NULL;
	struct profile profile = { 0 };
	struct report report = { .options = options, .profile = &profile };
	struct error err = { 0 };
	char line[WARNINGS_LINE_SIZE];
	int r;

	if (fd < 0) {
		perror(path);
		return 1;
	}
	r = recording_load(fd, path, &recording, &err);
	if (r == 0)
		report.measurement = (struct measurement){ &recording->meta, recording->tally,
							   recording->names, &recording->timeline };
	if (r == 0)
		r = profile_build(recording->tally, recording->names, &recording->meta,
				  writer_view(writer, options), NULL, &profile);
	if (r == 0)
		r = writer->write(&report, stdout, &err);
	if (r < 0 || fflush(stdout) != 0) {
		fprintf(stderr, "%s\n", err.text);
		profile_clear(&profile);
		return 1;
	}
	for (int i = 0; warnings_line(profile.meta, profile.losses, profile.missed_sides, i, line);
	     i++)
		printf("%s\n", line);
	profile_clear(&profile);
	return 0;
}

int main(int argc, char **argv)
{
	struct report_options options = { .layout = REPORT_LAYOUT_PROFILE };
	const struct writer *writer = argc > 2 ? writer_by_name(argv[2]) : NULL;

	if (!writer || !writer->view) {
		fprintf(stderr, "usage: print_recording RECORDING FORMAT [OPTION ...]\n");
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		if (!set_option(&options, argv[i])) {
			fprintf(stderr, "print_recording: no option %s\n", argv[i]);
			return 2;
		}
	}
	return print(argv[1], writer, &options);
}
