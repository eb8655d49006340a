// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole live view: a tally is handed over, and clients connect on the loopback address. */
#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "http_client.h"
#include "live/live.h"
#include "live_data.h"

#define JOBS 32 /* MAX_JOBS of live.c */

struct fixture {
	struct tally *tally;
	struct live *live;
	sem_t resolving, go_on; /* used if `slow` */
	bool slow;
};

static int resolve(void *context, const struct tally *tally, struct names *names)
{
	struct fixture *fixture = context;

	if (fixture->slow) {
		sem_post(&fixture->resolving);
		sem_wait(&fixture->go_on);
	}
	return data_resolve(NULL, tally, names);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct model_source source = { .resolve = resolve,
					     .context = fixture,
					     .report = { .per_process = true },
					     .meta = { .command = "profile" } };
	struct error err = { 0 };

	if (!fixture || live_open(NULL, NULL, &fixture->live, &err) < 0)
		return -1;
	fixture->tally = data_tally();
	sem_init(&fixture->resolving, 0, 0);
	sem_init(&fixture->go_on, 0, 0);
	*state = fixture;
	return live_start(fixture->live, &source, 0, NULL, &err);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	live_close(fixture->live);
	tally_free(fixture->tally);
	free(fixture);
	return 0;
}

static void await(sem_t *event)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLIENT_SECONDS;
	assert_int_equal(sem_timedwait(event, &until), 0);
}

static void update(struct fixture *fixture, uint64_t at_ms, bool cleared)
{
	assert_int_equal(live_update(fixture->live, fixture->tally, at_ms * 1000000, cleared, NULL,
				     NULL),
			 0);
	if (cleared)
		tally_clear(fixture->tally);
}

static int ask(struct fixture *fixture, const char *path)
{
	int fd = client_connect(live_url(fixture->live), 0);

	client_ask(fd, live_url(fixture->live), path);
	return fd;
}

static int get(struct fixture *fixture, const char *path)
{
	return client_get(live_url(fixture->live), path);
}

/* Expects these folded lines of everything since the start. */
static void expect_total(struct fixture *fixture, const char *lines)
{
	char *bytes = client_finish(ask(fixture, "save?format=folded"), NULL);
	const char *body = strstr(bytes, "\r\n\r\n");

	assert_non_null(body);
	assert_string_equal(body + 4, lines);
	free(bytes);
}

static void a_stream_has_every_second(void **state)
{
	struct fixture *fixture = *state;
	int fd;

	data_count(fixture->tally, 3, 9, "ab", "");
	update(fixture, 1000, false);
	fd = ask(fixture, "events");
	assert_true(client_await(fd, "\r\n\r\nretry: 1000\nevent: state\n"));
	for (uint64_t tick = 2; tick < 5; tick++) {
		char text[64];

		data_count(fixture->tally, tick, 9, "ab", "");
		update(fixture, tick * 1000, true);
		snprintf(text, sizeof(text), "{\"tick\":%u,\"at\":%u000,", (unsigned int)tick,
			 (unsigned int)tick);
		assert_true(client_await(fd, text));
	}
	expect_total(fixture, "sh;a;b 12\n");
	live_close(fixture->live);
	fixture->live = NULL;
	assert_true(client_await(fd, "event: end\ndata: {}\n\n"));
	assert_false(client_await(fd, "more"));
	close(fd);
}

static void bad_requests_are_refused(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(get(fixture, ""), 200);
	assert_int_equal(get(fixture, "live.js"), 200);
	assert_int_equal(get(fixture, "nothing"), 404);
	assert_int_equal(get(fixture, "save?format=none"), 400);
	assert_int_equal(get(fixture, "counts?from=x"), 400);
	assert_int_equal(get(fixture, "counts?from=1&to=2"), 200);
}

static void a_profile_waits_for_its_seconds(void **state)
{
	struct fixture *fixture = *state;
	int fd = ask(fixture, "debug/pprof/profile?seconds=600"), other;
	char byte;

	update(fixture, 1000, true);
	/* A later request is answered, but this one is not. */
	other = ask(fixture, "counts");
	assert_int_equal(client_status(other), 200);
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
	data_count(fixture->tally, 3, 9, "ab", "");
	update(fixture, 700 * 1000, false);
	assert_true(client_await(fd, "HTTP/1.1 200 OK\r\n"));
	assert_true(client_await(fd, "filename=\"profile.pb.gz\""));
	close(fd);
}

static void waiting_requests_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	int fds[JOBS], other;

	for (uint32_t i = 0; i < JOBS; i++)
		fds[i] = ask(fixture, "debug/pprof/profile?seconds=600");
	assert_int_equal(get(fixture, "counts"), 503);
	/* A client that disconnects makes room for another request. */
	close(fds[3]);
	for (int status = 503; status == 503;)
		status = get(fixture, "counts");
	other = ask(fixture, "debug/pprof/profile?seconds=600");
	/* At the end, all requests are answered with the data so far. */
	while (get(fixture, "counts") != 503)
		;
	live_close(fixture->live);
	fixture->live = NULL;
	for (uint32_t i = 0; i < JOBS; i++)
		if (i != 3)
			assert_int_equal(client_status(fds[i]), 200);
	assert_int_equal(client_status(other), 200);
}

/* live_update() does not wait for names; counts it cannot hand over are in the next delta. */
static void slow_names_do_not_delay_the_measurement(void **state)
{
	struct fixture *fixture = *state;

	fixture->slow = true;
	data_count(fixture->tally, 1, 9, "ab", "");
	update(fixture, 1000, false);
	await(&fixture->resolving);
	data_count(fixture->tally, 10, 9, "ab", "");
	update(fixture, 2000, false);
	data_count(fixture->tally, 100, 9, "ab", "");
	update(fixture, 3000, false);
	sem_post(&fixture->go_on);
	/* Only the first delta was taken. */
	expect_total(fixture, "sh;a;b 1\n");
	fixture->slow = false;
	data_count(fixture->tally, 1000, 9, "ab", "");
	update(fixture, 4000, true);
	/* A tally that is to be cleared waits for the last delta, so nothing is missing. */
	data_count(fixture->tally, 10000, 9, "ab", "");
	update(fixture, 5000, true);
	expect_total(fixture, "sh;a;b 11111\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stream_has_every_second),
		TEST(bad_requests_are_refused),
		TEST(a_profile_waits_for_its_seconds),
		TEST(waiting_requests_are_bounded),
		TEST(slow_names_do_not_delay_the_measurement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
