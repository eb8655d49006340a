// SPDX-License-Identifier: GPL-2.0-or-later
/* The languages of programs that run, by the names of their files. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpreters/interpreters.h"

/* Runs `sleep` by a file of that name; returns its process. */
static pid_t run_as(const char *directory, const char *name)
{
	char path[200], command[500];
	pid_t child;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(command, sizeof(command), "cp \"$(command -v sleep)\" %s", path);
	assert_int_equal(system(command), 0);
	child = fork();
	if (child == 0) {
		execl(path, "sleep", "100", NULL);
		_exit(127);
	}
	assert_true(child > 0);
	return child;
}

/* Whether all of the languages are soon among them. */
static bool become(uint32_t languages)
{
	for (int i = 0; i < 200; i++) {
		if ((interpreters_running() & languages) == languages)
			return true;
		usleep(10000);
	}
	return false;
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t language;
	} programs[] = {
		{ "ruby3.9", LANGUAGE_RUBY },	 { "php9.1", LANGUAGE_PHP },
		{ "perl", LANGUAGE_PERL },	 { "python3", LANGUAGE_PYTHON },
		{ "node", LANGUAGE_JAVASCRIPT }, { "java", LANGUAGE_JAVA },
	};
	enum { N = sizeof(programs) / sizeof(programs[0]) };
	char directory[] = "/tmp/test_running.XXXXXX", command[100];
	uint32_t all = 0;
	pid_t pids[N];

	(void)state;
	assert_non_null(mkdtemp(directory));
	for (size_t i = 0; i < N; i++) {
		pids[i] = run_as(directory, programs[i].name);
		all |= 1u << programs[i].language;
	}
	assert_true(become(all));
	for (size_t i = 0; i < N; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	assert_int_equal(interpreters_running() >> LANGUAGE_NONE & 1, 0);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
