/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that a test makes itself: BPF_PROG_TEST_RUN runs the BPF program once, on a user stack of
 * known frames. So all counts, records and losses are known. Without root, tests are skipped.
 */
#ifndef STACKTALLY_TESTS_MADE_EVENTS_H
#define STACKTALLY_TESTS_MADE_EVENTS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	uint64_t beyond;	 /* number of bytes behind the frames */
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

/* ---- a known stack: recursion down to hit() */
static uint64_t expected[MAX_DEPTH + 4];
static uint32_t n_expected;

#define FRAMED                                                                                     \
	__attribute__((noinline, noclone,                                                          \
		       optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

/* Makes the system call itself, so that the leaf is known too. */
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

__attribute__((unused)) static void events(uint32_t depth, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		event(depth);
}

/* ---- the BPF program */
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

/* Receives the records that were sent since the last call. */
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
	bpf_map__set_max_entries(skeleton->maps.scratch, config.cpus + config.spares);
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

__attribute__((unused)) static struct wire_counters counters(void)
{
	static struct wire_counters all[1024];
	const uint32_t zero = 0;

	assert_true(capture.n_cpus <= 1024);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(capture.skeleton->maps.counters), &zero,
					     all),
			 0);
	return all[capture.cpu];
}

__attribute__((unused)) static void set_counting(uint64_t counting)
{
	static struct wire_counters all[1024];
	const uint32_t zero = 0;
	int map = bpf_map__fd(capture.skeleton->maps.counters);

	assert_int_equal(bpf_map_lookup_elem(map, &zero, all), 0);
	all[capture.cpu].counting = counting;
	assert_int_equal(bpf_map_update_elem(map, &zero, all, BPF_ANY), 0);
}

/* This CPU's set of counts for a hash. */
__attribute__((unused)) static struct wire_counts *set_of(const struct wire_hash *hash,
							  uint32_t epoch)
{
	return &capture.counts[(epoch * capture.config.cpus + capture.cpu) * capture.config.sets +
			       ((uint32_t)hash->low & (capture.config.sets - 1))];
}

/* The count of a stack. */
__attribute__((unused)) static uint64_t count_of(const struct wire_hash *hash, uint32_t epoch)
{
	const struct wire_counts *set = set_of(hash, epoch);
	uint64_t count = 0;

	for (int i = 0; i < WIRE_WAYS; i++)
		if (set->low[i] == hash->low && set->high[i] == hash->high)
			count += set->count[i];
	return count;
}

__attribute__((unused)) static uint64_t count_of_all(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < capture.counts_size / sizeof(struct wire_counts); i++)
		for (int way = 0; way < WIRE_WAYS; way++)
			sum += capture.counts[i].count[way];
	return sum;
}

/* The record has the frames of the last event and the hash of its content. */
__attribute__((unused)) static void assert_is_last(const struct record *record)
{
	const struct wire_stack *stack = &record->stack;
	const uint32_t n = (uint32_t)stack->n_kernel + stack->n_user;
	struct wire_hash hash =
		stack_hash_of(capture.config.seed, (const char *)stack + WIRE_HASH_FROM,
			      (sizeof(*stack) - WIRE_HASH_FROM) / 8 + n);

	assert_int_equal(stack->n_user, n_expected);
	assert_memory_equal(record->frames + stack->n_kernel, expected, n_expected * 8);
	assert_int_equal(record->beyond, 0);
	assert_true(stack->hash.low == hash.low && stack->hash.high == hash.high);
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

#endif
