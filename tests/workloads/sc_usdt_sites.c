// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_usdt_sites N: fires sc_sites:given N times at each of seven places, which have the arguments
 * in registers, in memory or in the code, with and without a sign, of 1 to 8 bytes. It prints
 *
 *   given EVENTS SUM       of the first argument, where it is not below 0
 *   failed EVENTS          where it is
 *   large EVENTS           where it is above 1000
 *   named EVENTS           where the second argument is "large"
 *
 * sc_sites:same and sc_sites:twice have theirs in one place each, sc_sites:real one that is no
 * number at one of two.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

static const char *const names[] = { "small", "large" };
static struct {
	int64_t sum;
	uint64_t events, failed, large, named;
} known;

static void know(int64_t value, const char *name)
{
	known.events++;
	known.failed += value < 0;
	known.sum += value < 0 ? 0 : value;
	known.large += value > 1000;
	known.named += name == names[1];
}

__attribute__((noipa)) void sc_constant(void)
{
	DTRACE_PROBE2(sc_sites, given, 70000, names[1]);
	know(70000, names[1]);
}

__attribute__((noipa)) void sc_other_constant(void)
{
	DTRACE_PROBE2(sc_sites, given, -3, names[0]);
	know(-3, names[0]);
}

__attribute__((noipa)) void sc_byte(uint8_t value)
{
	DTRACE_PROBE2(sc_sites, given, value, names[0]);
	know(value, names[0]);
}

__attribute__((noipa)) void sc_short(short value, const char *name)
{
	DTRACE_PROBE2(sc_sites, given, value, name);
	know(value, name);
}

__attribute__((noipa)) void sc_register(long value)
{
	register long at __asm__("r12") = value;
	register const char *name __asm__("r13") = names[1];

	__asm__ volatile("" : "+r"(at), "+r"(name));
	DTRACE_PROBE2(sc_sites, given, at, name);
	know(value, names[1]);
}

__attribute__((noipa)) void sc_memory(const unsigned int *values, unsigned long i)
{
	DTRACE_PROBE2(sc_sites, given, values[i], names[0]);
	know(values[i], names[0]);
}

__attribute__((noipa)) void sc_second_memory(unsigned long i)
{
	volatile unsigned int values[4] = { 1, 2, 3, 4 };

	DTRACE_PROBE2(sc_sites, given, values[i], names[0]);
	know(values[i], names[0]);
}

__attribute__((noipa)) void sc_others(long i)
{
	DTRACE_PROBE1(sc_sites, real, i);
	DTRACE_PROBE1(sc_sites, real, (double)i);
	DTRACE_PROBE1(sc_sites, same, 5);
}

int main(int argc, char **argv)
{
	const unsigned int values[] = { 4000000000u, 5 };

	if (argc != 2)
		return 2;
	/* The kernel reads strings in memory that is there: that of these is from now on. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!*(const volatile char *)names[i])
			return 1;
	for (long i = 0; i < atol(argv[1]); i++) {
		sc_constant();
		sc_other_constant();
		sc_byte((uint8_t)i);
		sc_short((short)(i % 3 - 1), names[i % 2]);
		sc_register(0x100000000 + i);
		sc_memory(values, (unsigned long)i % 2);
		sc_second_memory((unsigned long)i % 4);
		sc_others(i);
	}
	printf("given %lu %lu\nfailed %lu\nlarge %lu\nnamed %lu\n", known.events,
	       (unsigned long)known.sum, known.failed, known.large, known.named);
	return 0;
}
