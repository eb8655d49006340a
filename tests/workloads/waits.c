// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waits MS: threads that run and wait in many ways for MS milliseconds each. Prints for each
 *
 *	NAME TID LIFE RUN DELAY TURNS
 *
 * in microseconds: how long it lived, ran on a CPU and waited for one; and how often it got a CPU.
 * All but LIFE are the kernel's (/proc/TID/schedstat). The thread `asleep` still sleeps when the
 * process exits. With MS 0, prints `ready PID` and goes on for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define MS 1000000ull

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t until_ns;
static int nothing[2]; /* a pipe that gets no data */

static bool goes_on(void)
{
	return !until_ns || clock_ns(CLOCK_MONOTONIC) < until_ns;
}

static void nap(uint64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR)
		;
}

static void spin(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		;
}

/* ---- ways to wait ---- */

static __attribute__((noinline)) void run_only(int which)
{
	(void)which;
	while (goes_on())
		spin(MS);
}

/* Ten times 100 ms, whatever MS is. */
static __attribute__((noinline)) void take_naps(int which)
{
	(void)which;
	for (int i = 0; i < 10 || !until_ns; i++)
		nap(100 * MS);
}

static __attribute__((noinline)) void sleep_short(int which)
{
	(void)which;
	while (goes_on()) {
		nap(MS / 2);
		spin(MS / 4);
	}
}

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static __attribute__((noinline)) void hand_off(int which)
{
	pthread_mutex_lock(&turn_lock);
	while (goes_on()) {
		while (turn != which && goes_on()) {
			struct timespec soon;

			clock_gettime(CLOCK_REALTIME, &soon);
			soon.tv_sec++;
			pthread_cond_timedwait(&turned, &turn_lock, &soon);
		}
		turn = !which;
		pthread_cond_signal(&turned);
	}
	pthread_mutex_unlock(&turn_lock);
}

static int there[2], back[2];

static __attribute__((noinline)) void ping_pong(int which)
{
	int from = which ? there[0] : back[0], to = which ? back[1] : there[1];
	char byte = 0;

	while (goes_on()) {
		if (!which && write(to, &byte, 1) != 1)
			break;
		if (read(from, &byte, 1) != 1)
			break;
		if (which && write(to, &byte, 1) != 1)
			break;
	}
	close(to);
}

static __attribute__((noinline)) void poll_timer(int which)
{
	struct itimerspec each = { .it_value.tv_nsec = MS, .it_interval.tv_nsec = MS };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), set = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };

	(void)which;
	timerfd_settime(timer, 0, &each, NULL);
	epoll_ctl(set, EPOLL_CTL_ADD, timer, &event);
	while (goes_on()) {
		uint64_t ticks;

		if (epoll_wait(set, &event, 1, 1000) != 1 ||
		    read(timer, &ticks, sizeof(ticks)) != sizeof(ticks))
			break;
		spin(MS / 10);
	}
}

static __attribute__((noinline)) void write_file(int which)
{
	char name[] = "/var/tmp/waits-XXXXXX", block[4096] = { 0 };
	int file = mkstemp(name);

	(void)which;
	unlink(name);
	for (off_t at = 0; goes_on(); at = (at + 4096) % (1 << 20))
		if (pwrite(file, block, sizeof(block), at) < 0 || fsync(file) < 0)
			break;
}

static __attribute__((noinline)) void fork_children(int which)
{
	(void)which;
	while (goes_on()) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		nap(5 * MS);
	}
}

static __attribute__((noinline)) void change_cpus(int which)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	(void)which;
	for (long i = 0; goes_on(); i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((size_t)(i % cpus), &set);
		sched_setaffinity(0, sizeof(set), &set);
		spin(MS / 3);
		nap(MS / 3);
	}
}

static __attribute__((noinline)) void sleep_on(int which)
{
	char byte;

	(void)which;
	if (read(nothing[0], &byte, 1) != 0)
		_exit(1);
}

/* ---- the threads ---- */

struct waiter {
	const char *name;
	void (*wait)(int which);
	int which;
	pthread_t thread;
	uint64_t born, life, run, delay; /* ns */
	uint64_t turns;
	long tid;
};

static struct waiter waiters[] = {
	{ .name = "run-0", .wait = run_only },
	{ .name = "run-1", .wait = run_only },
	{ .name = "run-2", .wait = run_only },
	{ .name = "naps", .wait = take_naps },
	{ .name = "short", .wait = sleep_short },
	{ .name = "futex-0", .wait = hand_off },
	{ .name = "futex-1", .wait = hand_off, .which = 1 },
	{ .name = "pipe-0", .wait = ping_pong },
	{ .name = "pipe-1", .wait = ping_pong, .which = 1 },
	{ .name = "epoll", .wait = poll_timer },
	{ .name = "file", .wait = write_file },
	{ .name = "fork", .wait = fork_children },
	{ .name = "move", .wait = change_cpus },
	{ .name = "asleep", .wait = sleep_on },
};

#define N_WAITERS (sizeof(waiters) / sizeof(waiters[0]))
#define ASLEEP	  (N_WAITERS - 1)

static void read_schedstat(struct waiter *waiter)
{
	char text[128];
	ssize_t size;
	int fd;

	snprintf(text, sizeof(text), "/proc/self/task/%ld/schedstat", waiter->tid);
	fd = open(text, O_RDONLY);
	size = read(fd, text, sizeof(text) - 1);
	text[size > 0 ? size : 0] = 0;
	if (sscanf(text, "%lu %lu %lu", &waiter->run, &waiter->delay, &waiter->turns) != 3)
		abort();
	close(fd);
	waiter->life = clock_ns(CLOCK_MONOTONIC) - waiter->born;
}

/*
 * When the calling thread, which has run and waited for a CPU only, was made. Its maker does not
 * know: it may lose its CPU before or after that.
 */
static uint64_t time_of_birth(struct waiter *waiter)
{
	uint64_t now, used, turns;

	do {
		read_schedstat(waiter);
		turns = waiter->turns;
		now = clock_ns(CLOCK_MONOTONIC);
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		read_schedstat(waiter);
	} while (waiter->turns != turns);
	return now - used - waiter->delay;
}

/*
 * Takes precedence over other threads, so that little time passes from reading the times to the
 * thread's end; and leaves the CPU for a moment, so that the kernel, and a program that adds up
 * times at each switch, have all but the last turn.
 */
static void stay_on(void)
{
	struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		abort();
	nap(MS / 10);
}

static pthread_barrier_t all_there;

static void *start(void *argument)
{
	struct waiter *waiter = argument;

	waiter->tid = syscall(SYS_gettid);
	waiter->born = time_of_birth(waiter);
	pthread_setname_np(pthread_self(), waiter->name);
	pthread_barrier_wait(&all_there);
	waiter->wait(waiter->which);
	stay_on();
	read_schedstat(waiter);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t ns = ns_argument(argc, argv, 1);

	if (pipe(nothing) || pipe(there) || pipe(back))
		return 1;
	pthread_barrier_init(&all_there, NULL, N_WAITERS + 1);
	until_ns = ns ? clock_ns(CLOCK_MONOTONIC) + ns : 0;
	for (size_t i = 0; i < N_WAITERS; i++)
		if (pthread_create(&waiters[i].thread, NULL, start, &waiters[i]))
			return 1;
	pthread_barrier_wait(&all_there);
	if (!ns)
		say_ready();
	for (size_t i = 0; i < ASLEEP; i++)
		pthread_join(waiters[i].thread, NULL);
	stay_on();
	read_schedstat(&waiters[ASLEEP]);
	for (size_t i = 0; i < N_WAITERS; i++)
		printf("%s %ld %lu %lu %lu %lu\n", waiters[i].name, waiters[i].tid,
		       waiters[i].life / 1000, waiters[i].run / 1000, waiters[i].delay / 1000,
		       waiters[i].turns);
	return 0;
}
