// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O1 -fomit-frame-pointer
/*
 * trampolines MS: outer() calls middle(), and middle() calls inner(), through generated trampolines
 * that keep no frame pointer, as CPython's do (python3 -X perf). They have names in
 * /tmp/perf-PID.map. inner() takes MS of CPU time.
 */
#include <string.h>
#include <sys/mman.h>

#include "burn.h"

#if !defined(__x86_64__)
#error "no code for this architecture"
#endif

typedef void (*trampoline)(uint64_t ns, const void *, const void *, void (*)(uint64_t ns));

/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
				      0x48, 0x83, 0xc4, 0x08, 0xc3 };
static char *page;

/* One after another, without padding. */
static trampoline trampoline_at(size_t number)
{
	return (trampoline)(void *)(page + number * sizeof(code));
}

static __attribute__((noinline)) void inner(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;

	while (cpu_ns() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static __attribute__((noinline)) void middle(uint64_t ns)
{
	trampoline_at(1)(ns, NULL, NULL, inner);
	__asm__ volatile("");
}

static __attribute__((noinline)) void outer(uint64_t ns)
{
	trampoline_at(0)(ns, NULL, NULL, middle);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	char path[64];
	FILE *map;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	for (size_t at = 0; at + sizeof(code) <= 4096; at += sizeof(code))
		memcpy(page + at, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		return 1;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "we");
	if (!map)
		return 1;
	fprintf(map, "%lx %zx py::one\n%lx %zx py::two\n", (unsigned long)page, sizeof(code),
		(unsigned long)page + sizeof(code), sizeof(code));
	fclose(map);
	say_ready();
	outer(ns_argument(argc, argv, 1));
	return 0;
}
