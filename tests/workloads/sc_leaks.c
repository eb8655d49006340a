// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_leaks [wait]: allocates 100,000 blocks of which one in a thousand is not freed, and others by
 * each of libc's functions. What is outstanding at the end, by the function that allocates it, is
 * printed as `NAME BLOCKS BYTES`. With `wait`, prints `ready PID` first and then begins at SIGUSR1;
 * at the end it waits for SIGTERM.
 */
#include <pthread.h>
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
	ml_many();
	ml_realloc();
	ml_realloc_freed();
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
	       "ml_map 1 4096\nml_forked 1 77\n");
	return 0;
}
