// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long the report of many distinct stacks of 30 frames takes, from a recording to folded
 * text on /dev/null: loading, merging and printing, on one CPU.
 *
 *	report_speed make FILE STACKS	makes the recording
 *	report_speed FILE	prints the milliseconds of each part and the peak RSS
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/own.h"
#include "recording/recording.h"
#include "report/writer.h"

#define N_FRAMES    30u
#define N_ADDRESSES 50000u
#define N_NAMES	    5000u
#define N_COMMS	    16u

DEFINE_OWN(struct tally, tally_free)
DEFINE_OWN(struct names, names_free)
DEFINE_OWN(struct recording, recording_free)

/* A fixed sequence (xorshift), so that every run measures the same data. */
static uint32_t chance(uint64_t *state, uint32_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)((*state >> 32) * below >> 32);
}

static int make_addresses(struct tally *tally, struct names *names, uint64_t *state)
{
	for (uint32_t i = 0; i < N_ADDRESSES; i++) {
		uint32_t which = i % N_NAMES;
		struct tally_address address = { .address = 0x560000001000u + i * 64u, .image = 1 };
		struct names_frame frame = { .offset = chance(state, 4096), .object = NAMES_NONE };
		char name[80];
		uint32_t id;
		int r;

		snprintf(name, sizeof(name), "library_%u::part_%u%s", which % 50, which,
			 which % 7 ? "::run" : "::execute(std::string const&, unsigned long)");
		frame.name = names_string(names, name);
		frame.module = names_string(names, "library.so.1");
		if (!frame.name || !frame.module)
			return -1;
		r = tally_address(tally, &address, &id);
		if (r == 0)
			r = names_add_address(names, &frame, 1);
		if (r < 0)
			return r;
	}
	return 0;
}

static int make_stacks(struct tally *tally, uint32_t n_stacks, uint64_t *state)
{
	for (uint32_t i = 0; i < n_stacks; i++) {
		uint32_t frames[N_FRAMES];
		struct tally_entry entry = { .count = 1 + chance(state, 100),
					     .tgid = 1000 + i % N_COMMS,
					     .kernel = TALLY_STACK_NONE };
		int r;

		for (uint32_t at = 0; at < N_FRAMES; at++)
			frames[at] = chance(state, N_ADDRESSES);
		snprintf(entry.comm, sizeof(entry.comm), "worker-%u", i % N_COMMS);
		r = tally_stack(tally, frames, N_FRAMES, 0, &entry.user);
		if (r == 0)
			r = tally_add(tally, &entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int make(const char *path, uint32_t n_stacks)
{
	own(own_tally_free) struct tally *tally = NULL;
	own(own_names_free) struct names *names = NULL;
	own(own_file) FILE *out = fopen(path, "we");
	struct profile_meta meta = { .command = "profile", .event = "cycles", .frequency = 49 };
	struct error err = { 0 };
	uint64_t state = 88172645463325252u;

	if (!out || tally_new(0, 0, &tally) < 0 || names_new(&names) < 0 ||
	    make_addresses(tally, names, &state) < 0 || make_stacks(tally, n_stacks, &state) < 0 ||
	    recording_save(out, &meta, tally, names, NULL, &err) < 0 || fflush(out) != 0) {
		fprintf(stderr, "cannot make %s: %s\n", path, err.text);
		return 1;
	}
	return 0;
}

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* User and system time: what the wall clock would show if the CPU were ours. */
static double cpu(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3;
}

static int measure(const char *path)
{
	own(own_recording_free) struct recording *recording = NULL;
	own(own_file) FILE *out = fopen("/dev/null", "we");
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct report_options options = { .layout = REPORT_LAYOUT_PROFILE, .per_process = true };
	struct profile profile = { 0 };
	const struct report report = { .options = &options, .profile = &profile };
	struct error err = { 0 };
	double start = milliseconds(), loaded, built, written;
	struct rusage usage;

	if (!out || fd < 0) {
		perror(path);
		return 1;
	}
	if (recording_load(fd, path, &recording, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	loaded = milliseconds();
	if (profile_build(recording->tally, recording->names, &recording->meta,
			  folded_writer.view(&options), NULL, &profile) < 0)
		return 1;
	built = milliseconds();
	if (folded_writer.write(&report, out, &err) < 0 || fflush(out) != 0)
		return 1;
	written = milliseconds();
	getrusage(RUSAGE_SELF, &usage);
	printf("load %.0f ms, merge %.0f ms, print %.0f ms, total %.0f ms, CPU %.0f ms; "
	       "%u lines; peak RSS %ld MiB\n",
	       loaded - start, built - loaded, written - built, written - start, cpu(&usage),
	       profile.n_entries, usage.ru_maxrss / 1024);
	profile_clear(&profile);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "make") == 0)
		return make(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
	if (argc == 2)
		return measure(argv[1]);
	fprintf(stderr, "usage: %s FILE | make FILE STACKS\n", argv[0]);
	return 2;
}
