/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long it takes to compile ELF files to unwinding rows, on one thread. Arguments are files
 * and directories; without any, those that a distribution has its programs and libraries in.
 * With -v, a line for each file.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cfi/unwind_rows.h"
#include "unwind/table.h"

struct totals {
	uint64_t files, no_cfi, failed, rows, blocks, ranges[UNWIND_N_SOURCES];
	uint64_t unsupported, malformed, outside, overlaps;
};

static struct rule_table *rule_table;
static struct totals totals;
static int verbose;

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	struct unwind_rows rows;
	struct error err = { 0 };
	double start;
	int fd, r;

	(void)walk;
	if (kind != FTW_F || !S_ISREG(status->st_mode) || status->st_size < 64)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	start = seconds(CLOCK_MONOTONIC);
	r = unwind_rows_compile(fd, rule_table, &rows, &err);
	close(fd);
	if (r == -ENOEXEC)
		return 0;
	totals.files++;
	if (r) {
		totals.failed++;
		fprintf(stderr, "%s: %s\n", path, err.text);
		return 0;
	}
	if (!rows.n)
		totals.no_cfi++;
	for (int i = 0; i < UNWIND_N_SOURCES; i++)
		totals.ranges[i] += rows.counts.ranges[i];
	totals.rows += rows.n;
	totals.blocks += table_blocks(rows.rows, rows.n);
	totals.unsupported += rows.counts.unsupported;
	totals.malformed += rows.counts.malformed;
	totals.outside += rows.counts.outside;
	totals.overlaps += rows.counts.overlaps;
	if (verbose)
		printf("%s: %u rows, ranges %u %u %u %u, unsupported %u, malformed %u, outside %u, "
		       "overlaps %u, %.2f ms\n",
		       path, rows.n, rows.counts.ranges[0], rows.counts.ranges[1],
		       rows.counts.ranges[2], rows.counts.ranges[3], rows.counts.unsupported,
		       rows.counts.malformed, rows.counts.outside, rows.counts.overlaps,
		       (seconds(CLOCK_MONOTONIC) - start) * 1e3);
	unwind_rows_free(&rows);
	return 0;
}

int main(int argc, char **argv)
{
	const char *usual[] = { "/usr/bin", "/usr/sbin", "/usr/lib" };
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
	uint32_t n_rules;

	if (rule_table_new(&rule_table))
		return 1;
	if (argc > 1 && strcmp(argv[1], "-v") == 0) {
		verbose = 1;
		argc--;
		argv++;
	}
	for (int i = 1; i < argc; i++)
		nftw(argv[i], visit, 32, FTW_PHYS);
	for (int i = 0; argc < 2 && i < 3; i++)
		nftw(usual[i], visit, 32, FTW_PHYS);
	rule_table_rules(rule_table, &n_rules);
	printf("files             %lu (%lu without rows, %lu failed)\n", totals.files,
	       totals.no_cfi, totals.failed);
	printf("code ranges       %lu .eh_frame, %lu .debug_frame, %lu Go, %lu by their bytes\n",
	       totals.ranges[UNWIND_EH_FRAME], totals.ranges[UNWIND_DEBUG_FRAME],
	       totals.ranges[UNWIND_GO], totals.ranges[UNWIND_CODE]);
	printf("entries dropped   %lu malformed, %lu for no code; %lu cut\n", totals.malformed,
	       totals.outside, totals.overlaps);
	printf("rows              %lu (%lu unsupported)\n", totals.rows, totals.unsupported);
	printf("bytes             %lu\n",
	       totals.blocks * WIRE_BLOCK_SIZE + n_rules * sizeof(struct wire_rule));
	printf("distinct rules    %u\n", n_rules);
	printf("seconds           %.2f (of CPU: %.2f)\n", seconds(CLOCK_MONOTONIC) - start,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	rule_table_free(rule_table);
	return 0;
}
