// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_leaks [WHAT]: allocates 100,000 blocks of which one in a thousand is not freed, and others by
 * each of libc's functions. What is outstanding at the end, by the function that allocates it, is
 * printed as `NAME BLOCKS BYTES`. With a WHAT:
 *
 *   wait  prints `ready PID` first and begins at SIGUSR1; at the end it waits for SIGTERM
 *   grow  keeps 1,000 blocks of 100 bytes in a second, and frees as many others
 *   odd   calls ml_take() and ml_give(), functions of its own, in odd ways, and prints the same of
 *         these: calls that longjmp(), the end of the thread and the program's replacement by
 *         itself leave, beside some that return
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noipa)) static void *ml_one_in_a_thousand(int i)
{
	return malloc(100 + i % 7 * 0);
}

__attribute__((noipa)) void ml_many(void)
{
	for (int i = 0; i < 100000; i++) {
		void *block = ml_one_in_a_thousand(i);

		if (i % 1000 == 999)
			kept = block;
		else
			free(block);
	}
}

/* Grows from 16 to 32768 bytes, is moved on the way, and stays. */
__attribute__((noipa)) void ml_realloc(void)
{
	void *block = NULL;

	for (size_t size = 16; size <= 32768; size *= 2)
		block = realloc(block, size);
	kept = block;
}

__attribute__((noipa)) void ml_realloc_freed(void)
{
	void *block = malloc(50);

	block = realloc(block, 100000);
	/* Too large: the block stays where it is, and is freed. */
	if (realloc(block, (size_t)1 << 60))
		abort();
	free(block);
}

__attribute__((noipa)) void ml_calloc(void)
{
	kept = calloc(10, 24);
}

__attribute__((noipa)) void ml_aligned(void)
{
	void *block;

	if (posix_memalign(&block, 256, 1000))
		abort();
	kept = block;
	kept = aligned_alloc(64, 640);
}

__attribute__((noipa)) void ml_map(void)
{
	void *mapping = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	kept = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(mapping, 8192);
}

/* Its first and its last pages are unmapped: five are left, and nothing of the other one. */
__attribute__((noipa)) void ml_map_parts(void)
{
	char *mapping = mmap(NULL, 10 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *none = mmap(NULL, 3 * 4096 - 100, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(mapping + 7 * 4096, 3 * 4096);
	munmap(mapping, 2 * 4096);
	munmap(none, 4096);
	munmap(none + 2 * 4096, 4096);
	munmap(none + 4096, 4096);
}

/* Mappings that become larger or smaller, of which one is unmapped. */
__attribute__((noipa)) void ml_remap(void)
{
	char *mapping = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mapping = mremap(mapping, 8192, 1 << 20, MREMAP_MAYMOVE);
	kept = mremap(mapping, 1 << 20, 3 * 4096, MREMAP_MAYMOVE);
	gone = mremap(gone, 8192, 4096, 0);
	/* It cannot be so large: it stays as it is. */
	if (mremap(gone, 4096, (size_t)1 << 60, MREMAP_MAYMOVE) != MAP_FAILED)
		abort();
	munmap(gone, 4096);
}

/* It stays where it is, and is smaller. */
__attribute__((noipa)) void ml_smaller(void)
{
	void *block = malloc(1000);

	kept = realloc(block, 900);
	if (kept != block)
		abort();
}

static void *free_all(void *blocks)
{
	void **list = blocks;

	for (int i = 0; i < 50; i++)
		free(list[i]);
	return NULL;
}

/* Freed by another thread. */
__attribute__((noipa)) void ml_handed_over(void)
{
	void *list[50];
	pthread_t thread;

	for (int i = 0; i < 50; i++)
		list[i] = malloc(30);
	pthread_create(&thread, NULL, free_all, list);
	pthread_join(thread, NULL);
}

/* The child's copy of a block is freed there, and the parent's stays. */
__attribute__((noipa)) void ml_forked(void)
{
	void *block = malloc(77);
	pid_t child = fork();

	if (child == 0) {
		free(block);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	kept = block;
}

__attribute__((noipa)) void ml_keeps(void)
{
	kept = malloc(100);
}

static void grow(void)
{
	for (int i = 0; i < 1000; i++) {
		ml_keeps();
		free(malloc(50));
		usleep(1000);
	}
}

/* ---- functions of its own */

enum way { RETURN, JUMP, END, REPLACE };

static char given[100];
static int n_given;
static jmp_buf back;

__attribute__((noipa)) void *ml_take(size_t size, enum way way, char *program)
{
	(void)size;
	if (way == JUMP)
		longjmp(back, 1);
	if (way == END)
		pthread_exit(NULL);
	if (way == REPLACE)
		execl(program, program, "odd", "again", (char *)NULL);
	return &given[n_given++];
}

__attribute__((noipa)) void ml_give(void *block)
{
	kept = block;
}

static void *take_and_end(void *unused)
{
	ml_take(1000, END, NULL);
	return unused;
}

/* 3 blocks of 10 bytes are left by the program, and 3 by that which replaces it. */
__attribute__((noipa)) void ml_odd(char *program, int again)
{
	pthread_t thread;

	for (int i = 0; i < 5; i++) {
		void *block;

		if (!setjmp(back))
			ml_take(1000, JUMP, NULL);
		if (pthread_create(&thread, NULL, take_and_end, NULL) == 0)
			pthread_join(thread, NULL);
		block = ml_take(10, RETURN, NULL);
		if (i < 2)
			ml_give(block);
	}
	if (!again)
		ml_take(1000, REPLACE, program);
	printf("ml_odd 6 60\n");
}

int main(int argc, char **argv)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	if (argc > 1 && !strcmp(argv[1], "wait")) {
		static char early[64];

		sigprocmask(SIG_BLOCK, &set, NULL);
		setvbuf(stdout, early, _IOLBF, sizeof(early));
		kept = malloc(123);
		printf("ready %d\n", getpid());
		sigwait(&set, &got);
		free(kept);
	}
	if (argc > 1 && !strcmp(argv[1], "grow")) {
		grow();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "odd")) {
		ml_odd(argv[0], argc > 2);
		return 0;
	}
	ml_many();
	ml_realloc();
	ml_realloc_freed();
	ml_smaller();
	ml_map_parts();
	ml_remap();
	ml_calloc();
	ml_aligned();
	ml_map();
	ml_handed_over();
	ml_forked();
	if (argc > 1) {
		printf("done 1\n");
		sigwait(&set, &got);
		return 0;
	}
	printf("ml_many 100 10000\nml_realloc 1 32768\nml_calloc 1 240\nml_aligned 2 1640\n"
	       "ml_map 1 4096\nml_map_parts 1 20480\nml_remap 1 12288\nml_smaller 1 900\n"
	       "ml_forked 1 77\n");
	return 0;
}
