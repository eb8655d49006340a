// SPDX-License-Identifier: GPL-2.0-or-later
/* Ranges of seconds as files: the counts in them, and failures. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/save.h"
#include "live_data.h"
#include "recording/recording.h"
#include "report/report.h"
#include "report/writer.h"

#define MS 1000000ull /* in ns */

struct fixture {
	struct tally *tally;
	struct delta_tracker tracker;
	struct model model;
	size_t written; /* by write_too_much() */
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct model_source source = {
		.resolve = data_resolve,
		.context = fixture,
		.report = { .per_process = true },
		.meta = { .command = "profile", .event = "cpu-clock", .start_time_ns = 5000 * MS },
	};

	if (!fixture)
		return -1;
	fixture->tally = data_tally();
	*state = fixture;
	return model_make(&fixture->model, &source, NULL);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	model_clear(&fixture->model);
	delta_tracker_clear(&fixture->tracker);
	tally_free(fixture->tally);
	free(fixture);
	return 0;
}

static void end_second(struct fixture *fixture, uint64_t at_ms)
{
	struct delta *delta = NULL;

	assert_int_equal(delta_take(&fixture->tracker, fixture->tally, at_ms * MS, NULL, NULL,
				    &delta),
			 0);
	assert_int_equal(model_apply(&fixture->model, delta), 0);
	delta_free(delta);
}

/* Three seconds: 1, 10 and 100 samples of a;b, and in the last two 5 and 7 of a;c;k. */
static void measure(struct fixture *fixture)
{
	data_count(fixture->tally, 1, 9, "ab", "");
	end_second(fixture, 1000);
	data_count(fixture->tally, 10, 9, "ab", "");
	data_count(fixture->tally, 5, 9, "ac", "k");
	tally_losses(fixture->tally)->lost_ring = 3;
	end_second(fixture, 2500);
	data_count(fixture->tally, 100, 9, "ab", "");
	data_count(fixture->tally, 7, 9, "ac", "k");
	end_second(fixture, 3500);
}

static void expect_folded(struct fixture *fixture, uint64_t from, uint64_t to, const char *lines)
{
	struct buffer *buffer = NULL;

	assert_int_equal(save_range(&fixture->model, writer_by_name("folded"), from, to, &buffer),
			 0);
	assert_int_equal(buffer->size, strlen(lines));
	assert_memory_equal(buffer->bytes, lines, buffer->size);
	buffer_unref(buffer);
}

static void a_range_has_the_counts_of_its_seconds(void **state)
{
	struct fixture *fixture = *state;

	measure(fixture);
	expect_folded(fixture, 0, UINT64_MAX, "sh;a;c;k 12\nsh;a;b 111\n");
	expect_folded(fixture, 1, 1, "sh;a;b 1\n");
	expect_folded(fixture, 1, 2, "sh;a;c;k 5\nsh;a;b 11\n");
	expect_folded(fixture, 2, 2, "sh;a;c;k 5\nsh;a;b 10\n");
	expect_folded(fixture, 3, UINT64_MAX, "sh;a;c;k 7\nsh;a;b 100\n");
	/* These seconds are still to come. */
	expect_folded(fixture, 4, 9, "");
}

static struct recording *load(const struct buffer *buffer)
{
	struct recording *recording = NULL;
	struct error err = { 0 };
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, buffer->bytes, buffer->size), buffer->size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(recording_load(fd, "saved", &recording, &err), 0);
	close(fd);
	return recording;
}

static void a_recording_can_be_loaded(void **state)
{
	struct fixture *fixture = *state;
	struct recording *recording;
	struct buffer *buffer = NULL;

	measure(fixture);
	assert_int_equal(save_range(&fixture->model, writer_by_name("recording"), 0, UINT64_MAX,
				    &buffer),
			 0);
	recording = load(buffer);
	buffer_unref(buffer);
	assert_int_equal(recording->meta.start_time_ns, 5000 * MS);
	assert_int_equal(recording->meta.duration_ns, 3500 * MS);
	assert_int_equal(tally_total(recording->tally), 123);
	assert_int_equal(tally_losses_of(recording->tally)->lost_ring, 3);
	recording_free(recording);

	assert_int_equal(save_range(&fixture->model, writer_by_name("recording"), 2, 3, &buffer),
			 0);
	recording = load(buffer);
	buffer_unref(buffer);
	assert_int_equal(recording->meta.start_time_ns, 6000 * MS);
	assert_int_equal(recording->meta.duration_ns, 2500 * MS);
	assert_int_equal(tally_total(recording->tally), 122);
	assert_int_equal(tally_losses_of(recording->tally)->lost_ring, 3);
	assert_int_equal(tally_losses_of(recording->tally)->events, 122);
	recording_free(recording);

	assert_int_equal(save_range(&fixture->model, writer_by_name("recording"), 3, 3, &buffer),
			 0);
	recording = load(buffer);
	buffer_unref(buffer);
	assert_int_equal(tally_losses_of(recording->tally)->lost_ring, 0);
	recording_free(recording);
}

/* Only the text format begins with the title. */
static void a_text_has_its_title(void **state)
{
	struct fixture *fixture = *state;
	struct buffer *buffer = NULL;

	fixture->model.source.meta.title = "A title.";
	measure(fixture);
	assert_int_equal(save_range(&fixture->model, writer_by_name("text"), 1, 3, &buffer), 0);
	assert_memory_equal(buffer->bytes, "A title.\n\n", 10);
	buffer_unref(buffer);
	expect_folded(fixture, 1, 1, "sh;a;b 1\n");
}

/* ---- failures */

/* The test passes its fixture as the title. */
static int write_too_much(const struct report *report, FILE *out, struct error *err)
{
	static const char block[1 << 16];
	struct fixture *fixture = (struct fixture *)report->measurement.meta->title;

	(void)err;
	while (fwrite(block, 1, sizeof(block), out) == sizeof(block))
		fixture->written += sizeof(block);
	return 0;
}

static void a_file_that_is_too_large_is_given_up(void **state)
{
	static const struct writer too_much = { .name = "too much", .write = write_too_much };
	struct fixture *fixture = *state;
	struct buffer *buffer = NULL;

	measure(fixture);
	fixture->model.source.meta.title = (const char *)fixture;
	assert_int_equal(save_range(&fixture->model, &too_much, 1, 2, &buffer), -EFBIG);
	assert_null(buffer);
	assert_in_range(fixture->written, SAVE_MAX_SIZE - (1 << 17), SAVE_MAX_SIZE);
}

static int write_a_part(const struct report *report, FILE *out, struct error *err)
{
	(void)report;
	fputs("a part", out);
	return error_set(err, -EIO, "cannot");
}

static void errors_of_writers_are_returned(void **state)
{
	static const struct writer failing = { .name = "failing", .write = write_a_part };
	struct fixture *fixture = *state;
	struct buffer *buffer = NULL;

	measure(fixture);
	assert_int_equal(save_range(&fixture->model, &failing, 0, UINT64_MAX, &buffer), -EIO);
	assert_null(buffer);
	/* The next save works again. */
	expect_folded(fixture, 1, 1, "sh;a;b 1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_range_has_the_counts_of_its_seconds),
		TEST(a_recording_can_be_loaded),
		TEST(a_text_has_its_title),
		TEST(a_file_that_is_too_large_is_given_up),
		TEST(errors_of_writers_are_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
