/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel side without a kernel: takes the places of the loader's functions (loader/kernel_side.h,
 * loader/prepare.h, loader/interpreted.h) and of drain/grace_period.h in the whole program, so the
 * loop above and the drain below run without root. A test has it "capture" events; what the loop
 * did to it is in `kernel`.
 *
 * A function that one of these headers gets needs its twin here: without it the linker takes the
 * real ones as well, and calls all of them multiply defined.
 */
#ifndef STACKTALLY_TESTS_FAKE_LOADER_H
#define STACKTALLY_TESTS_FAKE_LOADER_H

#include "made_ring.h"

#include "bpf/stack_hash.h"
#include "drain/grace_period.h"
#include "loader/interpreted.h"
#include "loader/kernel_side.h"
#include "loader/prepare.h"

#define FAKE_SETS 4u
#define FAKE_RING (8u << 20)

static struct {
	/* What a test may set before a session is opened. */
	int load_fails;	      /* a negative errno */
	uint32_t limit_stays; /* of the sysctl that cannot be restored */
	uint32_t late;	      /* events of programs that still run when they are disarmed */
	/* What is there, and what was done. */
	struct made_ring ring;
	struct wire_counts counts[FAKE_SETS * WIRE_EPOCHS];
	volatile uint32_t epoch;
	struct wire_counters counters;
	__u64 seed[2];
	bool open, armed;
	uint32_t n_grace; /* grace periods that were waited for */
	pid_t command;	  /* that counts from its exec on */
} kernel;

struct fake_record {
	struct wire_stack stack;
	uint64_t frame;
};

/* A stack of one kernel frame, in the current epoch. */
static inline struct fake_record fake_record(enum wire_kind kind, uint64_t frame)
{
	struct fake_record record = {
		.stack = { .time = 1,
			   .kind = kind,
			   .epoch = kernel.epoch,
			   .n_kernel = 1,
			   .comm = "fake" },
		.frame = frame,
	};

	record.stack.hash = stack_hash_of(kernel.seed, &record.stack.image,
					  (sizeof(record) - WIRE_HASH_FROM) / 8);
	return record;
}

/* So many events, each of a stack of its own, that are in no set of counts. */
static inline void fake_events(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct fake_record record =
			fake_record(WIRE_KIND_EVENT, 0xffffffff81000000 + 16 * i);

		made_ring_put(&kernel.ring, &record, sizeof(record));
	}
	kernel.counters.events += n;
}

/* So many events of one stack, in a set of counts. */
static inline void fake_counts(uint32_t n)
{
	struct fake_record record = fake_record(WIRE_KIND_STACK, 0xffffffff82000000);
	struct wire_counts *set = &kernel.counts[kernel.epoch * FAKE_SETS];

	made_ring_put(&kernel.ring, &record, sizeof(record));
	set->low[0] = record.stack.hash.low;
	set->high[0] = record.stack.hash.high;
	set->count[0] += n;
	kernel.counters.events += n;
}

/* ---- loader/kernel_side.h ---- */

int kernel_side_open(const struct plan *plan, struct trigger *trigger, uint32_t max_stack,
		     struct kernel_side *ret_side, struct error *err)
{
	(void)plan, (void)trigger, (void)max_stack, (void)err;
	memset(kernel.counts, 0, sizeof(kernel.counts));
	memset(&kernel.counters, 0, sizeof(kernel.counters));
	kernel.epoch = kernel.n_grace = 0;
	kernel.ring = made_ring_open(FAKE_RING);
	kernel.open = true;
	*ret_side = KERNEL_SIDE_NONE;
	ret_side->counts = kernel.counts;
	ret_side->n_sets = FAKE_SETS;
	ret_side->ring_size = FAKE_RING;
	ret_side->epoch_stacks = 16384;
	memcpy(ret_side->seed, kernel.seed, sizeof(kernel.seed));
	return 0;
}

int kernel_side_load(struct kernel_side *side, struct error *err)
{
	if (kernel.load_fails < 0)
		return error_set(err, kernel.load_fails, "cannot load");
	return epochs_new(kernel.counts, FAKE_SETS, &kernel.epoch, &side->epochs);
}

void kernel_side_close(struct kernel_side *side)
{
	epochs_free(side->epochs);
	if (kernel.open)
		made_ring_close(&kernel.ring);
	kernel.open = false;
	*side = KERNEL_SIDE_NONE;
}

int kernel_side_unwind_maps(const struct kernel_side *side, struct unwind_maps **ret_maps,
			    struct error *err)
{
	(void)side, (void)ret_maps;
	return error_set(err, -EOPNOTSUPP, "no tables here");
}

int kernel_side_filter(struct kernel_side *side, const struct plan *plan, pid_t command,
		       struct error *err)
{
	(void)side, (void)plan, (void)err;
	kernel.command = command;
	return 0;
}

int kernel_side_tgids(const struct kernel_side *side)
{
	(void)side;
	return -1;
}

int kernel_side_cgroups(const struct kernel_side *side)
{
	(void)side;
	return -1;
}

void kernel_side_cgroup_changes(const struct kernel_side *side, uint64_t *ret_changes,
				uint64_t *ret_lost)
{
	(void)side;
	*ret_changes = *ret_lost = 0;
}

int kernel_side_attach(struct kernel_side *side, struct trigger *trigger, struct error *err)
{
	(void)side;
	return trigger->ops->attach(trigger, NULL, err);
}

bool kernel_side_lookup(const struct kernel_side *side, struct kernel_lookup *ret_lookup)
{
	(void)side, (void)ret_lookup;
	return false;
}

void kernel_side_arm(struct kernel_side *side, bool armed)
{
	(void)side;
	if (kernel.armed && !armed)
		fake_events(kernel.late);
	kernel.armed = armed;
}

uint64_t kernel_side_misses(const struct kernel_side *side)
{
	(void)side;
	return 0;
}

int kernel_side_java(struct kernel_side *side)
{
	return side->java;
}

int kernel_side_ring(const struct kernel_side *side)
{
	(void)side;
	return kernel.ring.fd;
}

volatile struct wire_orc *kernel_side_orc(const struct kernel_side *side)
{
	(void)side;
	return NULL;
}

void kernel_side_write_modules(const struct kernel_side *side)
{
	(void)side;
}

uint64_t kernel_side_own_events(const struct kernel_side *side)
{
	(void)side;
	return 0;
}

int kernel_side_counters(const struct kernel_side *side, struct wire_counters *ret_counters,
			 struct clock_count *fired)
{
	(void)side, (void)fired;
	*ret_counters = kernel.counters;
	return 0;
}

/* ---- loader/prepare.h ---- */

int prepare_machine(const struct plan *plan, struct prepared *ret_prepared, struct error *err)
{
	(void)plan, (void)err;
	ret_prepared->max_stack = 127;
	return 0;
}

void prepare_descriptors(void)
{
}

uint32_t prepare_restore(const struct prepared *prepared)
{
	(void)prepared;
	return kernel.limit_stays;
}

/* ---- loader/interpreted.h ---- */

void interpreted_walk(struct walkers *walkers, const struct kernel_side *side,
		      struct trigger *trigger, uint32_t languages)
{
	(void)walkers, (void)side, (void)trigger, (void)languages;
}

bool interpreted_are_loading(const struct walkers *walkers)
{
	(void)walkers;
	return false;
}

void interpreted_await(struct walkers *walkers)
{
	(void)walkers;
}

/* ---- drain/grace_period.h ---- */

int grace_period_wait(struct grace_period *period, struct error *err)
{
	(void)period, (void)err;
	kernel.n_grace++;
	return 0;
}

void grace_period_close(struct grace_period *period)
{
	(void)period;
}

/* ---- a trigger ---- */

struct fake_trigger {
	struct trigger trigger;
	uint32_t attached, stopped, freed; /* times */
};

static int fake_select(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	(void)trigger, (void)object, (void)err;
	return 0;
}

static int fake_attach(struct trigger *trigger, struct bpf_object *object, struct error *err)
{
	(void)object, (void)err;
	((struct fake_trigger *)trigger)->attached++;
	return 0;
}

static void fake_stop(struct trigger *trigger)
{
	((struct fake_trigger *)trigger)->stopped++;
}

static void fake_free(struct trigger *trigger)
{
	((struct fake_trigger *)trigger)->freed++;
}

static uint32_t fake_n_attached(const struct trigger *trigger)
{
	return ((const struct fake_trigger *)trigger)->attached;
}

static const struct trigger_ops fake_trigger_ops = { .select = fake_select,
						     .attach = fake_attach,
						     .stop = fake_stop,
						     .free = fake_free,
						     .n_attached = fake_n_attached };

#endif
