// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Touches 16 MB in pages, and 16 MB that the kernel may give in huge pages, each in a function of
 * its own.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define SIZE ((size_t)16 << 20)
#define HUGE ((size_t)2 << 20)

__attribute__((noipa)) void fl_pages(char *memory)
{
	for (size_t i = 0; i < SIZE; i += 4096)
		memory[i] = 1;
}

__attribute__((noipa)) void fl_huge_pages(char *memory)
{
	for (size_t i = 0; i < SIZE; i += 4096)
		memory[i] = 1;
}

static char *map(int advice)
{
	char *memory =
		mmap(NULL, SIZE + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memory = (char *)(((uintptr_t)memory + HUGE - 1) & ~(HUGE - 1));
	madvise(memory, SIZE, advice);
	return memory;
}

int main(void)
{
	fl_pages(map(MADV_NOHUGEPAGE));
	fl_huge_pages(map(MADV_HUGEPAGE));
	return 0;
}
