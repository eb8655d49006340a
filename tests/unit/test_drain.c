// SPDX-License-Identifier: GPL-2.0-or-later
/* Records and counts on their way into the tally, by both gauges' ways to keep stacks. */
#include <errno.h>
#include <stdlib.h>

#include "made_ring.h"

#include "base/clock.h"
#include "bpf/stack_hash.h"
#include "drain/drain.h"
#include "gauge/gauge.h"
#include "tally/scripts.h"

#define SETS 4u
#define RING (8u << 20)

static const __u64 seed[2] = { 5, 7 };

struct fixture {
	struct plan plan;
	struct images *images;
	struct scripts *scripts;
	struct tally *tally;
	struct made_ring ring;
	struct wire_counts counts[SETS * WIRE_EPOCHS];
	volatile uint32_t epoch;
	struct epochs *epochs;
	struct drain *drain;
};

static void setup(struct fixture *f, const struct gauge_ops *gauge)
{
	struct drain_options options = { .plan = &f->plan, .keeping = &gauge->keeping };

	memset(f, 0, sizeof(*f));
	memcpy(options.seed, seed, sizeof(seed));
	f->ring = made_ring_open(RING);
	assert_int_equal(images_new(&(struct images_options){ 0 }, &f->images), 0);
	assert_int_equal(scripts_new(&f->scripts), 0);
	assert_int_equal(tally_new(0, 0, &f->tally), 0);
	assert_int_equal(epochs_new(f->counts, SETS, &f->epoch, &f->epochs), 0);
	options.images = f->images;
	options.scripts = f->scripts;
	options.epochs = f->epochs;
	options.ring = f->ring.fd;
	options.ring_size = f->ring.size;
	options.epoch_stacks = 16384;
	assert_int_equal(drain_new(&options, &f->drain, NULL), 0);
	drain_into(f->drain, f->tally);
}

static void teardown(struct fixture *f)
{
	drain_free(f->drain);
	epochs_free(f->epochs);
	tally_free(f->tally);
	scripts_free(f->scripts);
	images_free(f->images);
	made_ring_close(&f->ring);
}

/* A stack of one kernel frame. */
struct record {
	struct wire_stack stack;
	uint64_t frame;
};

static struct record record_of(enum wire_kind kind, uint32_t epoch, uint64_t frame)
{
	struct record record = {
		.stack = { .time = 1, .kind = kind, .epoch = epoch, .n_kernel = 1, .comm = "ls" },
		.frame = frame,
	};

	record.stack.hash =
		stack_hash_of(seed, &record.stack.image, (sizeof(record) - WIRE_HASH_FROM) / 8);
	return record;
}

static void put(const struct fixture *f, const struct record *record)
{
	made_ring_put(&f->ring, record, sizeof(*record));
}

static int consume(struct fixture *f)
{
	struct error err = { 0 };

	return drain_consume(f->drain, UINT64_MAX, &err);
}

/* Drains an epoch; the number of its events. */
static uint64_t drain_epoch(struct fixture *f, uint32_t epoch)
{
	uint64_t count = 0, unwanted = 0;
	struct error err = { 0 };

	assert_int_equal(drain_take_epoch(f->drain, epoch, (struct unwind_limit){ 0 }, &err), 0);
	assert_int_equal(drain_flush(f->drain, epoch, &count, &unwanted, &err), 0);
	assert_int_equal(unwanted, 0);
	return count;
}

static void stacks_events_and_counts_become_entries(void **state)
{
	struct record counted = record_of(WIRE_KIND_STACK, 0, 0xffffffff81000000);
	struct record event = record_of(WIRE_KIND_EVENT, 0, 0xffffffff81000100);
	struct wire_count evicted = {
		.hash = counted.stack.hash, .count = 30, .epoch = 0, .kind = WIRE_KIND_COUNT
	};
	struct fixture f;

	(void)state;
	setup(&f, &gauge_counts);
	put(&f, &counted);
	put(&f, &event);
	put(&f, &event);
	made_ring_put(&f.ring, &evicted, sizeof(evicted));
	f.counts[1].low[0] = counted.stack.hash.low;
	f.counts[1].high[0] = counted.stack.hash.high;
	f.counts[1].count[0] = 12;
	assert_int_equal(consume(&f), 0);
	assert_int_equal(tally_n_entries(f.tally), 0);
	assert_int_equal(drain_epoch(&f, 0), 44);
	assert_true(made_ring_is_empty(&f.ring));
	assert_int_equal(tally_n_entries(f.tally), 2);
	assert_int_equal(tally_total(f.tally), 44);
	assert_int_equal(drain_epoch(&f, 0), 0);
	teardown(&f);
}

/* Of events, each epoch has its own stacks; where times come later, they outlive it. */
static void stacks_live_as_long_as_the_gauge_says(void **state)
{
	struct record first = record_of(WIRE_KIND_STACK, 0, 0xffffffff81000000);
	struct wire_count late = {
		.hash = first.stack.hash, .count = 3, .epoch = 1, .kind = WIRE_KIND_COUNT
	};
	struct fixture f;

	(void)state;
	for (int times = 0; times < 2; times++) {
		setup(&f, times ? &gauge_times : &gauge_counts);
		put(&f, &first);
		made_ring_put(&f.ring, &late, sizeof(late));
		assert_int_equal(consume(&f), times ? 0 : -ENOENT);
		if (times) {
			drain_epoch(&f, 0);
			assert_int_equal(epoch_stacks_time(stack_sets_of(drain_stacks(f.drain), 1),
							   &first.stack.hash, 900, 0),
					 0);
			assert_int_equal(drain_epoch(&f, 1), 0);
			assert_int_equal(tally_total(f.tally), 900);
		}
		teardown(&f);
	}
}

struct taken {
	uint32_t n;
	size_t size;
	int result;
};

static int take(void *context, const void *record, size_t size)
{
	struct taken *taken = context;

	(void)record;
	taken->n++;
	taken->size = size;
	return taken->result;
}

static void kinds_have_takers(void **state)
{
	const struct {
		struct wire_count head;
		uint64_t rest[4];
	} time = { .head = { .kind = WIRE_KIND_TIME } }, unknown = { .head = { .kind = 77 } };
	struct taken taken = { 0 };
	struct fixture f;

	(void)state;
	/* Nobody takes times where events are counted, nor kinds that there are not. */
	for (int i = 0; i < 4; i++) {
		setup(&f, &gauge_counts);
		if (i == 1)
			made_ring_put(&f.ring, &unknown, sizeof(unknown));
		else if (i == 2)
			made_ring_put(&f.ring, &time, sizeof(time.head) - 8);
		else
			made_ring_put(&f.ring, &time, i == 3 ? sizeof(time.head) : sizeof(time));
		if (i > 1)
			drain_set_taker(f.drain, WIRE_KIND_TIME,
					&(struct record_taker){ sizeof(time), take, &taken });
		assert_int_equal(consume(&f), -EPROTO);
		assert_int_equal(taken.n, 0);
		teardown(&f);
	}
	setup(&f, &gauge_counts);
	drain_set_taker(f.drain, WIRE_KIND_TIME,
			&(struct record_taker){ sizeof(time), take, &taken });
	made_ring_put(&f.ring, &time, sizeof(time));
	made_ring_put(&f.ring, &time, sizeof(time));
	assert_int_equal(consume(&f), 0);
	assert_int_equal(taken.n, 2);
	assert_int_equal(taken.size, sizeof(time));
	taken.result = -ENOMEM;
	made_ring_put(&f.ring, &time, sizeof(time));
	assert_int_equal(consume(&f), -ENOMEM);
	teardown(&f);
}

static void a_stack_without_its_frames_is_refused(void **state)
{
	struct record record = record_of(WIRE_KIND_STACK, 0, 0xffffffff81000000);
	struct fixture f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		setup(&f, &gauge_counts);
		made_ring_put(&f.ring, &record,
			      i ? sizeof(record.stack) : sizeof(record.stack) - 8);
		assert_int_equal(consume(&f), -EPROTO);
		teardown(&f);
	}
}

/* The walks that lacked a table are only sent where there are tables. */
static void a_walk_is_not_finished_without_tables(void **state)
{
	struct record record = record_of(WIRE_KIND_UNFINISHED, 0, 0x1000);
	struct fixture f;

	(void)state;
	setup(&f, &gauge_counts);
	put(&f, &record);
	assert_int_equal(consume(&f), -EPROTO);
	teardown(&f);
}

static void a_full_epoch_leaves_the_rest_in_the_ring(void **state)
{
	struct fixture f;
	uint32_t n = 0;

	(void)state;
	setup(&f, &gauge_counts);
	for (; n < 20000; n++) {
		struct record record = record_of(WIRE_KIND_EVENT, 0, 0xffffffff81000000 + n);

		put(&f, &record);
	}
	assert_false(drain_is_full(f.drain));
	assert_int_equal(consume(&f), 0);
	assert_true(drain_is_full(f.drain));
	assert_false(made_ring_is_empty(&f.ring));
	/* An epoch that has ended is taken whole. */
	assert_int_equal(drain_epoch(&f, 0), n);
	assert_false(drain_is_full(f.drain));
	assert_true(made_ring_is_empty(&f.ring));
	teardown(&f);
}

static void the_end_leaves_the_rest_in_the_ring(void **state)
{
	struct record record = record_of(WIRE_KIND_STACK, 0, 0xffffffff81000000);
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	setup(&f, &gauge_counts);
	for (int i = 0; i < 100; i++)
		put(&f, &record);
	assert_int_equal(drain_consume(f.drain, monotonic_ns(), &err), 0);
	assert_false(made_ring_is_empty(&f.ring));
	assert_int_equal(consume(&f), 0);
	assert_true(made_ring_is_empty(&f.ring));
	teardown(&f);
}

static void a_count_without_a_stack_is_an_error(void **state)
{
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	setup(&f, &gauge_counts);
	f.counts[SETS].low[0] = 99;
	f.counts[SETS].count[0] = 1;
	drain_epoch(&f, 0);
	assert_int_equal(drain_take_epoch(f.drain, 1, (struct unwind_limit){ 0 }, &err), -EPROTO);
	assert_string_equal(err.text, "a stack was counted that was never sent");
	teardown(&f);
}

/* What is forgotten are addresses of the tally and images; stacks of the epoch stay. */
static void forgetting_keeps_the_stacks_of_the_epoch(void **state)
{
	struct record record = record_of(WIRE_KIND_EVENT, 0, 0xffffffff81000000);
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	for (int times = 0; times < 2; times++) {
		setup(&f, times ? &gauge_times : &gauge_counts);
		put(&f, &record);
		assert_int_equal(consume(&f), 0);
		assert_int_equal(drain_forget(f.drain, f.tally, &err), 0);
		assert_int_equal(tally_n_addresses(f.tally), 0);
		assert_int_equal(drain_epoch(&f, 0), 1);
		assert_int_equal(tally_total(f.tally), times ? 0 : 1);
		teardown(&f);
	}
}

/* An image is kept as long as a stack that may still be counted refers to it. */
static void forgetting_drops_images_without_stacks(void **state)
{
	struct record record = { .stack = { .time = monotonic_ns(),
					    .kind = WIRE_KIND_EVENT,
					    .image = 1,
					    .tgid = (uint32_t)getpid(),
					    .n_user = 1,
					    .comm = "ls" },
				 .frame = (uint64_t)(uintptr_t)consume };
	struct error err = { 0 };
	struct fixture f;
	uint32_t n;

	(void)state;
	record.stack.hash =
		stack_hash_of(seed, &record.stack.image, (sizeof(record) - WIRE_HASH_FROM) / 8);
	setup(&f, &gauge_counts);
	n = images_n(f.images);
	put(&f, &record);
	assert_int_equal(consume(&f), 0);
	assert_int_equal(images_n(f.images), n + 1);
	assert_int_equal(drain_forget(f.drain, f.tally, &err), 0);
	assert_int_equal(images_n(f.images), n + 1);
	assert_int_equal(drain_epoch(&f, 0), 1);
	assert_int_equal(tally_addresses(f.tally)[0].image, n);
	assert_int_equal(drain_forget(f.drain, f.tally, &err), 0);
	assert_int_equal(images_n(f.images), n);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_events_and_counts_become_entries),
		cmocka_unit_test(stacks_live_as_long_as_the_gauge_says),
		cmocka_unit_test(kinds_have_takers),
		cmocka_unit_test(a_stack_without_its_frames_is_refused),
		cmocka_unit_test(a_walk_is_not_finished_without_tables),
		cmocka_unit_test(a_full_epoch_leaves_the_rest_in_the_ring),
		cmocka_unit_test(the_end_leaves_the_rest_in_the_ring),
		cmocka_unit_test(a_count_without_a_stack_is_an_error),
		cmocka_unit_test(forgetting_keeps_the_stacks_of_the_epoch),
		cmocka_unit_test(forgetting_drops_images_without_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
