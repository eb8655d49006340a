/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real ELF files for tests: built by the compiler of this machine in a directory of the test's
 * own, which is removed at the end.
 */
#ifndef STACKTALLY_TESTS_BUILT_FILES_H
#define STACKTALLY_TESTS_BUILT_FILES_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/symbol_query.h"

static char built_directory[64];

static int built_setup(void **state)
{
	(void)state;
	strcpy(built_directory, "/tmp/stacktally-unit-XXXXXX");
	return mkdtemp(built_directory) ? 0 : -1;
}

/* Runs a shell command in the directory; true when it succeeded. */
__attribute__((format(printf, 1, 2))) static bool built_run(const char *format, ...)
{
	char command[4096], whole[4400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	snprintf(whole, sizeof(whole), "cd %s && { %s; } >>log 2>&1", built_directory, command);
	return system(whole) == 0;
}

static int built_teardown(void **state)
{
	(void)state;
	return built_run("cd / && rm -rf %s", built_directory) ? 0 : -1;
}

static void built_write(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", built_directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Functions of all kinds; main comes last. */
__attribute__((unused)) static const char built_source[] =
	"int puts(const char *);\n"
	"__attribute__((noinline)) int outer(int x) { return puts(\"a\") + x; }\n"
	"__attribute__((noinline)) static int local_one(int x) { return outer(x) * 3; }\n"
	"__attribute__((noinline)) int __libc_thing(int x) { return local_one(x) + 1; }\n"
	"int thing(int) __attribute__((alias(\"__libc_thing\")));\n"
	"int __thing(int) __attribute__((alias(\"__libc_thing\"), weak));\n"
	"static int __local_thing(int) __attribute__((alias(\"__libc_thing\"), used));\n"
	"int thing64(int) __attribute__((alias(\"__libc_thing\"), weak));\n"
	"static int plain(int x) { return x; }\n"
	"static int (*choose(void))(int) { return plain; }\n"
	"int chosen(int) __attribute__((ifunc(\"choose\")));\n"
	"__asm__(\".text\\n.p2align 6\\n.globl unsized_label\\nunsized_label: nop; nop; nop; "
	"ret\\n\"\n"
	"\".p2align 6\\n.type sized, @function\\nsized: nop; nop; inside: nop; ret\\n\"\n"
	"\".size sized, . - sized\\n.p2align 6\\n\");\n"
	"int main(void) { return thing(1) + chosen(2); }\n";

__attribute__((unused)) static int built_open(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", built_directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* The whole file, to be freed. */
__attribute__((unused)) static uint8_t *built_read(const char *name, size_t *ret_size)
{
	int fd = built_open(name);
	struct stat status;
	uint8_t *bytes;

	assert_int_equal(fstat(fd, &status), 0);
	bytes = malloc((size_t)status.st_size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	*ret_size = (size_t)status.st_size;
	return bytes;
}

/* A symbol's value according to readelf, from the first table that has it. */
__attribute__((unused)) static uint64_t built_value(const char *name, const char *symbol,
						    uint64_t *ret_size)
{
	char command[512];
	unsigned long long value = 0, size = 0;
	FILE *output;

	snprintf(command, sizeof(command),
		 "readelf -sW %s/%s | awk '{ sub(/@.*/, \"\", $8) } $8 == \"%s\" { print $2, $3; "
		 "exit }'",
		 built_directory, name, symbol);
	output = popen(command, "re");
	assert_non_null(output);
	if (fscanf(output, "%llx %lli", &value, (long long *)&size) != 2)
		value = 0;
	assert_int_equal(pclose(output), 0);
	if (ret_size)
		*ret_size = size;
	return value;
}

#endif
