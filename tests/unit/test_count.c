// SPDX-License-Identifier: GPL-2.0-or-later
/* Counting in the kernel: sets, epochs, the ring buffer and losses; by made_events.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include <cmocka.h>

#include "made_events.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}
static void each_event_is_counted_once(void **state)
{
	const struct record *record = &capture.records[0];
	uint64_t before = now_ns();

	(void)state;
	BEGIN(WIRE_USER);
	events(3, 1000);
	assert_int_equal(receive(), 1);
	assert_int_equal(record->stack.kind, WIRE_KIND_STACK);
	assert_is_last(record);
	assert_int_equal(n_expected, 6);
	assert_true(record->stack.time > before && record->stack.time < now_ns());
	assert_int_equal(record->stack.epoch, 0);
	assert_int_equal(record->stack.tgid, getpid());
	assert_int_equal(record->stack.tid, 0);
	assert_int_equal(record->stack.cgroup, 0);
	assert_true(record->stack.image >> 32 && (uint32_t)record->stack.image);
	assert_string_equal(record->stack.comm, "test_capture");
	assert_int_equal(record->stack.n_kernel, 0);
	assert_int_equal(record->stack.flags, 0);
	assert_int_equal(record->stack.end, WIRE_END_FRAME_POINTER);
	assert_int_equal(record->stack.unpaired, 0);
	assert_int_equal(count_of(&record->stack.hash, 0), 1000);
	assert_int_equal(count_of_all(), 1000);
	assert_int_equal(counters().events, 1000);
	assert_int_equal(counters().lost_ring + counters().lost_nested + counters().unfinished, 0);
	assert_int_equal(counters().counting, 0);
	/* A disarmed program counts nothing. */
	capture.skeleton->bss->armed = 0;
	events(3, 10);
	assert_int_equal(counters().events, 1000);
	assert_int_equal(count_of_all(), 1000);
}

static void stacks_of_each_depth_are_kept_apart(void **state)
{
	struct wire_hash hashes[MAX_DEPTH];

	(void)state;
	BEGIN(WIRE_USER, .sets = 4096);
	for (uint32_t depth = 0; depth < MAX_DEPTH - 4; depth++) {
		events(depth, depth + 1);
		assert_int_equal(receive(), 1);
		assert_is_last(&capture.records[0]);
		assert_int_equal(n_expected, depth + 3);
		hashes[depth] = capture.records[0].stack.hash;
	}
	for (uint32_t depth = 0; depth < MAX_DEPTH - 4; depth++)
		assert_int_equal(count_of(&hashes[depth], 0), depth + 1);
}

static void the_least_frequent_stack_is_evicted(void **state)
{
	struct wire_hash hash[4];
	const struct wire_counts *set;

	(void)state;
	BEGIN(WIRE_USER, .sets = 1);
	for (uint32_t i = 0; i < 3; i++) {
		events(i, 5 - i * 2); /* 5, 3, 1 */
		assert_int_equal(receive(), 1);
		hash[i] = capture.records[0].stack.hash;
	}
	events(3, 2);
	assert_int_equal(receive(), 2);
	assert_int_equal(capture.records[0].count.kind, WIRE_KIND_COUNT);
	assert_true(capture.records[0].count.hash.low == hash[2].low);
	assert_true(capture.records[0].count.hash.high == hash[2].high);
	assert_int_equal(capture.records[0].count.count, 1);
	assert_int_equal(capture.records[0].count.epoch, 0);
	assert_int_equal(capture.records[1].stack.kind, WIRE_KIND_STACK);
	assert_is_last(&capture.records[1]);
	hash[3] = capture.records[1].stack.hash;
	set = set_of(&hash[0], 0);
	assert_true(set->count[0] == 5 && set->count[1] == 3 && set->count[2] == 2);
	assert_int_equal(count_of(&hash[0], 0), 5);
	assert_int_equal(count_of(&hash[1], 0), 3);
	assert_int_equal(count_of(&hash[2], 0), 0);
	assert_int_equal(count_of(&hash[3], 0), 2);
	/* The next eviction is that of another stack. */
	events(3, 2);
	assert_int_equal(receive(), 0);
	event(2);
	assert_int_equal(receive(), 2);
	assert_int_equal(capture.records[0].count.count, 3);
	assert_true(capture.records[0].count.hash.low == hash[1].low);
	assert_int_equal(count_of(&hash[2], 0), 1);
	assert_int_equal(count_of_all(), 5 + 1 + 4);
	assert_int_equal(counters().events, 14);
}

static void epochs_are_counted_apart(void **state)
{
	struct wire_hash hash;

	(void)state;
	BEGIN(WIRE_USER, .sets = 2);
	events(1, 4);
	assert_int_equal(receive(), 1);
	hash = capture.records[0].stack.hash;
	capture.skeleton->bss->epoch = 1;
	events(1, 6);
	assert_int_equal(receive(), 1);
	assert_int_equal(capture.records[0].stack.epoch, 1);
	assert_true(capture.records[0].stack.hash.low == hash.low);
	capture.skeleton->bss->epoch = 2;
	events(1, 3);
	assert_int_equal(receive(), 0);
	assert_int_equal(count_of(&hash, 0), 7);
	assert_int_equal(count_of(&hash, 1), 6);
	/* The counts of evicted stacks have the number of their epoch. */
	capture.skeleton->bss->epoch = 1;
	for (uint32_t depth = 2; depth < 30; depth++)
		event(depth);
	receive();
	for (uint32_t i = 0; i < capture.n; i++)
		assert_int_equal(capture.records[i].stack.epoch, 1);
	assert_true(capture.n > 28);
	assert_int_equal(count_of(&hash, 0), 7);
}

static void stacks_lost_to_a_full_ring_are_sent_again(void **state)
{
	uint64_t lost, counted;

	(void)state;
	begin_with_ring((struct wire_config){ .flags = WIRE_USER, .sets = 4096 }, 4096);
	for (uint32_t depth = 0; depth < 40; depth++)
		event(depth);
	lost = counters().lost_ring;
	counted = count_of_all();
	assert_true(lost > 10 && counted > 5);
	assert_int_equal(lost + counted, 40);
	assert_int_equal(counters().events, 40);
	assert_int_equal(receive(), counted);
	/* The last stack was lost; its next event sends it. */
	event(39);
	assert_int_equal(receive(), 1);
	assert_is_last(&capture.records[0]);
	assert_int_equal(count_of(&capture.records[0].stack.hash, 0), 1);
	assert_int_equal(counters().lost_ring, lost);
	assert_int_equal(counters().counting, 0);
}

/* While the ring is full, stacks keep their places in a set, and their counts. */
static void a_full_ring_prevents_evictions(void **state)
{
	struct wire_counts before, *set;
	struct wire_hash hash;
	uint64_t counted, lost;

	(void)state;
	begin_with_ring((struct wire_config){ .flags = WIRE_USER, .sets = 1 }, 4096);
	events(0, 3);
	assert_int_equal(receive(), 1);
	hash = capture.records[0].stack.hash;
	set = set_of(&hash, 0);
	for (uint32_t depth = 1; counters().lost_ring == 0; depth = depth % 60 + 1)
		event(depth);
	before = *set;
	lost = counters().lost_ring;
	counted = counters().events - lost;
	event(60);
	event(59);
	assert_int_equal(counters().lost_ring, lost + 2);
	assert_memory_equal(&before.low, &set->low, sizeof(before.low));
	receive();
	for (uint32_t i = 0; i < capture.n; i++)
		if (capture.records[i].stack.kind == WIRE_KIND_COUNT)
			counted -= capture.records[i].count.count;
	assert_int_equal(count_of_all(), counted);
}

/* The offset in a slot of the word that is 1 while a capture uses the slot. */
static size_t offset_of_busy(void)
{
	const struct btf *btf = bpf_object__btf(capture.skeleton->obj);
	int id = btf__find_by_name_kind(btf, "scratch", BTF_KIND_STRUCT);
	const struct btf_type *type = btf__type_by_id(btf, (uint32_t)id);
	const struct btf_member *members = btf_members(type);

	assert_true(id > 0);
	for (uint32_t i = 0; i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, members[i].name_off), "busy") == 0)
			return btf_member_bit_offset(type, i) / 8;
	fail_msg("struct scratch has no `busy`");
	return 0;
}

static void one_capture_at_a_time_has_a_slot(void **state)
{
	uint64_t *busy[1 + 3];
	unsigned char *scratch;
	size_t size, value;

	(void)state;
	for (uint32_t spares = 0; spares <= 3; spares++) {
		BEGIN(WIRE_USER, .spares = spares);
		value = bpf_map__value_size(capture.skeleton->maps.scratch);
		size = value * (capture.n_cpus + spares);
		scratch = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       bpf_map__fd(capture.skeleton->maps.scratch), 0);
		assert_ptr_not_equal(scratch, MAP_FAILED);
		event(1);
		for (uint32_t i = 0; i <= spares; i++) {
			/* In the order in which this CPU tries them. */
			uint32_t slot =
				i == 0 ? capture.cpu : capture.n_cpus + (capture.cpu + i) % spares;

			busy[i] = (uint64_t *)(scratch + value * slot + offset_of_busy());
			assert_int_equal(*busy[i], 0);
		}
		for (uint32_t taken = 1; taken <= 1 + spares; taken++) {
			struct wire_counters before = counters();

			*busy[taken - 1] = 1;
			event(1);
			assert_int_equal(counters().events, before.events + 1);
			assert_int_equal(counters().lost_nested,
					 before.lost_nested + (taken == 1 + spares));
			for (uint32_t i = 0; i <= spares; i++)
				assert_int_equal(*busy[i], i < taken);
		}
		munmap(scratch, size);
		end(state);
	}
}

static void one_capture_at_a_time_uses_the_sets(void **state)
{
	(void)state;
	BEGIN(WIRE_USER, .spares = 1);
	events(1, 3);
	assert_int_equal(receive(), 1);
	assert_int_equal(counters().counting, 0);
	set_counting(1);
	events(1, 5);
	assert_int_equal(receive(), 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(capture.records[i].stack.kind, WIRE_KIND_EVENT);
		assert_is_last(&capture.records[i]);
	}
	assert_int_equal(counters().counting, 1);
	assert_int_equal(count_of_all(), 3);
	set_counting(0);
	events(1, 2);
	assert_int_equal(receive(), 0);
	assert_int_equal(count_of_all(), 5);
	assert_int_equal(counters().events, 10);
	/* Without a spare slot no other capture can run, so `counting` is not looked at. */
	end(state);
	BEGIN(WIRE_USER);
	set_counting(1);
	events(1, 2);
	assert_int_equal(receive(), 1);
	assert_int_equal(capture.records[0].stack.kind, WIRE_KIND_STACK);
	assert_int_equal(count_of_all(), 2);
	assert_int_equal(counters().counting, 1);
}

/* ---- waking */
static int woken(int epoll, int ms)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, ms);
}

static void new_processes_and_a_filled_ring_wake_user_space(void **state)
{
	struct epoll_event wanted = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	(void)state;
	BEGIN(WIRE_USER, .wake_at = 2000);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, bpf_map__fd(capture.skeleton->maps.ring),
				   &wanted),
			 0);
	assert_int_equal(woken(epoll, 0), 0);
	event(0); /* the first stack of a process */
	assert_int_equal(woken(epoll, 2000), 1);
	event(1);
	event(2);
	assert_int_equal(woken(epoll, 20), 0);
	for (uint32_t depth = 20; depth < 40; depth++)
		event(depth); /* 8 bytes a frame: beyond 2000 */
	assert_int_equal(woken(epoll, 2000), 1);
	receive();
	event(50);
	assert_int_equal(woken(epoll, 20), 0);
	close(epoll);
}

static bool saw_an_image(void)
{
	uint64_t key[2];

	return bpf_map_get_next_key(bpf_map__fd(capture.skeleton->maps.seen_images), NULL, key) ==
	       0;
}

/* The capture that is interrupted may hold the map's lock. */
static void nested_captures_note_no_image(void **state)
{
	unsigned char *scratch;
	size_t size, value;
	uint64_t *busy;

	(void)state;
	BEGIN(WIRE_USER, .spares = 1);
	value = bpf_map__value_size(capture.skeleton->maps.scratch);
	size = value * (capture.n_cpus + 1);
	scratch = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(capture.skeleton->maps.scratch), 0);
	assert_ptr_not_equal(scratch, MAP_FAILED);
	busy = (uint64_t *)(scratch + value * capture.cpu + offset_of_busy());
	*busy = 1;
	event(1);
	assert_int_equal(receive(), 1);
	assert_is_last(&capture.records[0]);
	assert_false(saw_an_image());
	*busy = 0;
	event(2);
	assert_int_equal(receive(), 1);
	assert_is_last(&capture.records[0]);
	assert_true(saw_an_image());
	assert_int_equal(counters().events, 2);
	assert_int_equal(counters().lost_ring + counters().lost_nested, 0);
	munmap(scratch, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_event_is_counted_once),
		TEST(stacks_of_each_depth_are_kept_apart),
		TEST(the_least_frequent_stack_is_evicted),
		TEST(epochs_are_counted_apart),
		TEST(stacks_lost_to_a_full_ring_are_sent_again),
		TEST(a_full_ring_prevents_evictions),
		TEST(one_capture_at_a_time_has_a_slot),
		TEST(one_capture_at_a_time_uses_the_sets),
		TEST(new_processes_and_a_filled_ring_wake_user_space),
		TEST(nested_captures_note_no_image),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
