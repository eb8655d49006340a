// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/module_lines.h"

static int take(void *context, const struct module_line *line)
{
	char *all = context;

	sprintf(all + strlen(all), "%s %lx-%lx%s;", line->name, (unsigned long)line->start,
		(unsigned long)line->end, line->live ? " live" : "");
	return strcmp(line->name, "stop") == 0 ? 7 : 0;
}

/* The lines of a text that reach the callback, and the result. */
static int read_text(const char *text, char all[400])
{
	int fd = memfd_create("modules", MFD_CLOEXEC), r;

	all[0] = '\0';
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = module_lines_read(fd, take, all);
	close(fd);
	return r;
}

static void modules_have_their_parts(void **state)
{
	char all[400];

	(void)state;
	assert_int_equal(read_text("ext4 4096 1 - Live 0xffffffffc0100000\n"
				   "loop 40960 2 ext4,jbd2, Live 0xffffffffc0000000 (OE)\n"
				   "going 4096 0 - Unloading 0xffffffffc0200000\n"
				   "coming 8192 0 - Loading 0xffffffffc0300000\n",
				   all),
			 0);
	assert_string_equal(all, "ext4 ffffffffc0100000-ffffffffc0101000 live;"
				 "loop ffffffffc0000000-ffffffffc000a000 live;"
				 "going ffffffffc0200000-ffffffffc0201000;"
				 "coming ffffffffc0300000-ffffffffc0302000;");
}

static void other_lines_are_skipped(void **state)
{
	char all[400];

	(void)state;
	assert_int_equal(read_text("\njunk\nhidden 4096 1 - Live 0x0000000000000000\n"
				   "short 4096 1 -\nno_address 4096 1 - Live\n"
				   "decimal 4096 1 - Live 12345\nstop 16 1 - Live 0x10\n"
				   "after 16 1 - Live 0x20\n",
				   all),
			 7);
	assert_string_equal(all, "stop 10-20 live;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_their_parts),
		cmocka_unit_test(other_lines_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
