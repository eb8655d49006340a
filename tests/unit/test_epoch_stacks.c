// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/stack_hash.h"
#include "drain/epoch_stacks.h"
#include "drain/epoch_stacks_internal.h"
#include "kernel/interrupt_frames.h"
#include "tally/scripts.h"

#define KERNEL_FRAMES 2
#define USER_FRAMES   3

static const __u64 seed[2] = { 11, 13 };

struct record {
	struct wire_stack stack;
	uint64_t frames[KERNEL_FRAMES + USER_FRAMES];
};

static void seal(struct record *record)
{
	record->stack.hash =
		stack_hash_of(seed, &record->stack.image, (sizeof(*record) - WIRE_HASH_FROM) / 8);
}

static struct record record_of(const char *comm, uint64_t leaf)
{
	struct record record = {
		/* No process has this id, so the user frames belong to no image. */
		.stack = { .time = 1,
			   .tgid = 0x7ffffff0,
			   .n_kernel = KERNEL_FRAMES,
			   .n_user = USER_FRAMES },
		.frames = { 0xffffffff81000000, 0xffffffff81000100, leaf, 0x2000, 0x3000 },
	};

	strncpy(record.stack.comm, comm, sizeof(record.stack.comm) - 1);
	seal(&record);
	return record;
}

struct fixture {
	struct images *images;
	struct tally *tally;
	struct epoch_stacks *stacks;
};

static void setup_options(struct fixture *fixture, struct epoch_stacks_options options)
{
	memcpy(options.seed, seed, sizeof(options.seed));

	assert_int_equal(images_new(&(struct images_options){ 0 }, &fixture->images), 0);
	assert_int_equal(tally_new(0, 0, &fixture->tally), 0);
	options.images = fixture->images;
	assert_int_equal(epoch_stacks_new(&options, &fixture->stacks), 0);
}

static void setup(struct fixture *fixture, const char *name)
{
	setup_options(fixture, (struct epoch_stacks_options){ .name = name, .of_event = 1 });
}

static void teardown(struct fixture *fixture)
{
	epoch_stacks_free(fixture->stacks);
	tally_free(fixture->tally);
	images_free(fixture->images);
}

static void a_count_finds_its_stack(void **state)
{
	struct record record = record_of("ls", 0x1000);
	const struct tally_entry *entry;
	uint64_t count, unwanted;
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	/* Again: two CPUs may send the same stack. */
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	assert_int_equal(epoch_stacks_n(f.stacks), 1);
	assert_int_equal(epoch_stacks_count(f.stacks, &record.stack.hash, 42), 0);
	assert_int_equal(tally_n_entries(f.tally), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	assert_int_equal(count, 42);
	assert_int_equal(unwanted, 0);
	assert_int_equal(tally_n_entries(f.tally), 1);
	entry = tally_entries(f.tally);
	assert_int_equal(entry->count, 42);
	assert_string_equal(entry->comm, "ls");
	assert_int_equal(tally_stacks(f.tally)[entry->kernel].n_frames, KERNEL_FRAMES);
	assert_int_equal(tally_stacks(f.tally)[entry->user].n_frames, USER_FRAMES);
	teardown(&f);
}

/* Stacks without room in the tally count as lost, with user frames or without. */
static void stacks_without_room_are_lost(void **state)
{
	struct record first = record_of("ls", 0x1000), second = record_of("ls", 0x2000);
	uint64_t count, unwanted;
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &first, sizeof(first)), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &first.stack.hash, 2), 0);
	tally_bound(f.tally, 1);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &second, sizeof(second)), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &second.stack.hash, 40), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	assert_int_equal(count, 42);
	assert_int_equal(tally_losses(f.tally)->lost_memory, 42);
	assert_true(tally_losses(f.tally)->memory_full);
	assert_int_equal(tally_total(f.tally), 0);
	/* Once there is room again, stacks are counted. */
	assert_int_equal(epoch_stacks_clear(f.stacks), 0);
	tally_bound(f.tally, 0);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &second, sizeof(second)), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &second.stack.hash, 3), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	assert_int_equal(tally_total(f.tally), 3);
	teardown(&f);
}

static void only_leaves_are_exact(void **state)
{
	struct record record = record_of("ls", 0x1000);
	const struct tally_address *addresses;
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	addresses = tally_addresses(f.tally);
	for (uint32_t i = 0; i < tally_n_addresses(f.tally); i++) {
		bool leaf = addresses[i].address == 0xffffffff81000000 ||
			    addresses[i].address == 0x1000;

		assert_int_equal(addresses[i].flags, leaf ? TALLY_ADDRESS_EXACT : 0);
	}
	teardown(&f);
}

/* A chain of frame pointers leads to any words: they are addresses, whatever their upper bits. */
static void frames_of_a_chain_have_no_marks(void **state)
{
	struct record record = record_of("ls", 0x1000);
	const struct tally_address *addresses;
	struct fixture f;

	(void)state;
	record.frames[KERNEL_FRAMES + 1] = 0xfedcba9876543210;
	record.frames[KERNEL_FRAMES + 2] = WIRE_FRAME_SCRIPT | 0x123456;
	seal(&record);
	setup_options(&f, (struct epoch_stacks_options){ .unmarked = true, .of_event = 1 });
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	assert_int_equal(tally_n_addresses(f.tally), USER_FRAMES);
	addresses = tally_addresses(f.tally);
	assert_int_equal(addresses[1].address, 0xdcba9876543210);
	assert_int_equal(addresses[1].flags, 0);
	assert_int_equal(addresses[2].address, 0x123456);
	assert_int_equal(addresses[2].flags, 0);
	teardown(&f);
}

static void functions_that_may_be_of_other_frames_are_not_told(void **state)
{
	const uint64_t php = (uint64_t)LANGUAGE_PHP << WIRE_FRAME_LANGUAGE_SHIFT;
	struct record record = record_of("php", 0x1000);
	const struct tally_address *addresses;
	struct fixture f;

	(void)state;
	record.frames[KERNEL_FRAMES + 1] = WIRE_FRAME_SCRIPT | php | 0x123456;
	record.frames[KERNEL_FRAMES + 2] = WIRE_FRAME_SCRIPT | php | 0x654321;
	record.stack.flags = WIRE_STACK_PROGRAM;
	record.stack.unpaired = WIRE_UNPAIRED(LANGUAGE_PHP);
	seal(&record);
	setup(&f, NULL);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	assert_int_equal(tally_n_addresses(f.tally), 2);
	addresses = tally_addresses(f.tally);
	assert_int_equal(addresses[0].address, 0x1000);
	assert_int_equal(addresses[1].address, php | WIRE_SCRIPT_UNMATCHED);
	assert_int_equal(addresses[1].flags, TALLY_ADDRESS_SCRIPT);
	teardown(&f);
}

static void functions_of_another_language_are_told(void **state)
{
	const uint64_t php = (uint64_t)LANGUAGE_PHP << WIRE_FRAME_LANGUAGE_SHIFT;
	const uint64_t python = (uint64_t)LANGUAGE_PYTHON << WIRE_FRAME_LANGUAGE_SHIFT;
	struct record record = record_of("php", 0x1000);
	const struct tally_address *addresses;
	struct fixture f;

	(void)state;
	record.frames[KERNEL_FRAMES + 1] = WIRE_FRAME_SCRIPT | python | 0x123456;
	record.frames[KERNEL_FRAMES + 2] = WIRE_FRAME_SCRIPT | php | 0x654321;
	record.stack.flags = WIRE_STACK_PROGRAM;
	record.stack.unpaired = WIRE_UNPAIRED(LANGUAGE_PHP);
	seal(&record);
	setup(&f, NULL);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	assert_int_equal(tally_n_addresses(f.tally), 3);
	addresses = tally_addresses(f.tally);
	assert_int_equal(addresses[1].address, python | 0x123456);
	assert_int_equal(addresses[2].address, php | WIRE_SCRIPT_UNMATCHED);
	teardown(&f);
}

static void names_are_filtered_with_wildcards(void **state)
{
	struct record wanted = record_of("nginx: worker", 0x1000),
		      other = record_of("bash", 0x1000);
	uint64_t count, unwanted;
	struct fixture f;

	(void)state;
	setup(&f, "nginx*");
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &wanted, sizeof(wanted)), 0);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &other, sizeof(other)), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &wanted.stack.hash, 3), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &other.stack.hash, 5), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	assert_int_equal(count, 8);
	assert_int_equal(unwanted, 5);
	assert_int_equal(tally_total(f.tally), 3);
	teardown(&f);
}

static void a_hash_without_a_stack_is_an_error(void **state)
{
	struct record record = record_of("ls", 0x1000);
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	assert_int_equal(epoch_stacks_count(f.stacks, &record.stack.hash, 1), -ENOENT);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	epoch_stacks_clear(f.stacks);
	assert_int_equal(epoch_stacks_count(f.stacks, &record.stack.hash, 1), -ENOENT);
	teardown(&f);
}

/* The ns of the tally's entries with that leaf. */
static uint64_t ns_of(const struct tally *tally, enum off_cpu_leaf leaf)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tally_n_entries(tally); i++) {
		const struct tally_entry *entry = &tally_entries(tally)[i];
		const struct tally_stack *kernel = &tally_stacks(tally)[entry->kernel];
		uint32_t first = tally_frames(tally, kernel)[0];

		assert_true(tally_off_cpu_frames(tally, kernel));
		assert_int_equal(kernel->n_frames, 1 + KERNEL_FRAMES);
		assert_false(tally_off_cpu_frames(tally, &tally_stacks(tally)[entry->user]));
		if (tally_addresses(tally)[first].address == off_cpu_leaf_address(leaf))
			sum += entry->count;
	}
	return sum;
}

static void flush_times(struct fixture *f)
{
	uint64_t count, unwanted;

	assert_int_equal(epoch_stacks_flush(f->stacks, f->tally, &count, &unwanted), 0);
}

static void times_have_leaves(void **state)
{
	struct record record = record_of("ls", 0x1000);
	struct fixture f;

	(void)state;
	setup_options(&f, (struct epoch_stacks_options){ 0 });
	assert_int_equal(epoch_stacks_time(f.stacks, &record.stack.hash, 1, 0), -ENOENT);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &record.stack.hash, 42), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &record.stack.hash, 1000, 20), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &record.stack.hash, 500, 0), 0);
	flush_times(&f);
	flush_times(&f); /* each ns is added once */
	assert_int_equal(tally_n_entries(f.tally), 2);
	assert_int_equal(ns_of(f.tally, OFF_CPU_LEAF_BLOCKED), 1500);
	assert_int_equal(ns_of(f.tally, OFF_CPU_LEAF_WAITING), 20);
	teardown(&f);
}

/* That of a thread that was found asleep, until it leaves a CPU with another stack. */
static void sleepers_have_a_leaf_of_their_own(void **state)
{
	struct record record = record_of("ls", 0x1000);
	struct fixture f;

	(void)state;
	setup_options(&f, (struct epoch_stacks_options){ 0 });
	record.stack.flags |= WIRE_STACK_ASLEEP;
	assert_int_equal(epoch_stacks_enter(f.stacks, f.tally, &record.stack, record.frames, 0), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &record.stack.hash, 1000, 20), 0);
	flush_times(&f);
	assert_int_equal(ns_of(f.tally, OFF_CPU_LEAF_ASLEEP), 1000);
	assert_int_equal(ns_of(f.tally, OFF_CPU_LEAF_BLOCKED), 0);
	assert_int_equal(ns_of(f.tally, OFF_CPU_LEAF_WAITING), 20);
	for (uint32_t i = 0; i < tally_n_entries(f.tally); i++) {
		const struct tally_entry *entry = &tally_entries(f.tally)[i];

		assert_int_equal(tally_is_asleep(f.tally, &tally_stacks(f.tally)[entry->kernel]),
				 entry->count == 1000);
	}
	teardown(&f);
}

/* A time that is taken back before it was counted is subtracted from later ones. */
static void times_that_are_taken_back_are_kept(void **state)
{
	struct record record = record_of("ls", 0x1000);
	struct fixture f;

	(void)state;
	setup_options(&f, (struct epoch_stacks_options){ 0 });
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &record.stack.hash, -300, 0), 0);
	flush_times(&f);
	assert_int_equal(tally_n_entries(f.tally), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(epoch_stacks_keep(f.stacks), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &record.stack.hash, 1000, 0), 0);
	flush_times(&f);
	assert_int_equal(ns_of(f.tally, OFF_CPU_LEAF_BLOCKED), 700);
	teardown(&f);
}

static void keeps_timed_stacks(uint32_t epochs_before)
{
	struct record early = record_of("ls", 0x1000), held = record_of("ls", 0x2000),
		      late = record_of("cat", 0x3000);
	struct fixture f;

	setup_options(&f, (struct epoch_stacks_options){ 0 });
	f.stacks->cleared = epochs_before;
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &early, sizeof(early)), 0);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &held, sizeof(held)), 0);
	assert_int_equal(epoch_stacks_n(f.stacks), 2);
	assert_int_equal(epoch_stacks_keep(f.stacks), 0);
	assert_int_equal(epoch_stacks_n(f.stacks), 0);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &late, sizeof(late)), 0);
	assert_int_equal(epoch_stacks_n(f.stacks), 1);
	/* A time of an absence that ended after the epoch of its stack. */
	assert_int_equal(epoch_stacks_time(f.stacks, &early.stack.hash, 10, 0), 0);
	flush_times(&f);
	epoch_stacks_hold(f.stacks, &held.stack.hash);
	assert_int_equal(epoch_stacks_keep(f.stacks), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &early.stack.hash, 10, 0), -ENOENT);
	assert_int_equal(epoch_stacks_time(f.stacks, &held.stack.hash, 10, 0), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &late.stack.hash, 100, 0), 0);
	flush_times(&f);
	/* A call that ended while the next epoch was drained: its stack was not held again. */
	assert_int_equal(epoch_stacks_keep(f.stacks), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &held.stack.hash, 1000, 0), 0);
	flush_times(&f);
	assert_int_equal(epoch_stacks_keep(f.stacks), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &held.stack.hash, 10, 0), -ENOENT);
	assert_int_equal(ns_of(f.tally, OFF_CPU_LEAF_BLOCKED), 1120);
	for (uint32_t i = 0; i < tally_n_entries(f.tally); i++) {
		const struct tally_entry *entry = &tally_entries(f.tally)[i];
		uint32_t leaf = tally_frames(f.tally, &tally_stacks(f.tally)[entry->user])[0];

		assert_int_equal(tally_addresses(f.tally)[leaf].address,
				 strcmp(entry->comm, "cat") == 0 ? 0x3000
				 : i == 0			 ? 0x1000
								 : 0x2000);
	}
	teardown(&f);
}

static void timed_stacks_are_kept_as_long_as_their_times_may_come(void **state)
{
	(void)state;
	keeps_timed_stacks(0);
	/* After years, the number of epochs begins again at 0. */
	for (uint32_t left = 0; left < 4; left++)
		keeps_timed_stacks(UINT32_MAX - left);
}

static void samples_beside_times_stand_for_ns(void **state)
{
	struct record record = record_of("ls", 0x1000);
	struct fixture f;

	(void)state;
	setup_options(&f, (struct epoch_stacks_options){ .of_sample = 1000 });
	record.stack.flags = WIRE_STACK_SAMPLED;
	seal(&record);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &record, sizeof(record)), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &record.stack.hash, 3), 0);
	flush_times(&f);
	flush_times(&f);
	assert_int_equal(tally_n_entries(f.tally), 1);
	assert_int_equal(tally_total(f.tally), 3000);
	assert_int_equal(tally_off_cpu_frames(
				 f.tally, &tally_stacks(f.tally)[tally_entries(f.tally)[0].kernel]),
			 0);
	teardown(&f);
}

/* Of the kernel's functions in records, the second is an interrupt's entry. */
static bool find_entry(void *context, uint64_t address, struct kernel_symbol *ret_symbol)
{
	(void)context;
	memset(ret_symbol, 0, sizeof(*ret_symbol));
	strcpy(ret_symbol->name, address == 0xffffffff810000ff ? "asm_sysvec_apic_timer_interrupt"
							       : "hrtimer_interrupt");
	return true;
}

/* The frames of the first entry's kernel stack. */
static uint32_t kernel_frames(const struct fixture *f, uint64_t *ret_addresses)
{
	const struct tally_entry *entry = &tally_entries(f->tally)[0];
	const struct tally_stack *kernel = &tally_stacks(f->tally)[entry->kernel];

	for (uint32_t i = 0; i < kernel->n_frames; i++)
		ret_addresses[i] =
			tally_addresses(f->tally)[tally_frames(f->tally, kernel)[i]].address;
	return kernel->n_frames;
}

static void a_waker_follows_the_stack_it_woke(void **state)
{
	struct record sleeper = record_of("ls", 0x1000), waker = record_of("cat", 0x4000);
	struct epoch_stacks_options options = { .kernel_depth = 10, .name = "ls" };
	uint64_t frames[20];
	struct fixture f;

	(void)state;
	assert_int_equal(scripts_new(&options.scripts), 0);
	setup_options(&f, options);
	waker.stack.flags = WIRE_STACK_WAKER;
	waker.stack.end = WIRE_END_READ;
	seal(&waker);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &sleeper, sizeof(sleeper)), 0);
	assert_int_equal(epoch_stacks_woken(f.stacks, &sleeper.stack.hash, &waker.stack.hash, 5),
			 -ENOENT);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &waker, sizeof(waker)), 0);
	assert_int_equal(epoch_stacks_woken(f.stacks, &sleeper.stack.hash, &waker.stack.hash, 5),
			 0);
	assert_int_equal(epoch_stacks_woken(f.stacks, &sleeper.stack.hash, &waker.stack.hash, -7),
			 0);
	flush_times(&f);
	assert_int_equal(tally_n_entries(f.tally), 0);
	/* A negative time is kept, with both stacks. */
	for (int i = 0; i < 4; i++)
		assert_int_equal(epoch_stacks_keep(f.stacks), 0);
	assert_int_equal(epoch_stacks_woken(f.stacks, &sleeper.stack.hash, &waker.stack.hash, 12),
			 0);
	flush_times(&f);
	assert_int_equal(tally_n_entries(f.tally), 1);
	assert_int_equal(tally_total(f.tally), 10);
	assert_string_equal(tally_entries(f.tally)[0].comm, "ls");
	/* The name, why the walk ended, both stacks of the waker from the root on, marks, leaf
	 * first. */
	assert_int_equal(kernel_frames(&f, frames),
			 2 + USER_FRAMES + KERNEL_FRAMES + 2 + KERNEL_FRAMES);
	assert_true(script_is_waker(frames[0]));
	assert_int_equal(frames[1], off_cpu_leaf_address(OFF_CPU_WAKER_END + WIRE_END_READ));
	assert_int_equal(frames[2], 0x3000);
	assert_int_equal(frames[4], 0x4000);
	assert_int_equal(frames[5], 0xffffffff81000100);
	assert_int_equal(frames[6], 0xffffffff81000000);
	assert_int_equal(frames[7], off_cpu_leaf_address(OFF_CPU_LEAF_WOKEN));
	assert_int_equal(frames[8], off_cpu_leaf_address(OFF_CPU_LEAF_BLOCKED));
	assert_int_equal(frames[9], 0xffffffff81000000);
	assert_int_equal(tally_off_cpu_frames(
				 f.tally, &tally_stacks(f.tally)[tally_entries(f.tally)[0].kernel]),
			 9);
	teardown(&f);
	scripts_free(options.scripts);
}

static void an_interrupt_is_a_waker_without_a_task(void **state)
{
	struct record sleeper = record_of("ls", 0x1000), waker = record_of("cat", 0x4000);
	struct epoch_stacks_options options = { .kernel_depth = 10 };
	uint64_t frames[20];
	struct fixture f;

	(void)state;
	assert_int_equal(interrupt_frames_new(find_entry, NULL, &options.interrupts), 0);
	setup_options(&f, options);
	waker.stack.flags = WIRE_STACK_WAKER;
	seal(&waker);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &sleeper, sizeof(sleeper)), 0);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &waker, sizeof(waker)), 0);
	assert_int_equal(epoch_stacks_woken(f.stacks, &sleeper.stack.hash, &waker.stack.hash, 5),
			 0);
	flush_times(&f);
	/* Only its own frames: neither the interrupted function nor the task's. */
	assert_int_equal(kernel_frames(&f, frames), 1 + KERNEL_FRAMES + 2 + KERNEL_FRAMES);
	assert_int_equal(frames[0], off_cpu_leaf_address(OFF_CPU_WAKER_TIMER));
	assert_int_equal(frames[1], 0xffffffff81000100);
	assert_int_equal(frames[2], 0xffffffff81000000);
	assert_int_equal(frames[3], off_cpu_leaf_address(OFF_CPU_LEAF_WOKEN));
	teardown(&f);
	interrupt_frames_free(options.interrupts);
}

static void a_stack_that_was_not_read_says_so(void **state)
{
	struct record record = record_of("ls", 0x1000);
	uint64_t frames[20];
	struct fixture f;

	(void)state;
	setup_options(&f, (struct epoch_stacks_options){ 0 });
	record.stack.flags = WIRE_STACK_UNREAD;
	record.stack.n_kernel = record.stack.n_user = 0;
	assert_int_equal(epoch_stacks_enter(f.stacks, f.tally, &record.stack, NULL, 0), 0);
	assert_int_equal(epoch_stacks_time(f.stacks, &record.stack.hash, 5, 0), 0);
	flush_times(&f);
	assert_int_equal(kernel_frames(&f, frames), 2);
	assert_int_equal(frames[0], off_cpu_leaf_address(OFF_CPU_LEAF_BLOCKED));
	assert_int_equal(frames[1], off_cpu_leaf_address(OFF_CPU_LEAF_UNREAD));
	teardown(&f);
}

static void a_wrong_size_or_hash_is_refused(void **state)
{
	const struct record good = record_of("ls", 0x1000);
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	for (size_t i = offsetof(struct wire_stack, image); i < sizeof(good); i++) {
		struct record bad = good;

		((unsigned char *)&bad)[i] ^= 0x10;
		assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &bad, sizeof(bad)), -EPROTO);
	}
	for (size_t size = 0; size < sizeof(good); size++)
		assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &good, size), -EPROTO);
	assert_int_equal(epoch_stacks_n(f.stacks), 0);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &good, sizeof(good)), 0);
	teardown(&f);
}

/* Stacks that the finisher completed come with their own count. */
static void added_stacks_are_one_event_each(void **state)
{
	struct record wanted = record_of("nginx", 0x1000), other = record_of("bash", 0x1000);
	uint64_t count = 0, unwanted = 0;
	const struct tally_entry *entry;
	struct fixture f;

	(void)state;
	setup(&f, "nginx*");
	wanted.stack.end = WIRE_END_COMPLETE;
	wanted.stack.flags = WIRE_STACK_ASSUMED;
	wanted.frames[KERNEL_FRAMES + 1] |= WIRE_FRAME_EXACT;
	wanted.frames[KERNEL_FRAMES + 2] |= WIRE_FRAME_POINTER;
	seal(&wanted);
	assert_int_equal(epoch_stacks_take(f.stacks, f.tally, &wanted, sizeof(wanted)), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(epoch_stacks_add(f.stacks, f.tally, &wanted.stack, wanted.frames),
				 0);
	assert_int_equal(epoch_stacks_add(f.stacks, f.tally, &other.stack, other.frames), 0);
	assert_int_equal(tally_n_entries(f.tally), 0);
	/* With the same stack counted by its hash they make one entry. */
	assert_int_equal(epoch_stacks_count(f.stacks, &wanted.stack.hash, 100), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	assert_int_equal(count, 104);
	assert_int_equal(unwanted, 1);
	assert_int_equal(tally_n_entries(f.tally), 1);
	entry = tally_entries(f.tally);
	assert_int_equal(entry->count, 103);
	assert_int_equal(tally_stacks(f.tally)[entry->user].flags,
			 TALLY_STACK_ENDED(WIRE_END_COMPLETE) | TALLY_STACK_ASSUMED);
	for (uint32_t i = 0; i < USER_FRAMES; i++) {
		const uint32_t *frames = tally_frames(f.tally, &tally_stacks(f.tally)[entry->user]);
		const struct tally_address *address = &tally_addresses(f.tally)[frames[i]];

		assert_int_equal(address->address, 0x1000 * (i + 1));
		assert_int_equal(address->flags,
				 i < 2 ? TALLY_ADDRESS_EXACT : TALLY_ADDRESS_CHAINED);
	}
	epoch_stacks_clear(f.stacks);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	assert_int_equal(count + unwanted, 0);
	teardown(&f);
}

/* A handler returns to the first byte of a trampoline, where no call stands before. */
static void trampolines_of_signals_are_instructions(void **state)
{
	struct record record = record_of("nginx", 0x1000);
	const uint32_t *frames;
	uint64_t count, unwanted;
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	record.frames[KERNEL_FRAMES + 2] |= WIRE_FRAME_EXACT;
	seal(&record);
	assert_int_equal(epoch_stacks_add(f.stacks, f.tally, &record.stack, record.frames), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	frames = tally_frames(f.tally, &tally_stacks(f.tally)[tally_entries(f.tally)->user]);
	assert_true(USER_FRAMES >= 3);
	for (uint32_t i = 0; i < USER_FRAMES; i++)
		assert_int_equal(tally_addresses(f.tally)[frames[i]].flags,
				 i < 3 ? TALLY_ADDRESS_EXACT : 0);
	teardown(&f);
}

/* makecontext() has functions return to the first byte of a stub, where no call stands before. */
static void stubs_at_the_root_are_instructions(void **state)
{
	struct record record = record_of("nginx", 0x1000);
	const uint32_t *frames;
	uint64_t count, unwanted;
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	record.stack.end = WIRE_END_ENTRY;
	seal(&record);
	assert_int_equal(epoch_stacks_add(f.stacks, f.tally, &record.stack, record.frames), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	frames = tally_frames(f.tally, &tally_stacks(f.tally)[tally_entries(f.tally)->user]);
	for (uint32_t i = 0; i < USER_FRAMES; i++)
		assert_int_equal(tally_addresses(f.tally)[frames[i]].flags,
				 i == 0 || i + 1 == USER_FRAMES ? TALLY_ADDRESS_EXACT : 0);
	teardown(&f);
}

/* Counts and times may be added to a stack that was entered, in the epochs to come, too. */
static void entered_stacks_are_known_by_their_hash(void **state)
{
	struct record record = record_of("ls", 0x1000);
	uint64_t count = 0, unwanted = 0;
	struct fixture f;

	(void)state;
	setup(&f, NULL);
	assert_int_equal(epoch_stacks_enter(f.stacks, f.tally, &record.stack, record.frames, 5), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &record.stack.hash, 2), 0);
	assert_int_equal(epoch_stacks_flush(f.stacks, f.tally, &count, &unwanted), 0);
	assert_int_equal(count, 7);
	assert_int_equal(tally_total(f.tally), 7);
	assert_int_equal(epoch_stacks_keep(f.stacks), 0);
	assert_int_equal(epoch_stacks_count(f.stacks, &record.stack.hash, 2), 0);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_finds_its_stack),
		cmocka_unit_test(frames_of_a_chain_have_no_marks),
		cmocka_unit_test(stacks_without_room_are_lost),
		cmocka_unit_test(only_leaves_are_exact),
		cmocka_unit_test(functions_that_may_be_of_other_frames_are_not_told),
		cmocka_unit_test(functions_of_another_language_are_told),
		cmocka_unit_test(names_are_filtered_with_wildcards),
		cmocka_unit_test(a_hash_without_a_stack_is_an_error),
		cmocka_unit_test(a_wrong_size_or_hash_is_refused),
		cmocka_unit_test(times_have_leaves),
		cmocka_unit_test(sleepers_have_a_leaf_of_their_own),
		cmocka_unit_test(times_that_are_taken_back_are_kept),
		cmocka_unit_test(timed_stacks_are_kept_as_long_as_their_times_may_come),
		cmocka_unit_test(samples_beside_times_stand_for_ns),
		cmocka_unit_test(a_waker_follows_the_stack_it_woke),
		cmocka_unit_test(an_interrupt_is_a_waker_without_a_task),
		cmocka_unit_test(a_stack_that_was_not_read_says_so),
		cmocka_unit_test(added_stacks_are_one_event_each),
		cmocka_unit_test(trampolines_of_signals_are_instructions),
		cmocka_unit_test(stubs_at_the_root_are_instructions),
		cmocka_unit_test(entered_stacks_are_known_by_their_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
