// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/tracepoint_frames.h"

/* Each 0x100 bytes long. */
static const char list[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000100 T __schedule\n"
			   "ffffffff81000200 T schedule\n"
			   "ffffffff81000300 t __bpf_trace_sched_switch\n"
			   "ffffffff81000400 T bpf_trace_run4\n"
			   "ffffffff81000500 T __traceiter_sched_switch\n"
			   "ffffffff81000600 t ___bpf_prog_run\n"
			   "ffffffff81000700 t __bpf_prog_run96\n"
			   "ffffffff81000800 T bpf_trace_printk\n"
			   "ffffffff81000900 t perf_syscall_enter\n"
			   "ffffffff81000a00 T end_of_it\n"
			   "ffffffffc0000100 t bpf_prog_0123456789abcdef_on_raw_tracep\t[bpf]\n"
			   "ffffffffc0000200 t bpf_prog_fedcba9876543210_other\t[bpf]\n";

/* Return addresses. After a call that never returns it is the start of the next function. */
enum {
	SCHEDULE_INNER = 0xffffffff81000180,
	SCHEDULE = 0xffffffff81000220,
	TEMPLATE = 0xffffffff81000340,
	TEMPLATE_END = 0xffffffff81000400,
	RUN = 0xffffffff81000480,
	ROUND = 0xffffffff81000510,
	INTERPRETER = 0xffffffff81000620,
	INTERPRETED = 0xffffffff81000730,
	PRINT = 0xffffffff81000850,
	CALLS = 0xffffffff81000910,
	PROGRAM = 0xffffffffc0000150,
	OTHER = 0xffffffffc0000250,
	UNNAMED = 0xffffffffd0000000,
};

static struct kallsyms *read_list(void)
{
	int fd = memfd_create("list", MFD_CLOEXEC);
	struct kallsyms *kallsyms = NULL;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, list, strlen(list)), strlen(list));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(kallsyms_read(fd, -1, &kallsyms), 0);
	close(fd);
	return kallsyms;
}

static bool find(void *kallsyms, uint64_t address, struct kernel_symbol *ret_symbol)
{
	return kallsyms_find(kallsyms, address, ret_symbol);
}

/* Twice: the second time from the cache. */
static uint32_t frames_of(struct kallsyms *kallsyms, bool raw, const uint64_t *frames, uint32_t n)
{
	struct tracepoint_frames *delivery;
	uint32_t first, second;

	assert_int_equal(tracepoint_frames_new(find, kallsyms, raw, &delivery), 0);
	first = tracepoint_frames_count(delivery, frames, n);
	second = tracepoint_frames_count(delivery, frames, n);
	assert_int_equal(first, second);
	tracepoint_frames_free(delivery);
	return first;
}

#define delivery(raw, ...)                                                                         \
	frames_of(kallsyms, raw, (const uint64_t[]){ __VA_ARGS__ },                                \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void of_raw_tracepoints(void **state)
{
	struct kallsyms *kallsyms = read_list();

	(void)state;
	assert_int_equal(delivery(true, PROGRAM, RUN, TEMPLATE, ROUND, SCHEDULE_INNER, SCHEDULE),
			 4);
	assert_int_equal(delivery(true, PROGRAM, RUN, TEMPLATE, SCHEDULE_INNER, SCHEDULE), 3);
	assert_int_equal(delivery(true, PROGRAM, RUN, TEMPLATE_END, SCHEDULE_INNER), 3);
	/* A tail call in place of the call. */
	assert_int_equal(delivery(true, PROGRAM, RUN, SCHEDULE_INNER, SCHEDULE), 2);
	assert_int_equal(delivery(true, PROGRAM, RUN, ROUND, SCHEDULE_INNER), 3);
	/* No other frame remains. */
	assert_int_equal(delivery(true, PROGRAM, RUN, TEMPLATE, ROUND), 4);
	kallsyms_free(kallsyms);
}

static void of_programs_without_a_name(void **state)
{
	struct kallsyms *kallsyms = read_list();

	(void)state;
	assert_int_equal(delivery(true, UNNAMED, RUN, TEMPLATE, SCHEDULE_INNER), 3);
	assert_int_equal(delivery(true, INTERPRETER, INTERPRETED, RUN, TEMPLATE, ROUND,
				  SCHEDULE_INNER),
			 5);
	kallsyms_free(kallsyms);
}

static void of_perf_events(void **state)
{
	struct kallsyms *kallsyms = read_list();

	(void)state;
	assert_int_equal(delivery(false, SCHEDULE_INNER, SCHEDULE), 0);
	assert_int_equal(delivery(false, ROUND, SCHEDULE_INNER), 1);
	assert_int_equal(delivery(false, CALLS, SCHEDULE_INNER), 1);
	assert_int_equal(delivery(false, CALLS, ROUND, SCHEDULE_INNER), 2);
	kallsyms_free(kallsyms);
}

/* Functions that a program calls may have tracepoints, too. */
static void frames_of_the_hit_code_stay(void **state)
{
	struct kallsyms *kallsyms = read_list();

	(void)state;
	assert_int_equal(delivery(true, PROGRAM, RUN, TEMPLATE, PRINT, OTHER, RUN, TEMPLATE, ROUND),
			 3);
	assert_int_equal(delivery(false, PRINT, OTHER, RUN, TEMPLATE, SCHEDULE_INNER), 0);
	assert_int_equal(delivery(true, PROGRAM), 0);
	/* A walk without the caller of the program is left as it is. */
	assert_int_equal(delivery(true, PROGRAM, SCHEDULE_INNER, SCHEDULE), 0);
	assert_int_equal(frames_of(kallsyms, true, NULL, 0), 0);
	assert_int_equal(frames_of(kallsyms, false, NULL, 0), 0);
	kallsyms_free(kallsyms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_raw_tracepoints),
		cmocka_unit_test(of_programs_without_a_name),
		cmocka_unit_test(of_perf_events),
		cmocka_unit_test(frames_of_the_hit_code_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
