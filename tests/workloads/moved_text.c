// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code in anonymous memory where the program is loaded: `moved`: that of the program, as programs
 * do that move their text to huge pages. `shared`: to shared memory, which has a name, as large
 * pages have. `slowly`: the same, again and again, by a callee of the code that is moved, as node
 * does it. `packed`: code that the file does not have, as packed programs unpack it.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "burn.h"

#define MOVED __attribute__((noinline, section("moved_code")))

extern char __start_moved_code[], __stop_moved_code[];
extern char unpacked[];

asm(".section .unpacked,\"awx\",@nobits\n"
    ".balign 4096\n"
    "unpacked: .skip 4096\n"
    ".previous\n");

MOVED __attribute__((aligned(4096))) static void leaf(void)
{
	for (volatile uint32_t i = 0; i < 50000; i++)
		;
}

MOVED static void middle(void)
{
	leaf();
}

MOVED static void outer(void)
{
	for (int i = 0; i < 200; i++)
		middle();
}

static void burn_a_while(void)
{
	for (volatile uint32_t i = 0; i < 100000000; i++)
		;
}

static void move_slowly(void)
{
	size_t size = ((size_t)(__stop_moved_code - __start_moved_code) + 4095) & ~4095ul;
	char *copy = malloc(size);
	void *at;

	memcpy(copy, __start_moved_code, size);
	at = mmap(__start_moved_code, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (at == MAP_FAILED)
		exit(1);
	burn_a_while();
	memcpy(at, copy, size);
	burn_a_while();
	free(copy);
}

MOVED static void mover(void)
{
	move_slowly();
}

static void move(bool shared)
{
	size_t size = ((size_t)(__stop_moved_code - __start_moved_code) + 4095) & ~4095ul;
	char *copy = malloc(size);
	void *at;

	memcpy(copy, __start_moved_code, size);
	at = mmap(__start_moved_code, size, PROT_READ | PROT_WRITE,
		  (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (at == MAP_FAILED)
		exit(1);
	memcpy(at, copy, size);
	mprotect(at, size, PROT_READ | PROT_EXEC);
}

static void unpack(void)
{
	memcpy(unpacked, (void *)leaf, 256);
	mprotect(unpacked, 4096, PROT_READ | PROT_EXEC);
}

int main(int argc, char **argv)
{
	bool packed = argc > 1 && strcmp(argv[1], "packed") == 0;
	bool slowly = argc > 1 && strcmp(argv[1], "slowly") == 0;

	if (packed)
		unpack();
	else if (!slowly)
		move(argc > 1 && strcmp(argv[1], "shared") == 0);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;) {
		if (packed)
			((void (*)(void))unpacked)();
		else if (slowly)
			mover();
		else
			outer();
	}
}
