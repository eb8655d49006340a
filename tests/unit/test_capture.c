// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel side on events that this test makes itself: the kernel runs the program once each time
 * it is asked to (BPF_PROG_TEST_RUN), from a user stack that is known frame by frame. So what is
 * counted, kept, sent and lost is known exactly. Takes root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/stack_hash.h"
#include "bpf/wire.h"
#include "stacktally.skel.h"

#define MAX_DEPTH   64
#define MAX_RECORDS 4096
#define RING_SIZE   (256u << 10)

struct record {
	struct wire_stack stack;
	uint64_t frames[2 * MAX_DEPTH];
	struct wire_count count; /* of WIRE_KIND_COUNT */
	uint64_t beyond;	 /* bytes behind the frames */
	unsigned char rest[sizeof(struct wire_rest) + 64];
};

static struct {
	struct stacktally *skeleton;
	struct ring_buffer *ring;
	struct wire_counts *counts;
	size_t counts_size;
	struct wire_config config;
	uint32_t cpu, n_cpus;
	struct record records[MAX_RECORDS];
	uint32_t n;
	int program;
} capture;

/* ---- a stack that is known: hit() is called at the end of so many calls of itself */
static uint64_t expected[MAX_DEPTH + 4];
static uint32_t n_expected;

#define FRAMED                                                                                     \
	__attribute__((noinline, noclone,                                                          \
		       optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

/* The system call is made here, so that the leaf is known too. */
FRAMED static long hit(void)
{
	union bpf_attr attr;
	long result;
	void *after;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)capture.program;
	__asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
			 : "=a"(result), "=&r"(after)
			 : "0"(SYS_bpf), "D"(BPF_PROG_TEST_RUN), "S"(&attr), "d"(sizeof(attr))
			 : "rcx", "r11", "memory");
	expected[0] = (uintptr_t)after;
	expected[1] = (uintptr_t)__builtin_return_address(0);
	n_expected = 2;
	return result;
}

long descend(uint32_t depth);
FRAMED long descend(uint32_t depth)
{
	long result = depth ? descend(depth - 1) : hit();

	expected[n_expected++] = (uintptr_t)__builtin_return_address(0);
	return result;
}

/* The chain of frame pointers ends here. */
long descend_from_nothing(uint32_t depth);
__asm__(".text\n.type descend_from_nothing, @function\ndescend_from_nothing:\n"
	"push %rbp\npush %rbx\npush %rbx\nxor %ebp, %ebp\ncall descend\npop %rbx\npop %rbx\npop "
	"%rbp\nret\n"
	".size descend_from_nothing, . - descend_from_nothing\n");

/* An event at that depth: depth + 3 frames. */
static void event(uint32_t depth)
{
	assert_int_equal(descend_from_nothing(depth), 0);
}

static void events(uint32_t depth, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		event(depth);
}

/* ---- the kernel side */
static int take(void *context, void *data, size_t size)
{
	struct record *record = &capture.records[capture.n];
	size_t used;

	(void)context;
	assert_true(capture.n < MAX_RECORDS);
	memset(record, 0, sizeof(*record));
	memcpy(&record->stack, data, size < sizeof(record->stack) ? size : sizeof(record->stack));
	if (record->stack.kind == WIRE_KIND_COUNT) {
		assert_int_equal(size, sizeof(record->count));
		memcpy(&record->count, data, size);
	} else {
		used = 8u * (record->stack.n_kernel + record->stack.n_user);
		assert_true(used <= sizeof(record->frames));
		assert_true(size >= sizeof(record->stack) + used);
		memcpy(record->frames, (char *)data + sizeof(record->stack), used);
		record->beyond = size - sizeof(record->stack) - used;
		memcpy(record->rest, (char *)data + sizeof(record->stack) + used,
		       record->beyond < sizeof(record->rest) ? record->beyond
							     : sizeof(record->rest));
	}
	capture.n++;
	return 0;
}

/* What was sent since the last time. */
static uint32_t receive(void)
{
	capture.n = 0;
	assert_true(ring_buffer__consume(capture.ring) >= 0);
	return capture.n;
}

static void begin_with_ring(struct wire_config config, uint32_t ring_size)
{
	struct stacktally *skeleton;
	struct bpf_map *tables[3];

	if (geteuid() != 0)
		skip();
	skeleton = stacktally__open();
	assert_non_null(skeleton);
	capture.skeleton = skeleton;
	config.user_depth = config.user_depth ? config.user_depth : MAX_DEPTH;
	config.kernel_depth = config.kernel_depth ? config.kernel_depth : MAX_DEPTH;
	config.slots = config.slots ? config.slots : 1;
	config.sets = config.sets ? config.sets : 4;
	config.wake_at = config.wake_at ? config.wake_at : ring_size / 4;
	config.cpus = capture.n_cpus;
	config.seed[0] = 0x1234567;
	config.seed[1] = 0x89abcdef;
	capture.config = config;
	*(struct wire_config *)&skeleton->rodata->config = config;
	tables[0] = skeleton->maps.unwind_segments;
	tables[1] = skeleton->maps.unwind_rules;
	tables[2] = skeleton->maps.unwind_processes;
	for (int i = 0; i < 3; i++)
		bpf_map__set_max_entries(tables[i], 1);
	bpf_map__set_max_entries(skeleton->maps.scratch, config.slots * config.cpus);
	bpf_map__set_max_entries(skeleton->maps.counts, WIRE_EPOCHS * config.cpus * config.sets);
	bpf_map__set_max_entries(skeleton->maps.ring, ring_size);
	bpf_program__set_autoload(skeleton->progs.on_raw_tracepoint, true);
	assert_int_equal(stacktally__load(skeleton), 0);
	capture.program = bpf_program__fd(skeleton->progs.on_raw_tracepoint);
	capture.ring = ring_buffer__new(bpf_map__fd(skeleton->maps.ring), take, NULL, NULL);
	assert_non_null(capture.ring);
	capture.counts_size = sizeof(struct wire_counts) * WIRE_EPOCHS * config.cpus * config.sets;
	capture.counts = mmap(NULL, capture.counts_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(skeleton->maps.counts), 0);
	assert_ptr_not_equal(capture.counts, MAP_FAILED);
	skeleton->bss->armed = 1;
}

static void begin(struct wire_config config)
{
	begin_with_ring(config, RING_SIZE);
}

#define BEGIN(which, ...) begin((struct wire_config){ .flags = (which), ##__VA_ARGS__ })

static int end(void **state)
{
	(void)state;
	ring_buffer__free(capture.ring);
	if (capture.counts)
		munmap(capture.counts, capture.counts_size);
	stacktally__destroy(capture.skeleton);
	capture.ring = NULL;
	capture.counts = NULL;
	capture.skeleton = NULL;
	return 0;
}

static struct wire_counters counters(void)
{
	static struct wire_counters all[1024];
	const uint32_t zero = 0;

	assert_true(capture.n_cpus <= 1024);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(capture.skeleton->maps.counters), &zero,
					     all),
			 0);
	return all[capture.cpu];
}

static void set_counting(uint64_t counting)
{
	static struct wire_counters all[1024];
	const uint32_t zero = 0;
	int map = bpf_map__fd(capture.skeleton->maps.counters);

	assert_int_equal(bpf_map_lookup_elem(map, &zero, all), 0);
	all[capture.cpu].counting = counting;
	assert_int_equal(bpf_map_update_elem(map, &zero, all, BPF_ANY), 0);
}

/* The set of a hash on this CPU. */
static struct wire_counts *set_of(const struct wire_hash *hash, uint32_t epoch)
{
	return &capture.counts[(epoch * capture.config.cpus + capture.cpu) * capture.config.sets +
			       ((uint32_t)hash->low & (capture.config.sets - 1))];
}

/* How often a stack was counted. */
static uint64_t count_of(const struct wire_hash *hash, uint32_t epoch)
{
	const struct wire_counts *set = set_of(hash, epoch);
	uint64_t count = 0;

	for (int i = 0; i < WIRE_WAYS; i++)
		if (set->low[i] == hash->low && set->high[i] == hash->high)
			count += set->count[i];
	return count;
}

static uint64_t count_of_all(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < capture.counts_size / sizeof(struct wire_counts); i++)
		for (int way = 0; way < WIRE_WAYS; way++)
			sum += capture.counts[i].count[way];
	return sum;
}

/* The record is of the stack that was hit last, and its hash is that of its content. */
static void assert_is_last(const struct record *record)
{
	const struct wire_stack *stack = &record->stack;
	struct wire_hash hash = { capture.config.seed[0], capture.config.seed[1] };
	uint64_t words[(sizeof(*stack) - WIRE_HASH_FROM) / 8];

	assert_int_equal(stack->n_user, n_expected);
	assert_memory_equal(record->frames + stack->n_kernel, expected, n_expected * 8);
	assert_int_equal(record->beyond, 0);
	memcpy(words, (const char *)stack + WIRE_HASH_FROM, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		stack_hash_word(&hash, words[i]);
	for (uint32_t i = 0; i < (uint32_t)stack->n_kernel + stack->n_user; i++)
		stack_hash_word(&hash, record->frames[i]);
	stack_hash_finish(&hash);
	assert_true(stack->hash.low == hash.low && stack->hash.high == hash.high);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* ---- counting */
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
	assert_true(record->stack.world >> 32 && (uint32_t)record->stack.world);
	assert_string_equal(record->stack.comm, "test_capture");
	assert_int_equal(record->stack.n_kernel, 0);
	assert_int_equal(record->stack.flags, 0);
	assert_int_equal(record->stack.end, WIRE_END_FRAME_POINTER);
	assert_int_equal(record->stack.reserved2, 0);
	assert_int_equal(count_of(&record->stack.hash, 0), 1000);
	assert_int_equal(count_of_all(), 1000);
	assert_int_equal(counters().events, 1000);
	assert_int_equal(counters().lost_ring + counters().lost_nested + counters().unfinished, 0);
	assert_int_equal(counters().counting, 0);
	/* Disarmed, nothing. */
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

static void the_stack_seen_least_makes_way(void **state)
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
	/* Again, when it is another one's turn. */
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
	/* What makes way in an epoch says so. */
	capture.skeleton->bss->epoch = 1;
	for (uint32_t depth = 2; depth < 30; depth++)
		event(depth);
	receive();
	for (uint32_t i = 0; i < capture.n; i++)
		assert_int_equal(capture.records[i].stack.epoch, 1);
	assert_true(capture.n > 28);
	assert_int_equal(count_of(&hash, 0), 7);
}

static void what_finds_no_room_is_lost_and_tried_again(void **state)
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
	/* The last one was lost. */
	event(39);
	assert_int_equal(receive(), 1);
	assert_is_last(&capture.records[0]);
	assert_int_equal(count_of(&capture.records[0].stack.hash, 0), 1);
	assert_int_equal(counters().lost_ring, lost);
	assert_int_equal(counters().counting, 0);
}

/* With a full ring, what has a place in its set keeps it, and its count. */
static void where_a_count_cannot_be_sent_nothing_makes_way(void **state)
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

/* In a slot, the word that is 1 while a capture has it. */
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
	unsigned char *scratch;
	size_t size, value;
	uint64_t *busy;

	(void)state;
	for (uint32_t slots = 1; slots <= 3; slots++) {
		BEGIN(WIRE_USER, .slots = slots);
		value = bpf_map__value_size(capture.skeleton->maps.scratch);
		size = value * slots * capture.n_cpus;
		scratch = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       bpf_map__fd(capture.skeleton->maps.scratch), 0);
		assert_ptr_not_equal(scratch, MAP_FAILED);
		event(1);
		busy = (uint64_t *)(scratch + value * slots * capture.cpu + offset_of_busy());
		assert_int_equal(*busy, 0);
		for (uint32_t taken = 1; taken <= slots; taken++) {
			struct wire_counters before = counters();

			*(uint64_t *)((unsigned char *)busy + value * (taken - 1)) = 1;
			event(1);
			assert_int_equal(counters().events, before.events + 1);
			assert_int_equal(counters().lost_nested,
					 before.lost_nested + (taken == slots));
			for (uint32_t slot = 0; slot < slots; slot++)
				assert_int_equal(*(uint64_t *)((unsigned char *)busy +
							       value * slot),
						 slot < taken);
		}
		munmap(scratch, size);
		end(state);
	}
}

static void one_capture_at_a_time_is_at_the_sets(void **state)
{
	(void)state;
	BEGIN(WIRE_USER, .slots = 2);
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
	/* Where there is one slot there is nobody else. */
	end(state);
	BEGIN(WIRE_USER, .slots = 1);
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

static void user_space_is_woken_for_what_cannot_wait(void **state)
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

/* ---- whose a stack is */
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

/* A filter by a map of ids with states: of processes, and of threads. */
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
		BEGIN(WIRE_USER | WIRE_FILTER_CPU, .cpu = capture.cpu + cpu);
		assert_counts(cpu == 0);
		end(NULL);
	}
	BEGIN(WIRE_USER | WIRE_FILTER_MNTNSMAP);
	assert_counts(false);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(capture.skeleton->maps.mntnsmap),
					     &namespace, &one, BPF_ANY),
			 0);
	assert_counts(true);
	end(NULL);
	/* The idle task is not this one. */
	BEGIN(WIRE_USER | WIRE_IDLE);
	assert_counts(true);
}

static void cgroups_are_told_and_filtered(void **state)
{
	int directory = open("/sys/fs/cgroup", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	uint64_t id, one = 1;
	uint32_t zero = 0;

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
	/* All tasks are below the root, where that is of version 2. */
	if (bpf_map_update_elem(bpf_map__fd(capture.skeleton->maps.cgroup), &zero, &directory,
				BPF_ANY) == 0)
		assert_counts(true);
	close(directory);
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

static void worlds_are_told_apart(void **state)
{
	uint64_t world;
	struct wire_hash hash;
	void *code;

	(void)state;
	BEGIN(WIRE_USER);
	event(1);
	assert_int_equal(receive(), 1);
	world = capture.records[0].stack.world;
	hash = capture.records[0].stack.hash;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	event(1);
	assert_int_equal(receive(), 1);
	assert_true(capture.records[0].stack.world >> 32 == world >> 32);
	assert_true((uint32_t)capture.records[0].stack.world != (uint32_t)world);
	munmap(code, 4096);
	event(1);
	assert_int_equal(receive(), 0);
	assert_int_equal(count_of(&hash, 0), 2);
}

/* ---- stacks */
static void deeper_stacks_are_cut(void **state)
{
	(void)state;
	for (uint32_t most = 1; most < 12; most++) {
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

/* By tables, of which there is none for this process: it crosses with a copy of its stack. */
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
	assert_int_equal(rest.reserved, 0);
	assert_int_equal(rest.walk.pc, expected[0]);
	assert_true(capture.records[0].beyond >= sizeof(rest) + rest.size);
	assert_int_equal(counters().unfinished, 1);
	assert_int_equal(counters().withheld, 0);
	assert_int_equal(count_of_all(), 0);
	/* Not all of them: each event is in one of the three. */
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
	(void)state;
	BEGIN(WIRE_USER, .unwind = WIRE_UNWIND_CFI, .wake_at = 1);
	events(1, 20);
	/* The first is more than twice that: the others are counted as they are. */
	assert_int_equal(counters().unfinished, 1);
	assert_int_equal(counters().withheld, 19);
	assert_int_equal(count_of_all(), 19);
}

static int set_up(void **state)
{
	cpu_set_t one;

	(void)state;
	if (geteuid() != 0)
		return 0;
	capture.cpu = (uint32_t)sched_getcpu();
	capture.n_cpus = (uint32_t)libbpf_num_possible_cpus();
	CPU_ZERO(&one);
	CPU_SET(capture.cpu, &one);
	prctl(PR_SET_NAME, "test_capture");
	return sched_setaffinity(0, sizeof(one), &one);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_event_is_counted_once),
		TEST(stacks_of_each_depth_are_kept_apart),
		TEST(the_stack_seen_least_makes_way),
		TEST(epochs_are_counted_apart),
		TEST(what_finds_no_room_is_lost_and_tried_again),
		TEST(where_a_count_cannot_be_sent_nothing_makes_way),
		TEST(one_capture_at_a_time_has_a_slot),
		TEST(one_capture_at_a_time_is_at_the_sets),
		TEST(user_space_is_woken_for_what_cannot_wait),
		TEST(events_are_filtered),
		TEST(cgroups_are_told_and_filtered),
		TEST(threads_and_namespaces_have_their_numbers),
		TEST(names_end_with_zeros),
		TEST(worlds_are_told_apart),
		TEST(deeper_stacks_are_cut),
		TEST(kernel_stacks_come_first),
		TEST(walks_that_user_space_may_end_are_sent),
		TEST(half_of_the_ring_is_for_whole_stacks),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
