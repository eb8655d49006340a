// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nmis HZ SECONDS: raises NMIs on all CPUs at once, HZ times a second if it gets to run as often,
 * by the interrupt command register of the CPU that it runs on, which is mapped from /dev/mem. Only
 * for test machines: a kernel does not know the reason of such NMIs, logs each, and may be set to
 * panic. It takes the kernel's parameters `iomem=relaxed` and, where CPUs have an x2APIC,
 * `nox2apic`. Prints `ready PID`, and at the end `raised N`; fails when the registers cannot be
 * had.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "burn.h"

#define APIC	     0xfee00000
#define APIC_SIZE    0x1000
#define APIC_VERSION 0x30
#define APIC_COMMAND 0x300

#define DELIVER_NMI (4u << 8)
#define ASSERT	    (1u << 14)
#define PENDING	    (1u << 12)
#define TO_ALL	    (2u << 18)

static volatile uint32_t *apic;

static volatile uint32_t *apic_register(uint32_t offset)
{
	return &apic[offset / sizeof(*apic)];
}

static bool map_apic(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *page;

	if (fd < 0)
		return false;
	page = mmap(NULL, APIC_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, APIC);
	close(fd);
	if (page == MAP_FAILED)
		return false;
	apic = page;
	return true;
}

/* Local APICs since the Pentium 4 have versions from 0x10 on; all bits are set where the x2APIC is
 * on. */
static bool has_apic(void)
{
	uint32_t version = *apic_register(APIC_VERSION) & 0xff;

	return version >= 0x10 && version < 0x20;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec when = { .tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

int main(int argc, char **argv)
{
	uint64_t hz = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, raised = 0, next, end;

	if (argc != 3 || hz == 0)
		return 2;
	if (!map_apic()) {
		perror("/dev/mem");
		return 1;
	}
	if (!has_apic()) {
		fprintf(stderr, "no APIC there: version %#x\n", *apic_register(APIC_VERSION));
		return 1;
	}
	say_ready();
	next = now_ns();
	end = next + strtoull(argv[2], NULL, 10) * 1000000000u;
	while (next < end) {
		sleep_until(next);
		while (*apic_register(APIC_COMMAND) & PENDING)
			;
		*apic_register(APIC_COMMAND) = TO_ALL | ASSERT | DELIVER_NMI;
		raised++;
		next += 1000000000u / hz;
		/* It does not catch up on what it has missed. */
		if (next < now_ns())
			next = now_ns();
	}
	printf("raised %llu\n", (unsigned long long)raised);
	return 0;
}
