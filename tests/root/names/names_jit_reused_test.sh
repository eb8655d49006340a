#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that have one address one after the other: names_jit_reused_test.sh BUILD
# Reports of this kind: one whole report gave all samples of an address the name of the code that
# was there last.
# timeout: 120
# kind: generated code
. "$(dirname "$0")/../harness.bash" "$1"
cd "$tmp" || exit 1
maps=()
remove_maps() { rm -f "${maps[@]}"; }
at_exit=remove_maps
cat >reused.c <<'C'
/* reused map|dump PAUSE_MS N: the functions even and odd in turn at one address, N times, each until
 * its thread has used PAUSE_MS of CPU time. Says which was written when. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x10, 0x00,
				      0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
static uint64_t ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
int main(int argc, char **argv)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int is_map = argv[1][0] == 'm';
	char path[64];
	FILE *file;

	memcpy(page, code, sizeof(code));
	sprintf(path, is_map ? "/tmp/perf-%d.map" : "jit-%d.dump", getpid());
	file = fopen(path, "w+");
	if (!is_map) {
		uint32_t header[10] = { 0x4A695444, 1, 40, 62, 0, getpid() };

		fwrite(header, sizeof(header), 1, file);
		fflush(file);
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
	}
	for (int i = 0; i < atoi(argv[3]); i++) {
		const char *name = i % 2 ? "odd" : "even";
		struct {
			uint32_t type, size;
			uint64_t time;
			uint32_t pid, tid;
			uint64_t vma, at, code_size, index;
		} load = { 0, sizeof(load) + strlen(name) + 1, ns(CLOCK_MONOTONIC), getpid(), getpid(),
			   (uintptr_t)page, (uintptr_t)page, sizeof(code), i };

		if (is_map) {
			fprintf(file, "%lx %zx %s\n", (unsigned long)page, sizeof(code), name);
		} else {
			fwrite(&load, sizeof(load), 1, file);
			fwrite(name, strlen(name) + 1, 1, file);
		}
		fflush(file);
		for (uint64_t end = ns(CLOCK_THREAD_CPUTIME_ID) + atoi(argv[2]) * 1000000ull;
		     ns(CLOCK_THREAD_CPUTIME_ID) < end;)
			((void (*)(void))page)();
	}
	printf("reused %d\n", getpid());
	return 0;
}
C
if ! gcc -O1 reused.c -o reused; then
	skip "functions that had one address are told apart" "no compiler"
	exit
fi
either=';\[jit: (even or odd|odd or even)\]$'
# reused NAME ARGUMENT...: measures it
reused() {
	measure -q -U -f -F 99 "${@:2}"
	maps+=("/tmp/perf-$(sed -n 's/^reused //p' "$out").map")
	sed -i '/^reused /d' "$out"
}
told() { echo "$(counted ';even$') even, $(counted ';odd$') odd, $(counted "$either") either: $(hottest) $(tail -n 2 "$err")"; }
for each in map dump; do
	reused $each -- ./reused $each 1500 2
	# On a busy machine, 100 ms until the file is looked at are few samples.
	calculates "$(counted ';even$') > 0.35 * $(total) && $(counted ';odd$') > 0.35 * $(total) && $(total) > 100"
	check $? "$each: each of two functions at one address has its samples" "$(told)"
done
reused dump -- ./reused dump 20 50
calculates "$(counted "$either") > 0.6 * $(total) && $(total) > 30"
check $? "functions that change places faster than that are not told apart, and the report says so" "$(told)"
finish
