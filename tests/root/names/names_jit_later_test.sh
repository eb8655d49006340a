#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Generated code that is named, or replaced, while it is measured: names_jit_later_test.sh BUILD
# Reports of this kind: with intervals, code stayed [jit] although the map named it meanwhile, and
# an address had its first name for ever.
# timeout: 120
# kind: generated code
. "$(dirname "$0")/../harness.bash" "$1"
cd "$tmp" || exit 1
maps=()
remove_maps() { rm -f "${maps[@]}"; }
at_exit=remove_maps
cat >later.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* Runs code at one address; it is named after a third of the time, and named again after two. */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x10, 0x00,
				      0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
int main(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *names[] = { NULL, "named_later", "named_again" };
	char path[64];

	sprintf(path, "/tmp/perf-%d.map", getpid());
	memcpy(page, code, sizeof(code));
	for (int i = 0; i < 3; i++) {
		FILE *map = fopen(path, "a");

		if (names[i])
			fprintf(map, "%lx %zx %s\n", (unsigned long)page, sizeof(code), names[i]);
		fclose(map);
		for (time_t end = time(NULL) + 3; time(NULL) < end;)
			((void (*)(void))page)();
	}
	printf("later %d\n", getpid());
}
C
if ! gcc -O1 later.c -o later; then
	skip "code is named when its name is there" "no compiler"
	exit
fi
measure -q -U -f -F 99 -i 1 -- ./later
maps+=("/tmp/perf-$(sed -n 's/^later //p' "$out").map")
has_line() { grep -qE ";$1 [0-9]+$" "$out"; }
has_line '\[jit\]' && has_line named_later && has_line named_again
check $? "code is named when its name is there, and named anew when that has changed" \
	"$(grep -oE ';[^;]+ [0-9]+$' "$out" | sort | uniq -c | sort -n | tail -n 5 | paste -sd,) $(tail -n 2 "$err")"
