// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/*
 * odd_stacks WHAT: works for ever in unusual frames and on unusual stacks. It is optimized and has
 * no frame pointers, as distributions build programs. Most samples are in functions that these
 * frames call, some while the frames are set up and removed.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

static NOINLINE long work(long n)
{
	for (int i = 0; i < 300; i++) {
		n = n * 6364136223846793005 + 1442695040888963407;
		n ^= (long)((unsigned long)n >> 29);
	}
	sink += n;
	return n | 1;
}

static int compare(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* qsort() calls back: frames of libc lie between our own. */
static NOINLINE long sorted(long n)
{
	long values[64];

	for (int i = 0; i < 64; i++)
		values[i] = n = n * 2862933555777941757 + 3037000493;
	qsort(values, 64, sizeof(*values), compare);
	return values[n & 63] + work(n);
}

static NOINLINE long with_alloca(unsigned long n)
{
	long sum = 0;

	for (unsigned long i = 1; i < 20; i++) {
		char *bytes = __builtin_alloca((n + i) % 500 + 8);

		memset(bytes, (int)i, 8);
		sum += sorted(bytes[i & 7]);
	}
	return sum;
}

static NOINLINE long with_array(unsigned long n)
{
	volatile char bytes[n % 3000 + 1];

	bytes[n % sizeof(bytes)] = (char)n;
	return with_alloca(n) + bytes[n % sizeof(bytes)];
}

typedef double wide __attribute__((vector_size(32)));

static NOINLINE __attribute__((target("avx"))) long realigned(long n)
{
	volatile wide values[4] = {};

	for (int i = 0; i < 4; i++)
		values[i] = (wide){ (double)n, (double)i, (double)i, (double)n };
	return sorted(n) + (long)values[n & 3][1];
}

static NOINLINE __attribute__((target("avx"))) long
realigned_with_arguments(long n, long a, long b, long c, long d, long e, long f, long g)
{
	volatile wide values[2] = {};
	volatile char *more = __builtin_alloca((size_t)(n & 255) + 16);

	more[0] = (char)(a + b + c + d + e + f + g);
	values[n & 1] = (wide){ more[0], 1, 2, 3 };
	return realigned(n) + (long)values[n & 1][2];
}

static NOINLINE long big_frame(long n)
{
	volatile char big[12 << 20];

	big[0] = big[sizeof(big) - 1] = (char)n;
	return sorted(n) + big[sizeof(big) - 1];
}

static NOINLINE long descend(long depth)
{
	long local = depth * 3;

	if (depth == 0)
		return sorted(sink);
	return descend(depth - 1) * local + local;
}

static NOINLINE void on_signal(int number)
{
	sink += sorted(number);
}

static NOINLINE void on_signal_in_signal(int number, siginfo_t *info, void *context)
{
	sink += sorted(number) + info->si_signo + (context != NULL);
	raise(SIGUSR2);
	sink += sorted(number);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	if (sigaction(number, &action, NULL))
		exit(1);
}

static void take_signals(int flags)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct itimerspec often = { { 0, 100000 }, { 0, 100000 } };
	stack_t other = { .ss_sp = malloc(1 << 18), .ss_size = 1 << 18 };
	timer_t timer;

	if (!other.ss_sp || sigaltstack(&other, NULL))
		exit(1);
	handle(SIGUSR2, on_signal, flags);
	handle(SIGALRM, (void (*)(int))on_signal_in_signal, flags | SA_SIGINFO);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
		exit(1);
}

static sigjmp_buf back;

static NOINLINE void on_fault(int number)
{
	sink += sorted(number);
	siglongjmp(back, 1);
}

static NOINLINE long fault(long n)
{
	return *(volatile long *)(8 + (n & 8));
}

static NOINLINE void jump(long n)
{
	if (!sigsetjmp(back, 1))
		sink = fault(n);
	sink += sorted(n);
}

#ifdef __GLIBC__
static ucontext_t contexts[3];

static NOINLINE void switch_to(int from, int to)
{
	sink += sorted(from);
	swapcontext(&contexts[from], &contexts[to]);
}

static void fiber(int number)
{
	for (;;)
		switch_to(number, 3 - number);
}

static void run_fibers(void)
{
	for (int i = 1; i < 3; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_size = 1 << 18;
		contexts[i].uc_stack.ss_sp = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (contexts[i].uc_stack.ss_sp == MAP_FAILED)
			exit(1);
		makecontext(&contexts[i], (void (*)(void))fiber, 1, i);
	}
	swapcontext(&contexts[0], &contexts[1]);
}
#else /* musl has none */
static void run_fibers(void)
{
	exit(1);
}
#endif

/* Ways into the kernel: system calls, page faults; and the clock of the vDSO. */
static NOINLINE long enter(long n)
{
	size_t size = 64 << 12;
	struct timespec now;
	char *pages;

	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < size; i += 4096)
		pages[i] = (char)n;
	munmap(pages, size);
	for (int i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		n += now.tv_nsec;
	}
	for (int i = 0; i < 100; i++)
		n += getppid();
	return n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	printf("ready %d\n", getpid());
	if (!strcmp(what, "fibers"))
		run_fibers();
	else if (!strcmp(what, "signals"))
		take_signals(0);
	else if (!strcmp(what, "other_stack"))
		take_signals(SA_ONSTACK);
	else if (!strcmp(what, "jumps"))
		handle(SIGSEGV, on_fault, SA_NODEFER);
	for (long n = 1;; n++) {
		if (!strcmp(what, "alloca"))
			sink += with_array((unsigned long)n);
		else if (!strcmp(what, "realigned"))
			sink += realigned_with_arguments(n, 1, 2, 3, 4, 5, 6, 7);
		else if (!strcmp(what, "big_frames"))
			sink += big_frame(n);
		else if (!strcmp(what, "recursion"))
			sink += descend(1000);
		else if (!strcmp(what, "jumps"))
			jump(n);
		else if (!strcmp(what, "kernel"))
			sink += enter(n);
		else
			sink += sorted(n);
	}
}
