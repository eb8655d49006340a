/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the programs that compare unwinding rows with those of other readers: goes through
 * files, compiles the rows of each, and counts differences.
 */
#ifndef STACKTALLY_TESTS_UNWIND_COMPARISON_H
#define STACKTALLY_TESTS_UNWIND_COMPARISON_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/index.h"
#include "cfi/cfi_machine.h"
#include "cfi/unwind_rows.h"

struct comparison {
	const char *path;
	const struct cfi_machine *machine; /* of the file */
	struct rule_table *rule_table;
	struct unwind_rows rows;
	const struct wire_rule *rules;
	uint64_t files, compared, differences, unsupported;
	uint64_t file_differences;
	uint64_t own_rows; /* rows of the file that the other reader does not have */
	uint64_t file_overruled, overruled;
	bool spoil; /* make one row of every file wrong, to show that the comparison fails then */
};

static struct comparison all;

/* Counts a difference; the first few of a file are shown. */
__attribute__((format(printf, 2, 3))) static void differs(uint64_t address, const char *format, ...)
{
	va_list arguments;

	all.differences++;
	if (all.file_differences++ >= 5)
		return;
	printf("differs: %s: 0x%" PRIx64 ": ", all.path, address);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

static const struct wire_rule *rule_at(uint64_t address)
{
	return &all.rules[unwind_rows_find(&all.rows, (uint32_t)address)];
}

static inline bool is_unsupported(const struct wire_rule *rule)
{
	return rule->cfa == WIRE_CFA_UNSUPPORTED || WIRE_RULE_FP(rule) == WIRE_FP_UNSUPPORTED ||
	       WIRE_RULE_RA(rule) == WIRE_RA_UNSUPPORTED;
}

/*
 * A row for code that the other reader does not cover. Code that is recognized by its bytes has up
 * to three such rows for each range; more rows are differences.
 */
static void only_ours(uint64_t address)
{
	if (++all.own_rows > 3 * (uint64_t)all.rows.counts.ranges[UNWIND_CODE])
		differs(address, "a row of ours that they do not have");
}

/*
 * glibc's __start_context has CFI as if it had been called; the row compiler recognizes it by its
 * bytes as an entry. A file has one at most, compared at both ends; more are differences.
 */
static inline bool is_overruled(const struct wire_rule *rule)
{
	if (WIRE_RULE_RA(rule) != WIRE_RA_ENTRY || all.file_overruled == 2)
		return false;
	all.file_overruled++;
	all.overruled++;
	return true;
}

/* Compares the rows of the file that is open. */
static void compare_file(int fd);

/* Spoils a row of ordinary code: with a deep frame, and of two bytes at least. */
static void make_mistake(void)
{
	uint32_t n = all.rows.n;

	for (uint32_t i = 0; i + 1 < n; i++) {
		struct unwind_row *row = &all.rows.rows[(i + n / 2) % (n - 1)];

		if (all.rules[row->rule].cfa == WIRE_CFA_SP &&
		    all.rules[row->rule].cfa_offset >= 24 && row[1].address - row->address >= 2) {
			row->address++;
			return;
		}
	}
}

/* Files of all machines that are known are compared. */
static int compile_rows(int fd)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	int r = -ENOEXEC;

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]) && r == -ENOEXEC; i++) {
		all.machine = cfi_machine_of(machines[i]);
		r = unwind_rows_compile_machine(fd, machines[i], all.rule_table, &all.rows, NULL);
	}
	return r;
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	uint32_t n_rules;
	int fd;

	(void)walk;
	if (kind != FTW_F || !S_ISREG(status->st_mode) || status->st_size < 64)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!compile_rows(fd)) {
		all.path = path;
		all.file_differences = 0;
		all.own_rows = 0;
		all.file_overruled = 0;
		all.rules = rule_table_rules(all.rule_table, &n_rules);
		if (all.spoil)
			make_mistake();
		if (all.rows.n) {
			all.files++;
			compare_file(fd);
		}
		unwind_rows_free(&all.rows);
	}
	close(fd);
	return 0;
}

/* Compares files, and those in directories. Returns the exit status. */
static int compare_all(char **paths, int n, const char *with)
{
	if (rule_table_new(&all.rule_table))
		return 1;
	all.spoil = n > 0 && strcmp(paths[0], "--spoil") == 0;
	for (int i = all.spoil; i < n; i++)
		nftw(paths[i], visit, 32, FTW_PHYS);
	printf("%" PRIu64 " files, %" PRIu64 " rows compared with %s, %" PRIu64
	       " of them not supported, %" PRIu64 " overruled, %" PRIu64 " differences\n",
	       all.files, all.compared, with, all.unsupported, all.overruled, all.differences);
	rule_table_free(all.rule_table);
	return all.differences || !all.compared;
}

#endif
