// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "notify/notify.h"
#include "notify/state_file.h"

/* The manager's end. The kernel chooses an abstract name, of five digits; *ret_name begins with @.
 */
static int listen_as_manager(char ret_name[16])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	snprintf(ret_name, 16, "@%.*s", 5, address.sun_path + 1);
	return fd;
}

static void assert_told(int manager, const char *expected)
{
	char text[256] = "";
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	assert_string_equal(text, expected);
}

static void assert_told_nothing(int manager)
{
	char byte;

	assert_true(recv(manager, &byte, 1, 0) < 0);
	assert_int_equal(errno, EAGAIN);
}

static void without_a_manager_nothing_is_told(void **state)
{
	struct notify *notify = NULL;

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_open(&notify, NULL), 0);
	assert_null(notify);
	assert_true(notify_alive_every(NULL) == 0);
	assert_int_equal(notify_ready(NULL, NULL), 0);
	assert_int_equal(notify_reloading(NULL, NULL), 0);
	notify_alive(NULL);
	notify_stopping(NULL);
	notify_close(NULL);
}

static void a_manager_is_told_what_happens(void **state)
{
	struct notify *notify = NULL;
	char name[16], text[256] = "";
	unsigned long long when;
	uint64_t before = monotonic_ns() / 1000;
	int manager = listen_as_manager(name);

	(void)state;
	setenv("NOTIFY_SOCKET", name, 1);
	unsetenv("WATCHDOG_USEC");
	assert_int_equal(notify_open(&notify, NULL), 0);
	assert_non_null(notify);
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_true(notify_alive_every(notify) == 0);
	assert_told_nothing(manager);
	assert_int_equal(notify_ready(notify, NULL), 0);
	assert_told(manager, "READY=1\nSTATUS=Measuring");
	notify_alive(notify);
	assert_told(manager, "WATCHDOG=1");
	assert_int_equal(notify_reloading(notify, NULL), 0);
	assert_true(recv(manager, text, sizeof(text) - 1, 0) > 0);
	assert_int_equal(sscanf(text, "RELOADING=1\nSTATUS=Reloading\nMONOTONIC_USEC=%llu", &when),
			 1);
	assert_true(when >= before && when <= monotonic_ns() / 1000);
	notify_stopping(notify);
	assert_told(manager, "STOPPING=1\nSTATUS=Ending");
	assert_told_nothing(manager);
	/* One that went away is an error where it matters. */
	close(manager);
	notify_alive(notify);
	assert_int_equal(notify_ready(notify, NULL), -ECONNREFUSED);
	notify_close(notify);
}

static double watched(const char *usec, const char *pid)
{
	struct notify *notify = NULL;
	char name[16];
	int manager = listen_as_manager(name);
	double every;

	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", usec, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_open(&notify, NULL), 0);
	assert_null(getenv("WATCHDOG_USEC"));
	assert_null(getenv("WATCHDOG_PID"));
	every = notify_alive_every(notify);
	notify_close(notify);
	close(manager);
	return every;
}

static void the_watchdog_is_told_twice_as_often_as_it_wants(void **state)
{
	char ours[16], other[16];

	(void)state;
	snprintf(ours, sizeof(ours), "%d", getpid());
	snprintf(other, sizeof(other), "%d", getppid());
	assert_true(watched("3000000", ours) == 1.5);
	assert_true(watched("3000000", NULL) == 1.5);
	assert_true(watched("3000000", other) == 0);
	assert_true(watched("3 s", ours) == 0);
}

static void other_addresses_are_refused(void **state)
{
	static const char *const names[] = { "", "/", "@", "vsock:2:1", "relative" };
	char name[200] = "/";
	struct notify *notify = NULL;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		setenv("NOTIFY_SOCKET", names[i], 1);
		assert_int_equal(notify_open(&notify, &err), -EAFNOSUPPORT);
		assert_non_null(strstr(err.text, "not a unix socket"));
	}
	memset(name + 1, 'a', sizeof(name) - 2);
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_open(&notify, &err), -ENAMETOOLONG);
	assert_null(notify);
	setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
	assert_int_equal(notify_open(&notify, &err), 0);
	assert_int_equal(notify_ready(notify, &err), -ENOENT);
	assert_non_null(strstr(err.text, "cannot notify the service manager"));
	notify_close(notify);
	unsetenv("NOTIFY_SOCKET");
}

static void assert_state(const char *path, enum measurement_state expected)
{
	enum measurement_state state = N_STATES;
	uint64_t age_ns = UINT64_MAX;

	assert_int_equal(state_file_read(path, &state, &age_ns), 0);
	assert_int_equal(state, expected);
	assert_true(age_ns < 10 * NS_PER_SECOND);
}

static void a_file_has_the_state(void **state)
{
	char path[] = "/tmp/stacktally-state-XXXXXX";
	uint64_t old_ns, age_ns;
	enum measurement_state now;
	struct notify *notify = NULL;
	struct error err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	unsetenv("NOTIFY_SOCKET");
	setenv(NOTIFY_FILE, path, 1);
	assert_int_equal(notify_open(&notify, NULL), 0);
	assert_null(getenv(NOTIFY_FILE));
	assert_true(notify_alive_every(notify) == NOTIFY_FILE_EVERY);
	assert_state(path, STATE_STARTING);
	notify_alive(notify);
	assert_state(path, STATE_STARTING);
	assert_int_equal(notify_ready(notify, NULL), 0);
	assert_state(path, STATE_READY);
	usleep(20000);
	assert_int_equal(state_file_read(path, &now, &old_ns), 0);
	notify_alive(notify);
	assert_int_equal(state_file_read(path, &now, &age_ns), 0);
	assert_true(age_ns < old_ns);
	notify_stopping(notify);
	assert_state(path, STATE_ENDING);
	notify_alive(notify);
	assert_state(path, STATE_ENDING);
	notify_close(notify);
	unlink(path);

	setenv(NOTIFY_FILE, "/nonexistent/state", 1);
	assert_true(notify_open(&notify, &err) < 0);
	assert_non_null(strstr(err.text, "cannot write the state to /nonexistent/state"));
	unsetenv(NOTIFY_FILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_manager_nothing_is_told),
		cmocka_unit_test(a_manager_is_told_what_happens),
		cmocka_unit_test(the_watchdog_is_told_twice_as_often_as_it_wants),
		cmocka_unit_test(other_addresses_are_refused),
		cmocka_unit_test(a_file_has_the_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
