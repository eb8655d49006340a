// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names_jit MS: generates a function that counts down and calls it for MS of CPU time, 0: for ever.
 * Writes no perf map: tests put their own in its place. Prints the address of the function, then
 * `ready PID`.
 */
#include <string.h>
#include <sys/mman.h>

#include "burn.h"

#if defined(__x86_64__)
/* push rbp; mov rbp,rsp; mov ecx,100000; 1: dec ecx; jnz 1b; pop rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 0x01,
				      0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,-16]!; mov x29,sp; mov w0,0x8000; 1: subs w0,w0,1; b.ne 1b; ldp; ret */
static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0x52900000, 0x71000400,
				 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0 };
#else
#error "no code for this architecture"
#endif

int main(int argc, char **argv)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t ns = ns_argument(argc, argv, 1), end;

	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, page + sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		return 1;
	printf("code %lx %zx\n", (unsigned long)page, sizeof(code));
	say_ready();
	end = cpu_ns() + ns;
	while (!ns || cpu_ns() < end)
		((void (*)(void))page)();
	return 0;
}
