/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a report is empty, where a machine would have to be idle. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/message.h"
#include "run/empty.h"

static struct plan plan;
static struct run_request request = { .plan = &plan, .program = "profile" };
static struct run_report report;
static struct tally *tally;

/* What empty_tell() writes on stderr. */
static const char *told(void)
{
	static char text[1024];
	FILE *to = tmpfile();
	int saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_non_null(to);
	assert_true(saved >= 0);
	fflush(stderr);
	assert_true(dup2(fileno(to), STDERR_FILENO) >= 0);
	empty_tell(&report);
	fflush(stderr);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	n = pread(fileno(to), text, sizeof(text) - 1, 0);
	assert_true(n >= 0);
	text[n] = '\0';
	fclose(to);
	return text;
}

static int setup(void **state)
{
	(void)state;
	plan = (struct plan){ 0 };
	assert_int_equal(tally_new(100, 100, &tally), 0);
	report = (struct run_report){
		.request = &request,
		.tally = tally,
		.meta = { .command = "profile",
			  .event = "cpu-clock",
			  .frequency = 49,
			  .duration_ns = 1000000000 },
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tally_free(tally);
	return 0;
}

static void idle_cpus(void **state)
{
	pid_t ids[] = { 3, 5 };

	(void)state;
	assert_string_equal(told(), "the CPUs were idle: -I counts idle CPUs as well, profile "
				    "--off-cpu shows what threads wait for\n");
	plan.filter.cpus.ids = ids;
	plan.filter.cpus.n = 2;
	assert_string_equal(told(), "the CPUs of -C were idle: -I counts idle CPUs as well\n");
	plan.filter.cpus.n = 1;
	assert_string_equal(told(), "CPU 3 was idle: -I counts idle CPUs as well\n");
}

/* Nothing tells that a CPU was idle if no sample of it was due, or by an event that never occurs.
 */
static void not_known_to_be_idle(void **state)
{
	(void)state;
	report.meta.duration_ns = 20000000;
	assert_non_null(strstr(told(), "no sample was due in that time: "));
	report.meta.frequency = 0;
	report.meta.period = 20000001;
	assert_non_null(strstr(told(), "no sample was due in that time: "));
	report.meta.period = 20000000;
	assert_non_null(strstr(told(), "the CPUs were idle: "));
	report.meta.event = "page-faults";
	assert_non_null(strstr(told(), "the event did not occur: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(idle_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(not_known_to_be_idle, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
