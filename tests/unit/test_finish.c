// SPDX-License-Identifier: GPL-2.0-or-later
/* The finisher, over a copy of this program's own stack; compared with libgcc's backtrace(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>

#include "process/images.h"
#include "tests/walks/in_memory/memory_maps.h"
#include "unwind/finish.h"
#include "unwind/unwind.h"

#define SECOND_NS  1000000000ull
#define DEPTH	   12
#define MAX_FRAMES 64

static struct images *images;
static struct unwind *unwind;
static struct layout *layout;

static struct wire_rest rest;
static unsigned char stack[WIRE_REST_MAX];
static void *traced[MAX_FRAMES], **expected; /* the callers of take() */
static int n_expected;

/* Reads the frames of all callers, which a sanitizer would report. */
__attribute__((no_sanitize_address)) static void copy_stack(const volatile unsigned char *from,
							    uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		stack[i] = from[i];
	rest.size = size;
}

/* Takes the registers of this instruction, as an interrupt would find them. */
static __attribute__((noinline)) void take(uint32_t size)
{
	static const int numbers[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15 };
	static ucontext_t context;
	uintptr_t sp, end;

	assert_int_equal(getcontext(&context), 0);
	rest.walk = (struct unwind_walk){ .known = UNWIND_ALL_KNOWN,
					  .exact = 1,
					  .tgid = (uint32_t)getpid(),
					  .pc = (uint64_t)context.uc_mcontext.gregs[REG_RIP] };
	for (uint32_t i = 0; i < 16; i++)
		rest.walk.registers[i] = (uint64_t)context.uc_mcontext.gregs[numbers[i]];
	sp = (uintptr_t)rest.walk.registers[UNWIND_SP];
	/* The program's name is at the end of the stack. */
	end = (uintptr_t)getauxval(AT_EXECFN);
	copy_stack((const unsigned char *)sp, size < end - sp ? size : (uint32_t)(end - sp));
	n_expected = backtrace(traced, MAX_FRAMES);
	/* Skip this function and the frames that a sanitizer adds around backtrace(). */
	for (expected = traced; n_expected > 0 && *expected != __builtin_return_address(0);
	     expected++)
		n_expected--;
}

static __attribute__((noinline)) int descend(int n, uint32_t size)
{
	if (n == 0)
		take(size);
	else
		descend(n - 1, size);
	/* So that the call above is no tail call. */
	__asm__ volatile("" ::: "memory");
	return n;
}

static int setup(void **state)
{
	struct unwind_maps *maps;
	uint32_t image;

	(void)state;
	assert_int_equal(memory_maps_new(&maps), 0);
	assert_int_equal(images_new(NULL, &images), 0);
	assert_int_equal(unwind_new(images, maps, NULL, &unwind, NULL), 0);
	assert_int_equal(images_at(images, getpid(), 0, UINT64_MAX, &image), 0);
	assert_int_equal(unwind_hold_layout(unwind, image, &layout), 0);
	assert_int_equal(unwind_wait(unwind, 60 * SECOND_NS, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unwind_release_layout(unwind, layout);
	unwind_free(unwind);
	images_free(images);
	return 0;
}

static struct finished_walk finish(uint64_t *frames, uint32_t capacity)
{
	return finish_walk(unwind, layout, &rest, NULL, stack, frames, capacity);
}

/* The walk's frames equal the first ones that libgcc finds. */
static void assert_callers(const uint64_t *frames, uint32_t n)
{
	assert_true(n <= (uint32_t)n_expected);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(frames[i] & WIRE_FRAME_ADDRESS, (uintptr_t)expected[i]);
}

static void test_whole(void **state)
{
	uint64_t frames[MAX_FRAMES];
	struct finished_walk finished;

	(void)state;
	descend(DEPTH, (uint32_t)sizeof(stack) / 2);
	finished = finish(frames, MAX_FRAMES);
	if (finished.end == WIRE_END_READ)
		skip(); /* frames so large that the copy does not reach main()'s callers */
	assert_true(finished.end == WIRE_END_COMPLETE || finished.end == WIRE_END_ENTRY);
	assert_true(finished.n > DEPTH + 3);
	assert_callers(frames, finished.n);
	assert_int_equal(finished.n, n_expected);
}

/* A run whose anchor is in the current frame's part of the stack. */
static void test_run(void **state)
{
	uint64_t frames[1 + MAX_FRAMES] = { 1 };
	struct finished_walk finished;

	(void)state;
	descend(DEPTH, (uint32_t)sizeof(stack) / 2);
	const uint64_t sp = rest.walk.registers[UNWIND_SP];
	const uint64_t replaces[] = { sp, 2, 21, 22 }, stays[] = { sp, 2 | WIRE_RUN_KEEP, 21, 22 };
	const uint64_t below[] = { sp - 8, 2, 21, 22 }, too_long[] = { sp, 3, 21, 22 };

	rest.runs = 4;
	finished = finish_walk(unwind, layout, &rest, replaces, stack, frames + 1, MAX_FRAMES);
	assert_true(frames[0] == 21 && frames[1] == 22);
	assert_true(finished.n > DEPTH + 4);
	assert_callers(frames + 2, finished.n - 1);
	frames[0] = 1;
	finished = finish_walk(unwind, layout, &rest, stays, stack, frames + 1, MAX_FRAMES);
	assert_true(frames[0] == 21 && frames[1] == 22 && frames[2] == 1);
	assert_callers(frames + 3, finished.n - 2);
	frames[0] = 1;
	frames[2] = 42;
	finished = finish_walk(unwind, layout, &rest, stays, stack, frames + 1, 1);
	assert_true(frames[0] == 21 && frames[1] == 22 && frames[2] == 42);
	assert_int_equal(finished.n, 1);
	assert_int_equal(finished.end, WIRE_END_DEPTH);
	frames[0] = 1;
	finished = finish_walk(unwind, layout, &rest, below, stack, frames + 1, MAX_FRAMES);
	assert_int_equal(frames[0], 1);
	assert_callers(frames + 1, finished.n);
	finished = finish_walk(unwind, layout, &rest, too_long, stack, frames + 1, MAX_FRAMES);
	assert_int_equal(frames[0], 1);
	assert_callers(frames + 1, finished.n);
	rest.runs = 0;
}

/* Runs of two interpreters: each has a list, from the innermost one on. */
static void test_runs_of_several(void **state)
{
	uint64_t frames[1 + MAX_FRAMES] = { 1 };
	const uint64_t second = 1ull << WIRE_RUN_OF_SHIFT;
	struct finished_walk finished;

	(void)state;
	descend(DEPTH, (uint32_t)sizeof(stack) / 2);
	const uint64_t sp = rest.walk.registers[UNWIND_SP];
	const uint64_t never[] = { sp - 8, 1, 20, sp, 2 | second, 21, 22, sp, 1 | second, 23 };
	const uint64_t cut[] = { sp - 8, 200, 20, sp, 2 | second, 21, 22 };

	rest.runs = 10;
	finished = finish_walk(unwind, layout, &rest, never, stack, frames + 1, MAX_FRAMES);
	assert_true(frames[0] == 21 && frames[1] == 22);
	assert_callers(frames + 2, finished.n - 1);
	frames[0] = 1;
	rest.runs = 7;
	finished = finish_walk(unwind, layout, &rest, cut, stack, frames + 1, MAX_FRAMES);
	assert_int_equal(frames[0], 1);
	assert_callers(frames + 1, finished.n);
	rest.runs = 0;
}

static void test_depth(void **state)
{
	uint64_t frames[MAX_FRAMES];
	struct finished_walk finished;

	(void)state;
	descend(DEPTH, (uint32_t)sizeof(stack) / 2);
	frames[5] = 42;
	finished = finish(frames, 5);
	assert_int_equal(finished.end, WIRE_END_DEPTH);
	assert_int_equal(finished.n, 5);
	assert_callers(frames, 5);
	assert_int_equal(frames[5], 42);
	assert_int_equal(finish(frames, 0).end, WIRE_END_DEPTH);
}

/* Shorter copies give fewer frames, all of them right. */
static void test_short_copies(void **state)
{
	uint64_t frames[MAX_FRAMES];
	uint32_t before = MAX_FRAMES;

	(void)state;
	for (uint32_t size = 2048;; size /= 2) {
		struct finished_walk finished;

		descend(DEPTH, size);
		finished = finish(frames, MAX_FRAMES);
		assert_true(finished.n <= before);
		assert_callers(frames, finished.n);
		if (size == 0) {
			assert_int_equal(finished.end, WIRE_END_READ);
			assert_int_equal(finished.n, 0);
			break;
		}
		before = finished.n;
	}
}

/* Walks of damaged registers and stacks end. */
static void test_nonsense(void **state)
{
	uint64_t frames[MAX_FRAMES];
	uint64_t seed = 7;

	(void)state;
	descend(DEPTH, 2048);
	for (int i = 0; i < 20000; i++) {
		const struct wire_rest kept = rest;
		struct finished_walk finished;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		if (i % 3 == 0)
			rest.walk.registers[(seed >> 33) % 16] += seed >> 40;
		else if (i % 3 == 1)
			rest.walk.pc += seed >> 48;
		else
			stack[(seed >> 33) % 2048] ^= (unsigned char)(seed >> 56);
		finished = finish(frames, MAX_FRAMES);
		assert_true(finished.end > WIRE_END_NONE && finished.end < WIRE_N_ENDS);
		assert_true(finished.n <= MAX_FRAMES);
		rest = kept;
	}
}

static void test_unknown(void **state)
{
	struct layout *none = NULL;
	uint64_t frames[MAX_FRAMES];

	(void)state;
	assert_int_equal(unwind_hold_layout(unwind, UINT32_MAX - 1, &none), -ESRCH);
	assert_null(none);
	unwind_release_layout(unwind, NULL);
	descend(DEPTH, 2048);
	rest.walk.pc = 4096;
	assert_int_equal(finish(frames, MAX_FRAMES).end, WIRE_END_NO_MAPPING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),		cmocka_unit_test(test_run),
		cmocka_unit_test(test_runs_of_several), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_short_copies),	cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
