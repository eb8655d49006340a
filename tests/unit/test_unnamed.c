// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "view/unnamed.h"

struct data {
	struct tally *tally;
	struct names *names;
};

static int set_up(void **state)
{
	static struct data data;

	*state = &data;
	return tally_new(0, 0, &data.tally) < 0 || names_new(&data.names) < 0;
}

static int tear_down(void **state)
{
	struct data *data = *state;

	tally_free(data->tally);
	names_free(data->names);
	return 0;
}

static uint32_t object(struct data *data, const char *path)
{
	struct names_object object = { .path = names_string(data->names, path) };
	uint32_t id;

	assert_int_equal(names_add_object(data->names, &object, &id), 0);
	return id;
}

/* A user stack of one frame, counted so many times. */
static void add(struct data *data, uint64_t count, uint32_t object, const char *name,
		uint32_t flags)
{
	struct tally_address address = { .address = tally_n_addresses(data->tally), .image = 1 };
	struct names_frame frame = { .name = name ? names_string(data->names, name) : NULL,
				     .object = object,
				     .flags = flags };
	struct tally_entry entry = { .count = count, .tgid = 1, .kernel = TALLY_STACK_NONE };
	uint32_t id;

	assert_int_equal(tally_address(data->tally, &address, &id), 0);
	assert_int_equal(names_add_address(data->names, &frame, 1), 0);
	assert_int_equal(tally_stack(data->tally, &id, 1, 0, &entry.user), 0);
	assert_int_equal(tally_add(data->tally, &entry), 0);
}

static void frames_are_counted_by_file(void **state)
{
	struct data *data = *state;
	uint32_t libc = object(data, "/lib/libc.so.6"), gzip = object(data, "/usr/bin/gzip");
	char line[UNNAMED_LINE_SIZE];
	struct unnamed unnamed;

	object(data, "/unused");
	add(data, 600, libc, "read", 0);
	add(data, 30, libc, "[libc.so.6+0x10]", NAMES_FRAME_IDENTITY);
	add(data, 370, gzip, "[gzip+0x10]", NAMES_FRAME_IDENTITY);
	add(data, 100, NAMES_NONE, NULL, 0);
	/* Not of files, or of the kernel. */
	add(data, 5000, NAMES_NONE, NULL, NAMES_FRAME_JIT);
	add(data, 5000, NAMES_NONE, "[unwind: x]", NAMES_FRAME_UNWIND);
	add(data, 5000, libc, NULL, NAMES_FRAME_KERNEL);
	assert_int_equal(unnamed_count(data->tally, data->names, &unnamed), 0);
	assert_int_equal(unnamed.frames, 1100);
	assert_int_equal(unnamed.unnamed, 500);
	assert_int_equal(unnamed.n, 2);
	assert_int_equal(unnamed.files[0].object, gzip);
	assert_int_equal(unnamed.files[0].unnamed, 370);
	assert_int_equal(unnamed.files[1].object, libc);
	assert_int_equal(unnamed.files[1].frames, 630);
	assert_int_equal(unnamed.files[1].unnamed, 30);
	unnamed_line(&unnamed, data->names, "stackcount", line);
	assert_string_equal(line, "45 % of user frames have no symbol: gzip (74 %), "
				  "libc.so.6 (6 %); stackcount --symbols tells how to get them");
	unnamed_clear(&unnamed);
}

static void few_unnamed_frames_are_not_told(void **state)
{
	struct data *data = *state;
	uint32_t gzip = object(data, "/usr/bin/gzip");
	char line[UNNAMED_LINE_SIZE];
	struct unnamed unnamed;

	add(data, 900, gzip, "deflate", 0);
	add(data, 100, gzip, "[gzip]", NAMES_FRAME_IDENTITY);
	assert_int_equal(unnamed_count(data->tally, data->names, &unnamed), 0);
	unnamed_line(&unnamed, data->names, "profile", line);
	assert_string_equal(line, "");
	unnamed_clear(&unnamed);
	add(data, 20, gzip, "[gzip+0x8]", NAMES_FRAME_IDENTITY);
	assert_int_equal(unnamed_count(data->tally, data->names, &unnamed), 0);
	unnamed_line(&unnamed, data->names, "profile", line);
	assert_non_null(strstr(line, "12 % of user frames"));
	unnamed_clear(&unnamed);
}

/* Then no symbols can be had. */
static void frames_of_no_file_are_not_told(void **state)
{
	struct data *data = *state;
	char line[UNNAMED_LINE_SIZE];
	struct unnamed unnamed;

	add(data, 1000, NAMES_NONE, NULL, 0);
	assert_int_equal(unnamed_count(data->tally, data->names, &unnamed), 0);
	assert_int_equal(unnamed.unnamed, 1000);
	unnamed_line(&unnamed, data->names, "profile", line);
	assert_string_equal(line, "");
	unnamed_clear(&unnamed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frames_are_counted_by_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(few_unnamed_frames_are_not_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_of_no_file_are_not_told, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
