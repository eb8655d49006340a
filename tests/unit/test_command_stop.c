// SPDX-License-Identifier: GPL-2.0-or-later
/* A command stopped at its start: its mappings at each stop, and that it runs on normally. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "built_files.h"
#include "launch/command_stop.h"

/* A child that waits for a byte before it execs `argv`, as launched commands do. */
struct child {
	pid_t pid;
	int go;
};

static struct child start(char *const argv[])
{
	int ends[2];
	struct child child;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		char byte;

		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execv(argv[0], argv);
		_exit(127);
	}
	close(ends[0]);
	child.go = ends[1];
	return child;
}

static void go(struct child *child)
{
	assert_int_equal(write(child->go, "g", 1), 1);
	close(child->go);
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Whether a line of the child's maps contains the text. */
static bool maps(pid_t pid, const char *name)
{
	char path[32], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, name) != NULL;
	fclose(file);
	return found;
}

static void assert_untraced(pid_t pid)
{
	char path[32], line[256];
	int tracer = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "TracerPid: %d", &tracer);
	fclose(file);
	assert_int_equal(tracer, 0);
}

/* Stops the child at its exec; skips the test where ptrace is not allowed. */
static void hold_executed(struct child *child, struct command_stop *ret_stop)
{
	command_stop_begin(child->pid, ret_stop);
	go(child);
	if (!ret_stop->tracing) {
		status_of(child->pid);
		skip();
	}
	assert_true(command_stop_at_exec(ret_stop));
}

#define SHELL "/bin/sh"

static void test_both_stops(void **state)
{
	char *argv[] = { SHELL, "-c", "exit 7", NULL };
	struct child child = start(argv);
	struct command_stop stop;
	int status;

	(void)state;
	hold_executed(&child, &stop);
	/* The program and the dynamic linker are mapped, but no library. */
	assert_true(maps(child.pid, "sh"));
	assert_true(maps(child.pid, "/ld-linux"));
	assert_false(maps(child.pid, "/libc.so"));
	assert_true(command_stop_at_entry(&stop));
	assert_true(maps(child.pid, "/libc.so"));
	command_stop_end(&stop);
	assert_false(stop.tracing);
	status = status_of(child.pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* Released at the first stop, it runs on normally. */
static void test_exec_only(void **state)
{
	char *argv[] = { SHELL, "-c", "kill -STOP $$; exit 3", NULL };
	struct child child = start(argv);
	struct command_stop stop;
	int status;

	(void)state;
	command_stop_begin(child.pid, &stop);
	if (stop.tracing) {
		go(&child);
		assert_true(command_stop_at_exec(&stop));
		command_stop_end(&stop);
	} else {
		go(&child);
	}
	assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
	assert_true(WIFSTOPPED(status));
	assert_untraced(child.pid);
	kill(child.pid, SIGCONT);
	status = status_of(child.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

/* The child's exit status is left to waitpid() of the caller. */
static void test_cannot_execute(void **state)
{
	char *argv[] = { "/nonexistent/program", NULL };
	struct child child = start(argv);
	struct command_stop stop;
	int status;

	(void)state;
	command_stop_begin(child.pid, &stop);
	go(&child);
	assert_false(command_stop_at_exec(&stop));
	assert_false(command_stop_at_entry(&stop));
	command_stop_end(&stop);
	status = status_of(child.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

static void test_killed(void **state)
{
	char *argv[] = { SHELL, "-c", "exit 0", NULL };
	struct child child = start(argv);
	struct command_stop stop;
	int status;

	(void)state;
	command_stop_begin(child.pid, &stop);
	go(&child);
	if (stop.tracing)
		assert_true(command_stop_at_exec(&stop));
	kill(child.pid, SIGKILL);
	assert_false(command_stop_at_entry(&stop));
	command_stop_end(&stop);
	status = status_of(child.pid);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : !stop.tracing);
}

/* A signal before its entry point reaches it. */
static void test_signal_on_the_way(void **state)
{
	char *argv[] = { SHELL, "-c", "exit 0", NULL };
	struct child child = start(argv);
	struct command_stop stop;
	int status;

	(void)state;
	hold_executed(&child, &stop);
	kill(child.pid, SIGTERM);
	assert_false(command_stop_at_entry(&stop));
	command_stop_end(&stop);
	status = status_of(child.pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

/* ---- constructors of libraries, which run before the entry point ---- */

#define CONSTRUCTOR(body)                                                                          \
	"#include <stdlib.h>\n"                                                                    \
	"#include <sys/wait.h>\n"                                                                  \
	"#include <unistd.h>\n"                                                                    \
	"int in_library;\n"                                                                        \
	"__attribute__((constructor)) static void construct(void) {" body "}\n"

static const struct constructor {
	const char *what, *library;
	bool held;
	int code;
} constructors[] = {
	/* The forked child gets to the entry point like its parent. */
	{ "forks",
	  CONSTRUCTOR("int status; pid_t pid = fork(); if (pid > 0) { waitpid(pid, &status, 0); "
		      "in_library = WIFEXITED(status) ? WEXITSTATUS(status) : 99; }"),
	  true, 4 },
	/* So does one that cannot be traced: 0x800000 is CLONE_UNTRACED. */
	{ "makes a task that cannot be traced",
	  "#include <sys/syscall.h>\n" CONSTRUCTOR(
		  "int status; long pid = syscall(SYS_clone, 0x800000 | 17, 0, 0, 0, 0); "
		  "if (pid > 0) { waitpid(pid, &status, 0); "
		  "in_library = WIFEXITED(status) ? WEXITSTATUS(status) : 99; }"),
	  true, 4 },
	{ "forks without copying",
	  CONSTRUCTOR("int status; pid_t pid = vfork(); if (pid == 0) _exit(5); "
		      "waitpid(pid, &status, 0); in_library = WEXITSTATUS(status);"),
	  true, 7 },
	{ "makes a thread",
	  "#include <pthread.h>\n"
	  "int in_library;\n"
	  "static pthread_t thread;\n"
	  "static void *run(void *unused) { in_library = 1; return unused; }\n"
	  "__attribute__((constructor)) static void construct(void) {\n"
	  "	pthread_create(&thread, 0, run, 0); pthread_join(thread, 0); }\n",
	  true, 3 },
	{ "executes its program again",
	  CONSTRUCTOR("in_library = 1; if (!getenv(\"AGAIN\")) { putenv(\"AGAIN=1\"); "
		      "execl(\"./program\", \"program\", (char *)0); }"),
	  true, 3 },
	{ "ends the program", CONSTRUCTOR("_exit(9);"), false, 9 },
	{ "takes too long", CONSTRUCTOR("usleep(1000000); in_library = 6;"), false, 8 },
};

static void test_constructors(void **state)
{
	char *argv[] = { "./program", NULL };

	(void)state;
	built_write("program.c",
		    "extern int in_library; int main(void) { return in_library + 2; }\n");
	assert_int_equal(chdir(built_directory), 0);
	for (size_t i = 0; i < sizeof(constructors) / sizeof(*constructors); i++) {
		const struct constructor *constructor = &constructors[i];
		struct child child;
		struct command_stop stop;
		int status;

		built_write("library.c", constructor->library);
		assert_true(built_run("cc -shared -fPIC -o library.so library.c -lpthread && "
				      "cc -o program program.c ./library.so"));
		child = start(argv);
		hold_executed(&child, &stop);
		assert_false(maps(child.pid, "/library.so"));
		if (command_stop_at_entry(&stop) != constructor->held)
			fail_msg("which %s: held or not", constructor->what);
		if (constructor->held)
			assert_true(maps(child.pid, "/library.so"));
		command_stop_end(&stop);
		status = status_of(child.pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != constructor->code)
			fail_msg("which %s: %x", constructor->what, (unsigned)status);
	}
	assert_int_equal(chdir("/"), 0);
}

/* The first instruction is restored and executed. */
static void test_static_program(void **state)
{
	char *argv[] = { "./static", NULL };
	struct child child;
	struct command_stop stop;
	int status;

	(void)state;
	built_write("static.c", "__asm__(\".globl _start\\n_start: .byte 0x6a, 12\\n" /* push 12 */
				"pop %rdi; mov $60, %eax; cmpb $0x6a, _start(%rip); jne 1f\\n"
				"syscall; 1: ud2\");\n");
	assert_true(built_run("cc -nostdlib -static -o static static.c"));
	assert_int_equal(chdir(built_directory), 0);
	child = start(argv);
	command_stop_begin(child.pid, &stop);
	go(&child);
	if (stop.tracing) {
		assert_true(command_stop_at_exec(&stop));
		assert_true(command_stop_at_entry(&stop));
		command_stop_end(&stop);
	}
	status = status_of(child.pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 12);
	assert_int_equal(chdir("/"), 0);
}

/* Not allowed: a process that is traced already, and one that is not our child. */
static void test_not_allowed(void **state)
{
	struct command_stop stop;

	(void)state;
	command_stop_begin(getpid(), &stop);
	assert_false(stop.tracing);
	assert_false(command_stop_at_exec(&stop));
	assert_false(command_stop_at_entry(&stop));
	command_stop_end(&stop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_stops),	  cmocka_unit_test(test_exec_only),
		cmocka_unit_test(test_cannot_execute),	  cmocka_unit_test(test_killed),
		cmocka_unit_test(test_signal_on_the_way), cmocka_unit_test(test_constructors),
		cmocka_unit_test(test_static_program),	  cmocka_unit_test(test_not_allowed),
	};

	return cmocka_run_group_tests(tests, built_setup, built_teardown);
}
