// SPDX-License-Identifier: GPL-2.0-or-later
/* Capturing in the kernel: filters, ids, names and stacks of events; by made_events.h. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "made_events.h"

/* ---- filters and ids */
static void assert_counts(bool expected_to)
{
	uint64_t before = counters().events;

	event(1);
	assert_int_equal(counters().events, before + expected_to);
	assert_int_equal(receive(), expected_to && before == 0);
}

static uint64_t inode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

/* A filter by a map from ids to states, for processes and for threads. */
static void filters_by_id(uint32_t flag, uint32_t id, size_t map_at)
{
	uint32_t member = WIRE_MEMBER, on_exec = WIRE_MEMBER_ON_EXEC, other = id + 1;
	int map;

	BEGIN(WIRE_USER | flag);
	map = bpf_map__fd(*(struct bpf_map **)((char *)&capture.skeleton->maps + map_at));
	assert_counts(false);
	assert_int_equal(bpf_map_update_elem(map, &other, &member, BPF_ANY), 0);
	assert_counts(false);
	assert_int_equal(bpf_map_delete_elem(map, &other), 0);
	assert_int_equal(bpf_map_update_elem(map, &id, &on_exec, BPF_ANY), 0);
	assert_counts(false);
	assert_int_equal(bpf_map_update_elem(map, &id, &member, BPF_ANY), 0);
	assert_counts(true);
	end(NULL);
}

#define MAP_AT(name)                                                                               \
	((size_t)((char *)&((struct stacktally *)0)->maps.name -                                   \
		  (char *)&((struct stacktally *)0)->maps))

static void events_are_filtered(void **state)
{
	uint64_t namespace = inode_of("/proc/self/ns/mnt");
	uint32_t one = 1;

	(void)state;
	filters_by_id(WIRE_FILTER_TGID, (uint32_t)getpid(), MAP_AT(tgids));
	filters_by_id(WIRE_FILTER_TID, (uint32_t)gettid(), MAP_AT(tids));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const uint32_t chosen = capture.cpu + cpu;

		/* The map has room for CPU 0 only. */
		BEGIN(WIRE_USER | WIRE_FILTER_CPU);
		bpf_map_update_elem(bpf_map__fd(capture.skeleton->maps.filter_cpus), &chosen, &one,
				    BPF_ANY);
		assert_counts(cpu == 0 && capture.cpu == 0);
		end(NULL);
	}
	BEGIN(WIRE_USER | WIRE_FILTER_MNTNSMAP);
	assert_counts(false);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(capture.skeleton->maps.mntnsmap),
					     &namespace, &one, BPF_ANY),
			 0);
	assert_counts(true);
	end(NULL);
	/* This process is not the idle task. */
	BEGIN(WIRE_USER | WIRE_IDLE);
	assert_counts(true);
}

static void cgroups_are_told_and_filtered(void **state)
{
	uint64_t id, one = 1;
	uint32_t chosen = 1;

	(void)state;
	BEGIN(WIRE_USER | WIRE_CGROUP_ID);
	event(1);
	assert_int_equal(receive(), 1);
	id = capture.records[0].stack.cgroup;
	assert_int_not_equal(id, 0);
	end(NULL);
	BEGIN(WIRE_USER | WIRE_FILTER_CGROUPMAP);
	assert_counts(false);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(capture.skeleton->maps.cgroupmap), &id,
					     &one, BPF_ANY),
			 0);
	assert_counts(true);
	end(NULL);
	BEGIN(WIRE_USER | WIRE_FILTER_CGROUP);
	assert_counts(false);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(capture.skeleton->maps.cgroups), &id,
					     &chosen, BPF_ANY),
			 0);
	assert_counts(true);
}

static void threads_and_namespaces_have_their_numbers(void **state)
{
	(void)state;
	BEGIN(WIRE_USER | WIRE_PER_THREAD);
	event(1);
	assert_int_equal(receive(), 1);
	assert_int_equal(capture.records[0].stack.tid, gettid());
	end(NULL);
	BEGIN(WIRE_USER | WIRE_PER_THREAD | WIRE_OWN_PIDNS,
	      .pidns_inum = (uint32_t)inode_of("/proc/self/ns/pid"));
	event(1);
	assert_int_equal(receive(), 1);
	assert_int_equal(capture.records[0].stack.tgid, getpid());
	assert_int_equal(capture.records[0].stack.tid, gettid());
	end(NULL);
	BEGIN(WIRE_USER | WIRE_PER_THREAD | WIRE_OWN_PIDNS, .pidns_inum = 1);
	event(1);
	assert_int_equal(receive(), 1);
	assert_int_equal(capture.records[0].stack.tgid, 0);
	assert_int_equal(capture.records[0].stack.tid, 0);
}

static void names_end_with_zeros(void **state)
{
	char name[17] = "";

	(void)state;
	BEGIN(WIRE_USER, .sets = 4096);
	/* The kernel leaves the rest of the longer name behind the shorter one. */
	for (int length = 15; length >= 0; length--) {
		char padded[16] = "";

		memset(name, 0, sizeof(name));
		for (int i = 0; i < length; i++)
			padded[i] = name[i] = (char)(i % 3 ? 'a' + i : 0x81 - (i & 1));
		prctl(PR_SET_NAME, name);
		event(1);
		assert_int_equal(receive(), 1);
		assert_memory_equal(capture.records[0].stack.comm, padded, 16);
	}
	prctl(PR_SET_NAME, "test_capture");
}

static void images_are_told_apart(void **state)
{
	uint64_t image;
	struct wire_hash hash;
	void *code;

	(void)state;
	BEGIN(WIRE_USER);
	event(1);
	assert_int_equal(receive(), 1);
	image = capture.records[0].stack.image;
	hash = capture.records[0].stack.hash;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	event(1);
	assert_int_equal(receive(), 1);
	assert_true(capture.records[0].stack.image >> 32 == image >> 32);
	assert_true((uint32_t)capture.records[0].stack.image != (uint32_t)image);
	munmap(code, 4096);
	event(1);
	assert_int_equal(receive(), 0);
	assert_int_equal(count_of(&hash, 0), 2);
}

/* ---- stacks */
static void deeper_stacks_are_cut(void **state)
{
	(void)state;
	for (uint32_t most = 1; most <= WIRE_MAX_DEPTH;
	     most += most < 11 ? 1 : WIRE_MAX_DEPTH - 11) {
		BEGIN(WIRE_USER, .user_depth = most);
		event(5); /* 8 frames */
		assert_int_equal(receive(), 1);
		n_expected = most < 8 ? most : 8;
		assert_is_last(&capture.records[0]);
		assert_int_equal(capture.records[0].stack.flags,
				 most <= 8 ? WIRE_STACK_USER_CUT : 0);
		assert_int_equal(capture.records[0].stack.end,
				 most <= 8 ? WIRE_END_DEPTH : WIRE_END_FRAME_POINTER);
		end(NULL);
	}
}

static void kernel_stacks_come_first(void **state)
{
	uint32_t whole;

	(void)state;
	BEGIN(WIRE_USER | WIRE_KERNEL);
	events(2, 3);
	assert_int_equal(receive(), 1);
	whole = capture.records[0].stack.n_kernel;
	assert_true(whole > 3 && whole < MAX_DEPTH);
	assert_int_equal(capture.records[0].stack.flags, 0);
	for (uint32_t i = 0; i < whole; i++)
		assert_true(capture.records[0].frames[i] >> 63);
	assert_is_last(&capture.records[0]);
	end(NULL);
	for (uint32_t most = 1; most <= whole + 1; most++) {
		BEGIN(WIRE_USER | WIRE_KERNEL, .kernel_depth = most);
		event(2);
		assert_int_equal(receive(), 1);
		assert_int_equal(capture.records[0].stack.n_kernel, most < whole ? most : whole);
		assert_int_equal(capture.records[0].stack.flags,
				 most <= whole ? WIRE_STACK_KERNEL_CUT : 0);
		assert_is_last(&capture.records[0]);
		end(NULL);
	}
	BEGIN(WIRE_KERNEL);
	event(2);
	assert_int_equal(receive(), 1);
	assert_int_equal(capture.records[0].stack.n_kernel, whole);
	assert_int_equal(capture.records[0].stack.n_user, 0);
	assert_int_equal(capture.records[0].stack.end, WIRE_END_NONE);
}

/* This process has no tables, so its stack is sent with a copy of its memory. */
static void walks_that_user_space_may_end_are_sent(void **state)
{
	struct wire_rest rest;
	uint32_t sent = 0;

	(void)state;
	BEGIN(WIRE_USER, .unwind = WIRE_UNWIND_CFI);
	event(1);
	assert_int_equal(receive(), 1);
	assert_int_equal(capture.records[0].stack.kind, WIRE_KIND_UNFINISHED);
	assert_int_equal(capture.records[0].stack.end, WIRE_END_NO_PROCESS);
	assert_int_equal(capture.records[0].stack.n_user, 1);
	assert_int_equal(capture.records[0].frames[0], expected[0]);
	memcpy(&rest, capture.records[0].rest, sizeof(rest));
	assert_true(rest.size > 0);
	assert_int_equal(rest.runs, 0);
	assert_int_equal(rest.walk.pc, expected[0]);
	assert_true(capture.records[0].beyond >= sizeof(rest) + rest.size);
	assert_int_equal(counters().unfinished, 1);
	assert_int_equal(counters().withheld, 0);
	assert_int_equal(count_of_all(), 0);
	/* Some more are sent; the others are counted as they are, and as withheld. */
	for (uint32_t i = 0; i < 40; i++) {
		events(1, 10);
		for (uint32_t n = receive(), j = 0; j < n; j++)
			sent += capture.records[j].stack.kind == WIRE_KIND_UNFINISHED;
	}
	assert_int_equal(counters().events, 401);
	assert_int_equal(counters().unfinished, sent + 1);
	assert_int_equal(counters().unfinished + counters().withheld, 401);
	assert_int_equal(count_of_all(), counters().withheld);
}

static void half_of_the_ring_is_for_whole_stacks(void **state)
{
	const struct record *record = &capture.records[0];
	uint32_t size;

	(void)state;
	BEGIN(WIRE_USER, .unwind = WIRE_UNWIND_CFI);
	event(1);
	assert_int_equal(receive(), 1);
	size = (uint32_t)(sizeof(record->stack) + 8u * record->stack.n_user + record->beyond);
	end(NULL);
	/* Copies may take twice wake_at of the ring; further stacks are counted as they are. */
	BEGIN(WIRE_USER, .unwind = WIRE_UNWIND_CFI, .wake_at = size);
	events(1, 2);
	assert_int_equal(counters().unfinished, 2);
	assert_int_equal(counters().withheld, 0);
	end(NULL);
	BEGIN(WIRE_USER, .unwind = WIRE_UNWIND_CFI, .wake_at = size * 2 / 5);
	events(1, 20);
	assert_int_equal(counters().unfinished, 1);
	assert_int_equal(counters().withheld, 19);
	assert_int_equal(count_of_all(), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_are_filtered),
		TEST(cgroups_are_told_and_filtered),
		TEST(threads_and_namespaces_have_their_numbers),
		TEST(names_end_with_zeros),
		TEST(images_are_told_apart),
		TEST(deeper_stacks_are_cut),
		TEST(kernel_stacks_come_first),
		TEST(walks_that_user_space_may_end_are_sent),
		TEST(half_of_the_ring_is_for_whole_stacks),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
