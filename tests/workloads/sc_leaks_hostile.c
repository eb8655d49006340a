// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_leaks_hostile WHAT: allocates and frees in wrong and rare ways, and prints what is outstanding
 * of each function at the end, as `NAME BLOCKS BYTES`. ml_take() and ml_give() allocate and free
 * what they are told. WHAT is one of:
 *
 *   many     400,000 blocks of one byte at addresses of their own, none of which is freed
 *   unknown  100,000 addresses are freed that were never allocated
 *   again    an address is allocated a thousand times and freed once; another one 50 times
 *   huge     sizes whose sum is more than 64 bits hold, and a negative one
 *   same     20 processes, one after the other, allocate the same address and end, then 20 at once
 *   replaced the program replaces itself 20 times and allocates the same address each time
 *   jumps    a jump leaves an allocation for a function from which deeper ones allocate
 *   parts    parts of mappings are unmapped, mapped over and moved
 *   moves    realloc() in all shapes
 *   stacks   32,768 blocks, each by a stack of its own
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul

static void *volatile kept;
static jmp_buf back;

__attribute__((noipa)) void *ml_take(size_t size, uintptr_t address, int jumps)
{
	(void)size;
	if (jumps)
		longjmp(back, 1);
	return (void *)address;
}

__attribute__((noipa)) void ml_give(uintptr_t address)
{
	kept = (void *)address;
}

__attribute__((noipa)) void ml_many(void)
{
	for (uintptr_t i = 1; i <= 400000; i++)
		ml_take(1, i << 4, 0);
	printf("ml_many 400000 400000\n");
}

__attribute__((noipa)) void ml_unknown(void)
{
	ml_take(10, 0x10, 0);
	for (uintptr_t i = 1; i <= 100000; i++)
		ml_give((i << 40) + i);
	printf("ml_unknown 1 10\n");
}

__attribute__((noipa)) void ml_again(void)
{
	for (int i = 0; i < 1000; i++)
		ml_take(100, 0x1000, 0);
	ml_give(0x1000);
	for (int i = 0; i < 50; i++)
		ml_take((size_t)i + 1, 0x2000, 0);
	printf("ml_again 1 50\n");
}

__attribute__((noipa)) void ml_huge(void)
{
	for (uintptr_t i = 1; i <= 3; i++)
		ml_take((size_t)1 << 63, i << 12, 0);
	ml_take((size_t)-5, 0x8000, 0);
	printf("ml_huge 4 %zu\n", SIZE_MAX);
}

__attribute__((noipa)) static void ml_child(int at_once)
{
	int begin[2];
	char byte;

	if (pipe(begin))
		abort();
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0) {
			close(begin[1]);
			ml_take(7, 0x3000, 0);
			if (at_once && read(begin[0], &byte, 1) != 0)
				abort();
			_exit(0);
		}
		if (!at_once)
			waitpid(child, NULL, 0);
	}
	close(begin[0]);
	close(begin[1]);
	while (at_once && waitpid(-1, NULL, 0) > 0)
		continue;
}

__attribute__((noipa)) void ml_same(void)
{
	ml_child(0);
	ml_child(1);
	printf("ml_same 40 280\n");
}

__attribute__((noipa)) void ml_replaced(char *program, int times)
{
	char left[12];

	personality(ADDR_NO_RANDOMIZE);
	ml_take(7, 0x3000, 0);
	snprintf(left, sizeof(left), "%d", times - 1);
	if (times > 1)
		execl(program, program, "replaced", left, (char *)NULL);
	printf("ml_replaced 20 140\n");
}

/* ---- jumps */

/* Deep enough that the place where a jump left an allocation is overwritten. */
__attribute__((noipa)) static int deeper(int levels, uintptr_t address, int jumps)
{
	volatile char room[200];

	memset((char *)room, levels, sizeof(room));
	if (levels > 0)
		return deeper(levels - 1, address, jumps) + room[0];
	ml_take(10, address, jumps);
	return room[0];
}

__attribute__((noipa)) void ml_jumps(void)
{
	volatile uintptr_t i;

	for (i = 1; i <= 10; i++) {
		if (!setjmp(back))
			deeper(2, 0, 1);
		deeper(6, i << 8, 0);
		deeper(10, i << 20, 0);
	}
	printf("ml_jumps 20 200\n");
}

/* ---- mappings */

static char *map(size_t pages)
{
	char *mapping = mmap(NULL, pages * PAGE, PROT_READ,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapping == MAP_FAILED)
		abort();
	return mapping;
}

static void map_at(char *at, size_t pages)
{
	if (mmap(at, pages * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		abort();
}

/* Its first pages are mapped over, then its last ones: each page counts once. */
__attribute__((noipa)) void ml_map_over(void)
{
	char *mapping = map(10);

	map_at(mapping, 3);
	map_at(mapping + 8 * PAGE, 2);
	map_at(mapping, 3);
	printf("ml_map_over 3 %lu\n", 10 * PAGE);
}

/* The first page moves, nine stay. */
__attribute__((noipa)) void ml_map_moved(void)
{
	char *mapping = map(10);

	kept = mremap(mapping, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
	if (kept == mapping)
		abort();
	printf("ml_map_moved 2 %lu\n", 11 * PAGE);
}

/* The middle: what is outstanding is known to be too large by a call. */
__attribute__((noipa)) void ml_map_middle(void)
{
	char *mapping = map(10);

	munmap(mapping + 4 * PAGE, PAGE);
	printf("ml_map_middle 1 %lu\n", 10 * PAGE);
}

__attribute__((noipa)) void ml_map_failed(void)
{
	kept = mmap(NULL, SIZE_MAX, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	kept = mmap(NULL, (size_t)1 << 63, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap((void *)-PAGE, SIZE_MAX);
	kept = map(1);
	munmap(kept, SIZE_MAX);
	munmap(kept, (size_t)1 << 62);
	munmap((char *)kept + 16, 16);
	munmap(kept, 0);
	printf("ml_map_failed 1 %lu\n", PAGE);
}

/* ---- realloc */

__attribute__((noipa)) void ml_moves(void)
{
	volatile size_t most = SIZE_MAX / 2, negative = SIZE_MAX, product = (size_t)1 << 33;
	void *block = realloc(NULL, 10), *other;

	block = realloc(block, 20);
	if (realloc(block, most) || calloc(product, product) || malloc(negative) ||
	    reallocarray(block, product, product))
		abort();
	other = malloc(30);
	free(realloc(other, 3000000));
	other = malloc(40);
	other = realloc(other, 0);
	free(other);
	kept = block;
	printf("ml_moves 1 20\n");
}

/* ---- stacks */

__attribute__((noipa)) static int left(int bits, unsigned path);

__attribute__((noipa)) static int right(int bits, unsigned path)
{
	if (bits == 0)
		kept = malloc(8);
	else
		return path & 1 ? left(bits - 1, path >> 1) + 1 : right(bits - 1, path >> 1) + 1;
	return 1;
}

static int left(int bits, unsigned path)
{
	if (bits == 0)
		kept = malloc(8);
	else
		return path & 1 ? left(bits - 1, path >> 1) + 2 : right(bits - 1, path >> 1) + 2;
	return 2;
}

__attribute__((noipa)) void ml_stacks(int bits)
{
	for (unsigned i = 0; i < 1u << bits; i++)
		left(bits, i);
	printf("ml_stacks %u %u\n", 1u << bits, 8u << bits);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	static char buffer[4096];

	setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
	if (!strcmp(what, "many"))
		ml_many();
	else if (!strcmp(what, "unknown"))
		ml_unknown();
	else if (!strcmp(what, "again"))
		ml_again();
	else if (!strcmp(what, "huge"))
		ml_huge();
	else if (!strcmp(what, "same"))
		ml_same();
	else if (!strcmp(what, "replaced"))
		ml_replaced(argv[0], argc > 2 ? atoi(argv[2]) : 20);
	else if (!strcmp(what, "jumps"))
		ml_jumps();
	else if (!strcmp(what, "moves"))
		ml_moves();
	else if (!strcmp(what, "stacks"))
		ml_stacks(argc > 2 ? atoi(argv[2]) : 15);
	else if (!strcmp(what, "parts")) {
		ml_map_over();
		ml_map_moved();
		ml_map_middle();
		ml_map_failed();
	}
	return 0;
}
