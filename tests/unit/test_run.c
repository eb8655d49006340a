// SPDX-License-Identifier: GPL-2.0-or-later
/* A run from plan to outputs, with a kernel side that is none. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fake_loader.h"

#include "base/clock.h"
#include "cli/message.h"
#include "run/run.h"

/* So long a test waits for what takes no time. */
#define SECONDS 0.01

struct fixture {
	char directory[32], path[48];
	struct plan_output output;
	struct plan plan;
	struct fake_trigger trigger;
	struct run_request request;
};

static void title(const void *options, uint32_t n, char *ret_title, size_t size)
{
	(void)options;
	snprintf(ret_title, size, "Of %u fakes.", n);
}

/* Events that come when the trigger is attached. */
static struct {
	uint32_t events, counts;
	bool strange;
} coming;

static void attached(const struct trigger *trigger)
{
	const struct fake_record record = fake_record(WIRE_N_KINDS, 0);

	assert_int_equal(trigger->ops->n_attached(trigger), 1);
	fake_events(coming.events);
	if (coming.counts)
		fake_counts(coming.counts);
	if (coming.strange)
		made_ring_put(&kernel.ring, &record, sizeof(record));
}

static void setup(struct fixture *f, const struct plan *plan, const char *name)
{
	*f = (struct fixture){ .directory = "/tmp/run.XXXXXX", .plan = *plan };
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/%s", f->directory, name);
	f->output = (struct plan_output){ .path = f->path };
	f->plan.outputs = &f->output;
	f->plan.n_outputs = 1;
	f->plan.kernel = true;
	f->plan.kernel_depth = 20;
	f->plan.unwind = PLAN_UNWIND_NONE;
	f->trigger.trigger = (struct trigger){ .ops = &fake_trigger_ops, .event = "fake" };
	f->request = (struct run_request){ .program = "test_run",
					   .began = monotonic_ns(),
					   .plan = &f->plan,
					   .meta = { .command = "profile", .kernel = true },
					   .title = title,
					   .attached = attached };
}

/* What run() returns. */
static int run_it(struct fixture *f)
{
	int status = run(&f->request, &f->trigger.trigger);

	assert_false(kernel.open);
	assert_false(kernel.armed);
	assert_int_equal(f->trigger.stopped, f->trigger.attached);
	assert_int_equal(f->trigger.freed, 1);
	return status;
}

static void teardown(struct fixture *f)
{
	unlink(f->path);
	assert_int_equal(rmdir(f->directory), 0);
	memset(&kernel, 0, sizeof(kernel));
	memset(&coming, 0, sizeof(coming));
}

/* The sum of the counts of folded text, line after line; -1: there is no such file. */
static long folded_sum(const struct fixture *f)
{
	FILE *file = fopen(f->path, "re");
	char line[4096];
	long sum = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '\n')
			continue; /* between the reports of two intervals */
		assert_int_equal(strncmp(line, "fake;", 5), 0);
		sum += atol(strrchr(line, ' ') + 1);
	}
	fclose(file);
	return sum;
}

static void a_report_has_all_events(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, &(struct plan){ .duration = SECONDS }, "out.folded");
	coming.events = 42;
	coming.counts = 1000;
	kernel.late = 5;
	assert_int_equal(run_it(&f), EXIT_CLASS_OK);
	assert_int_equal(folded_sum(&f), 1047);
	teardown(&f);
}

static void an_interval_has_a_report_and_begins_anew(void **state)
{
	char *const waits[] = { "sleep", "0.3", NULL };
	struct fixture f;
	long sum;

	(void)state;
	setup(&f, &(struct plan){ .interval = 0.1, .command = waits }, "out.folded");
	coming.events = 10;
	assert_int_equal(run_it(&f), EXIT_CLASS_OK);
	/* Later intervals add nothing to what the first one had. */
	sum = folded_sum(&f);
	assert_int_equal(sum, 10);
	teardown(&f);
}

static void the_status_of_a_command_is_passed_on(void **state)
{
	char *const exits[] = { "sh", "-c", "exit 7", NULL };
	struct fixture f;

	(void)state;
	setup(&f, &(struct plan){ .command = exits }, "out.folded");
	coming.events = 3;
	assert_int_equal(run_it(&f), 7);
	assert_int_equal(folded_sum(&f), 3);
	teardown(&f);
}

/* An output is complete or not there. */
static void a_failure_leaves_no_output(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, &(struct plan){ .duration = 1000 }, "out.folded");
	coming.events = 3;
	coming.strange = true;
	assert_int_equal(run_it(&f), EXIT_CLASS_RUNTIME);
	assert_int_equal(folded_sum(&f), -1);
	teardown(&f);
	setup(&f, &(struct plan){ .duration = 1000 }, "out.folded");
	kernel.load_fails = -ENOMEM;
	assert_int_equal(run_it(&f), EXIT_CLASS_RUNTIME);
	assert_int_equal(folded_sum(&f), -1);
	teardown(&f);
}

static void an_output_that_cannot_be_written_stops_it_at_the_start(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, &(struct plan){ .duration = 1000 }, "none/out.folded");
	assert_int_not_equal(run_it(&f), EXIT_CLASS_OK);
	assert_int_equal(f.trigger.attached, 0);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_has_all_events),
		cmocka_unit_test(an_interval_has_a_report_and_begins_anew),
		cmocka_unit_test(the_status_of_a_command_is_passed_on),
		cmocka_unit_test(a_failure_leaves_no_output),
		cmocka_unit_test(an_output_that_cannot_be_written_stops_it_at_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
