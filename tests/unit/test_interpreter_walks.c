// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walks of interpreters' frames, on recorded memory of processes (tests/walks/record): reports
 * like "after the update my interpreter's functions are gone, or another's". Needs neither root nor
 * an interpreter.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/walks/in_memory/interpreter.h"

#define FOLDER "tests/recordings/interpreters"

struct range {
	uint64_t address, size;
	char *bytes;
};

struct recorded {
	struct interpreter_start start;
	struct range ranges[8192];
	uint32_t n, reads, fails_at;
};

static int read_recorded(void *data, void *to, size_t size, uint64_t address)
{
	struct recorded *is = data;

	if (++is->reads == is->fails_at)
		return -1;
	for (uint32_t i = 0; i < is->n; i++) {
		const struct range *range = &is->ranges[i];

		if (address >= range->address && size <= range->size &&
		    address - range->address <= range->size - size) {
			memcpy(to, range->bytes + (address - range->address), size);
			return 0;
		}
	}
	return -1;
}

static void load(const char *path, struct recorded *ret)
{
	FILE *file = fopen(path, "r");
	uint64_t range[2];

	assert_non_null(file);
	assert_int_equal(interpreter_start_read(file, &ret->start), 0);
	while (ret->n < 8192 && fread(range, sizeof(range), 1, file) == 1) {
		struct range *it = &ret->ranges[ret->n++];

		assert_true(range[1] < 65536);
		*it = (struct range){ range[0], range[1], malloc(range[1] + 1) };
		assert_non_null(it->bytes);
		assert_int_equal(fread(it->bytes, 1, it->size, file), it->size);
	}
	assert_true(ret->n > 0);
	fclose(file);
}

static void clear(struct recorded *recorded)
{
	for (uint32_t i = 0; i < recorded->n; i++)
		free(recorded->ranges[i].bytes);
}

static uint32_t walk(struct recorded *recorded, char *text, size_t size)
{
	struct interpreter_memory memory = { read_recorded, recorded };

	recorded->reads = 0;
	return interpreter_runs(&recorded->start, &memory, text, size);
}

/* The recording, and what its script has seen in the program. */
static void each(void (*check)(struct recorded *recorded, const char *name, const char *runs))
{
	static char runs[65536];
	DIR *folder = opendir(FOLDER);
	const struct dirent *entry;
	uint32_t n = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		struct recorded *recorded = calloc(1, sizeof(*recorded));
		char path[512], *end = strstr(entry->d_name, ".memory");
		size_t size;
		FILE *file;

		assert_non_null(recorded);
		if (end) {
			snprintf(path, sizeof(path), FOLDER "/%s", entry->d_name);
			load(path, recorded);
			memcpy(strstr(path, ".memory"), ".runs", 6);
			file = fopen(path, "r");
			assert_non_null(file);
			size = fread(runs, 1, sizeof(runs) - 1, file);
			runs[size] = '\0';
			fclose(file);
			check(recorded, entry->d_name, runs);
			clear(recorded);
			n++;
		}
		free(recorded);
	}
	closedir(folder);
	assert_true(n >= 4);
}

static void same_runs(struct recorded *recorded, const char *name, const char *runs)
{
	static char text[65536];

	walk(recorded, text, sizeof(text));
	if (strcmp(text, runs) != 0)
		fail_msg("%s: %s\nnot\n%s", name, text, runs);
}

static void functions_are_those_of_the_program(void **state)
{
	(void)state;
	each(same_runs);
}

/* A function whose file could not be read may be any of that name. */
static bool is_of(const char *runs, char *function)
{
	size_t size = strlen(function);

	if (size > 2 && strcmp(function + size - 2, "()") == 0)
		function[size - 1] = '\0';
	return strstr(runs, function) != NULL;
}

/*
 * Each read fails once: then a function, its file or a run may be missing, but none is another's.
 */
static void each_read_fails(struct recorded *recorded, const char *name, const char *runs)
{
	static char text[65536];
	uint32_t n;

	walk(recorded, text, sizeof(text));
	n = recorded->reads;
	assert_true(n > 3);
	for (recorded->fails_at = 1; recorded->fails_at <= n; recorded->fails_at++) {
		walk(recorded, text, sizeof(text));
		for (char *rest = text, *function; (function = strtok_r(rest, ";\n", &rest));)
			if (function[0] != '[' && !is_of(runs, function))
				fail_msg("%s, read %u fails: %s", name, recorded->fails_at,
					 function);
	}
	recorded->fails_at = 0;
}

static void failing_reads_make_no_other_functions(void **state)
{
	(void)state;
	each(each_read_fails);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_those_of_the_program),
		cmocka_unit_test(failing_reads_make_no_other_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
