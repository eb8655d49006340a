// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop of a measurement, with a kernel side that is none: when it returns, and with what. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "fake_loader.h"

#include "process/images.h"
#include "session/session.h"
#include "tally/scripts.h"

struct fixture {
	struct plan plan;
	struct fake_trigger trigger;
	struct images *images;
	struct scripts *scripts;
	struct tally *tally;
	struct session *session;
};

static bool is_blocked(int signal)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, signal);
}

/* Opens a session, and starts it unless opening fails, which is returned. */
static int setup(struct fixture *f, const struct plan *plan, struct error *err)
{
	int r;

	*f = (struct fixture){ .plan = *plan, .trigger.trigger.ops = &fake_trigger_ops };
	f->plan.kernel = true;
	f->plan.kernel_depth = 20;
	f->plan.unwind = PLAN_UNWIND_NONE;
	assert_int_equal(images_new(&(struct images_options){ 0 }, &f->images), 0);
	assert_int_equal(scripts_new(&f->scripts), 0);
	assert_int_equal(tally_new(0, 0, &f->tally), 0);
	r = session_open(&f->plan, &f->trigger.trigger, f->images, NULL, f->scripts, &f->session,
			 err);
	if (r < 0)
		return r;
	assert_int_equal(f->trigger.attached, 0);
	assert_false(kernel.armed);
	assert_int_equal(session_start(f->session, err), 0);
	assert_int_equal(f->trigger.attached, 1);
	assert_true(kernel.armed);
	return 0;
}

static void teardown(struct fixture *f)
{
	assert_int_equal(session_close(f->session), kernel.limit_stays);
	assert_false(kernel.open);
	tally_free(f->tally);
	scripts_free(f->scripts);
	images_free(f->images);
	/* Signals have their effects again. */
	assert_false(is_blocked(SIGINT) || is_blocked(SIGTERM) || is_blocked(SIGHUP));
	memset(&kernel, 0, sizeof(kernel));
}

static void start(struct fixture *f, const struct plan *plan)
{
	struct error err = { 0 };

	assert_int_equal(setup(f, plan, &err), 0);
}

/* What the next session_run() returns with. */
static enum session_event run(struct fixture *f)
{
	enum session_event event = SESSION_TICK;
	struct error err = { 0 };

	assert_int_equal(session_run(f->session, f->tally, &event, &err), 0);
	return event;
}

static void a_duration_ends_with_all_events(void **state)
{
	struct fixture f;

	(void)state;
	kernel.late = 3;
	start(&f, &(struct plan){ .duration = 0.01 });
	fake_counts(1000);
	fake_events(40);
	assert_int_equal(session_events(f.session), 1040);
	assert_true(is_blocked(SIGINT) && is_blocked(SIGTERM) && is_blocked(SIGHUP));
	assert_int_equal(run(&f), SESSION_ENDED);
	assert_false(is_blocked(SIGINT) || is_blocked(SIGTERM) || is_blocked(SIGHUP));
	assert_false(kernel.armed);
	/* Those of programs that were running when they were disarmed, too. */
	assert_int_equal(kernel.n_grace, 1);
	assert_int_equal(tally_total(f.tally), 1043);
	assert_int_equal(tally_losses(f.tally)->events, 1043);
	assert_int_equal(session_command_status(f.session), -1);
	assert_true(session_duration(f.session) >= 10000000);
	assert_int_equal(session_drained(f.session), session_duration(f.session));
	teardown(&f);
}

static void intervals_have_their_events(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .interval = 0.005 });
	for (uint32_t i = 1; i < 6; i++) {
		fake_counts(100 * i);
		fake_events(i);
		assert_int_equal(run(&f), SESSION_INTERVAL);
		assert_int_equal(kernel.epoch, i % 2);
		assert_int_equal(tally_total(f.tally), 101 * i);
		assert_int_equal(tally_losses(f.tally)->events, 101 * i);
		tally_clear(f.tally);
	}
	assert_true(session_drained(f.session) <= session_duration(f.session));
	fake_events(7);
	kill(getpid(), SIGTERM);
	assert_int_equal(run(&f), SESSION_INTERRUPTED);
	assert_int_equal(tally_total(f.tally), 7);
	teardown(&f);
}

/* Ids of the tally's addresses change; what has not been counted yet is counted then. */
static void what_is_forgotten_is_not_lost(void **state)
{
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .interval = 0.001 });
	fake_events(5);
	assert_int_equal(run(&f), SESSION_INTERVAL);
	tally_clear(f.tally);
	assert_int_equal(session_forget(f.session, f.tally, &err), 0);
	assert_int_equal(tally_n_addresses(f.tally), 0);
	fake_events(6);
	assert_int_equal(run(&f), SESSION_INTERVAL);
	assert_int_equal(tally_total(f.tally), 6);
	teardown(&f);
}

static void displays_see_what_there_is_so_far(void **state)
{
	struct fixture f;

	(void)state;
	for (int slices = 0; slices < 2; slices++) {
		start(&f,
		      slices ? &(struct plan){ .slice = 0.002 } : &(struct plan){ .tick = 0.002 });
		for (uint32_t i = 1; i < 4; i++) {
			fake_events(10);
			assert_int_equal(run(&f), slices ? SESSION_SLICE : SESSION_TICK);
			assert_int_equal(tally_total(f.tally), 10 * i);
			/* Losses are as of the last tick. */
			assert_int_equal(tally_losses(f.tally)->events, slices ? 0 : 10 * i);
		}
		kill(getpid(), SIGINT);
		assert_int_equal(run(&f), SESSION_INTERRUPTED);
		assert_int_equal(tally_losses(f.tally)->events, 30);
		teardown(&f);
	}
}

static void hangup_ends_an_interval_where_it_reloads(void **state)
{
	struct fixture f;

	(void)state;
	for (int reload = 0; reload < 2; reload++) {
		start(&f, &(struct plan){ .interval = 1000, .reload = reload });
		fake_events(2);
		kill(getpid(), SIGHUP);
		assert_int_equal(run(&f), reload ? SESSION_RELOAD : SESSION_INTERRUPTED);
		assert_int_equal(tally_total(f.tally), 2);
		if (reload) {
			kill(getpid(), SIGTERM);
			assert_int_equal(run(&f), SESSION_INTERRUPTED);
		}
		teardown(&f);
	}
}

static char *const exits[] = { "sh", "-c", "exit 7", NULL };
static char *const waits[] = { "sleep", "20", NULL };
static char *const stays[] = { "sh", "-c", "trap '' TERM; exec sleep 20", NULL };

static void a_command_ends_the_measurement(void **state)
{
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .command = exits });
	assert_true(kernel.command > 0);
	assert_int_equal(session_launch(f.session, &err), 0);
	assert_int_equal(run(&f), SESSION_ENDED);
	assert_int_equal(session_command_status(f.session), 7);
	teardown(&f);
}

static void the_first_signal_is_the_commands(void **state)
{
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .command = waits });
	assert_int_equal(session_launch(f.session, &err), 0);
	/* Not SIGINT: what a shell runs in the background ignores that. */
	kill(getpid(), SIGTERM);
	assert_int_equal(run(&f), SESSION_ENDED);
	assert_int_equal(session_command_status(f.session), 128 + SIGTERM);
	teardown(&f);
	/* The second is ours, whether the command has ended or not. */
	start(&f, &(struct plan){ .command = stays });
	assert_int_equal(session_launch(f.session, &err), 0);
	kill(getpid(), SIGTERM);
	kill(getpid(), SIGHUP);
	assert_int_equal(run(&f), SESSION_INTERRUPTED);
	kill(kernel.command, SIGKILL);
	teardown(&f);
}

static void a_full_epoch_ends_before_its_time(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .duration = 0.3 });
	fake_events(40000);
	assert_int_equal(run(&f), SESSION_ENDED);
	assert_true(kernel.n_grace >= 2);
	assert_int_equal(tally_total(f.tally), 40000);
	assert_int_equal(tally_losses(f.tally)->events, 40000);
	teardown(&f);
}

static void events_are_counts_and_losses(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .interval = 0.002 });
	fake_events(10);
	kernel.counters.events += 5;
	kernel.counters.lost_ring = 3;
	kernel.counters.lost_nested = 2;
	assert_int_equal(run(&f), SESSION_INTERVAL);
	assert_int_equal(tally_total(f.tally), 10);
	assert_int_equal(tally_losses(f.tally)->lost_ring, 3);
	assert_int_equal(tally_losses(f.tally)->lost_nested, 2);
	assert_int_equal(tally_losses(f.tally)->events, 15);
	tally_clear(f.tally);
	kill(getpid(), SIGTERM);
	assert_int_equal(run(&f), SESSION_INTERRUPTED);
	assert_int_equal(tally_losses(f.tally)->events, 0);
	assert_int_equal(tally_losses(f.tally)->lost_ring, 0);
	teardown(&f);
}

static void a_name_leaves_events_out(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .duration = 0.002, .filter.name = "fake*" });
	fake_events(10);
	assert_int_equal(run(&f), SESSION_ENDED);
	assert_int_equal(tally_total(f.tally), 10);
	teardown(&f);
	start(&f, &(struct plan){ .duration = 0.002, .filter.name = "other" });
	fake_events(10);
	assert_int_equal(run(&f), SESSION_ENDED);
	assert_int_equal(tally_total(f.tally), 0);
	assert_int_equal(tally_losses(f.tally)->events, 0);
	teardown(&f);
}

static void a_strange_record_ends_it(void **state)
{
	struct fake_record strange = fake_record(WIRE_N_KINDS, 0);
	enum session_event event = SESSION_TICK;
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	start(&f, &(struct plan){ .duration = 1000 });
	made_ring_put(&kernel.ring, &strange, sizeof(strange));
	assert_int_equal(session_run(f.session, f.tally, &event, &err), -EPROTO);
	assert_non_null(strstr(err.text, "cannot take a stack from the ring"));
	assert_int_equal(event, SESSION_TICK);
	teardown(&f);
	assert_int_equal(f.trigger.stopped, 1);
}

static void a_failed_load_closes_what_was_open(void **state)
{
	struct error err = { 0 };
	struct fixture f;

	(void)state;
	kernel.load_fails = -EPERM;
	kernel.limit_stays = 127;
	assert_int_equal(setup(&f, &(struct plan){ .command = exits }, &err), -EPERM);
	assert_string_equal(
		err.text,
		"cannot load; sysctl kernel.perf_event_max_stack stays raised, it was 127");
	assert_false(kernel.open);
	assert_int_equal(f.trigger.attached, 0);
	kernel.limit_stays = 0;
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_duration_ends_with_all_events),
		cmocka_unit_test(intervals_have_their_events),
		cmocka_unit_test(what_is_forgotten_is_not_lost),
		cmocka_unit_test(displays_see_what_there_is_so_far),
		cmocka_unit_test(hangup_ends_an_interval_where_it_reloads),
		cmocka_unit_test(a_command_ends_the_measurement),
		cmocka_unit_test(the_first_signal_is_the_commands),
		cmocka_unit_test(a_full_epoch_ends_before_its_time),
		cmocka_unit_test(events_are_counts_and_losses),
		cmocka_unit_test(a_name_leaves_events_out),
		cmocka_unit_test(a_strange_record_ends_it),
		cmocka_unit_test(a_failed_load_closes_what_was_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
