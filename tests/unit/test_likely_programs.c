// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs that a command will probably run, by its words: reports like "the functions of my
 * short script are missing when I run it through env".
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/likely_programs.h"

static char folder[64], tool[128], script[128], root[128], search[256];
static struct stat tool_status, root_status;

static void copy_to(const char *path, const char *from)
{
	char bytes[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(out, bytes, (size_t)n), n);
	close(in);
	close(out);
}

static void write_to(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int setup(void **state)
{
	char text[256];

	(void)state;
	strcpy(folder, "/tmp/likely-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(tool, sizeof(tool), "%s/tool", folder);
	snprintf(script, sizeof(script), "%s/script", folder);
	snprintf(root, sizeof(root), "%s/root", folder);
	snprintf(search, sizeof(search), "%s:/nowhere", folder);
	copy_to(tool, "/bin/true");
	snprintf(text, sizeof(text), "#!%s -x\n", tool);
	write_to(script, text, 0755);
	snprintf(text, sizeof(text), "%s/data", folder);
	write_to(text, "some text\n", 0755);
	snprintf(text, sizeof(text), "%s/plain", folder);
	write_to(text, "#!/bin/true\n", 0644); /* not executable */
	mkdir(root, 0755);
	snprintf(text, sizeof(text), "%s/bin", root);
	mkdir(text, 0755);
	snprintf(text, sizeof(text), "%s/bin/other", root);
	copy_to(text, "/bin/true");
	assert_int_equal(stat(tool, &tool_status), 0);
	assert_int_equal(stat(text, &root_status), 0);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

/* What was found: the programs' inodes, and whether their libraries were. */
struct found {
	uint32_t n, with_libraries;
	uint64_t inodes[16];
};

static void note(void *context, const int *fds, uint32_t n)
{
	struct found *found = context;
	struct stat status;

	assert_true(n >= 1 && n <= LIKELY_MAX_FILES);
	assert_int_equal(fstat(fds[0], &status), 0);
	assert_true(found->n < 16);
	found->inodes[found->n++] = status.st_ino;
	found->with_libraries += n > 1;
}

static struct found look_for(const char *const *command, const char *path)
{
	struct found found = { 0 };

	assert_int_equal(likely_programs_each((char *const *)(uintptr_t)command, path, note,
					      &found),
			 0);
	return found;
}

/* The first program found is the file. */
static void finds(const char *const *command, const struct stat *file)
{
	struct found found = look_for(command, search);

	if (!found.n || found.inodes[found.n - 1] != file->st_ino)
		fail_msg("%s %s: %u found", command[0], command[1] ? command[1] : "", found.n);
	if (file != &root_status) /* that has none in its root */
		assert_int_equal(found.with_libraries, found.n);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void words_are_looked_up(void **state)
{
	char line[256];

	(void)state;
	finds(WORDS("env", "-i", "tool", "x.pl"), &tool_status);
	finds(WORDS("sh", "-c", "cd /tmp && A=1 tool 'x.php'; exit"), &tool_status);
	finds(WORDS("nice", tool), &tool_status);
	finds(WORDS(script), &tool_status);
	finds(WORDS("timeout", "5", "script"), &tool_status);
	finds(WORDS("chroot", root, "/bin/other", "x"), &root_status);
	snprintf(line, sizeof(line), "exec %s", tool);
	finds(WORDS("bash", "-c", line), &tool_status);
}

static void others_are_not(void **state)
{
	char many[4096] = "", *at = many;

	(void)state;
	assert_int_equal(look_for(WORDS("make", "-j8", "toolbox"), search).n, 0);
	assert_int_equal(look_for(WORDS("env", "data", "plain", folder), search).n, 0);
	assert_int_equal(look_for(WORDS("env", "tool"), "").n, 0);
	assert_int_equal(look_for(WORDS("env", "tool"), NULL).n, 0);
	/* Only so many words are looked at. */
	for (int i = 0; i < 100; i++)
		at += sprintf(at, "a ");
	strcpy(at, "tool");
	assert_int_equal(look_for(WORDS("sh", "-c", many), search).n, 0);
	memset(many, 'x', 300);
	assert_int_equal(look_for(WORDS("sh", many), search).n, 0);
}

/* Scripts that run each other are followed a few times only. */
static void circles_end(void **state)
{
	char path[160], text[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/circle", folder);
	snprintf(text, sizeof(text), "#!%s %s\n", path, path);
	write_to(path, text, 0755);
	assert_int_equal(look_for(WORDS("env", "circle", "circle"), search).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_looked_up),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(circles_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
