#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that allocate and free in wrong and rare ways: outstanding blocks are exact, or the inexact
# ones are counted and told, and memory has a limit: stackcount_outstanding_hostile_test.sh BUILD
# timeout: 300
# quiet: it changes return addresses in other programs that call the same functions
# kind: strangers
. "$(dirname "$0")/../stackcount.bash" "$1"
have_uprobes || { skip "hostile allocations" "$no_uprobes" && finish; }

hostile=$programs/sc_leaks_hostile
# own WHAT: the functions of the program itself
own() { leaks --outstanding "$hostile:ml_take" -o "$json" "$hostile:ml_give" -- "$hostile" "$1"; }
# libc WHAT: those of libc
libc() { leaks --leaks -o "$json" -- "$hostile" "$1"; }
# told NAME: the number of this name in the report; 0: there is none
told() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["measurement"]["losses"].get(sys.argv[2], 0))' \
		"$json" "$1"
}
most=262144 # blocks that are followed at a time

# ---- more blocks than are followed
python3 - "$stackcount" "$hostile" "$json" >"$tmp/rss" 2>"$err" <<'END'
import resource, subprocess, sys
stackcount, hostile, report = sys.argv[1:]
subprocess.run([stackcount, "--outstanding", hostile + ":ml_take", "-o", report, hostile + ":ml_give",
                "--", hostile, "many"], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
is "400,000 blocks: so many as are followed" "$(outstanding ml_many)" "$most $most"
is "... and the others are counted" "$(told blocks_lost) $(told block_bytes_lost)" \
	"$((400000 - most)) $((400000 - most))"
says "... and told" "^WARNING: $((400000 - most)) blocks of $((400000 - most)) bytes in all are missing"
calculates "$(cat "$tmp/rss") < 128 * 1024"
check $? "... in less than 128 MB" "$(cat "$tmp/rss") KB"

# ---- frees of what was never allocated, and allocations of what was not freed
own unknown
knows "unknown addresses"
is "... each is counted" "$(told blocks_unallocated)" 100000
own again
knows "addresses that are given again"
is "... each is counted" "$(told blocks_replaced)" 1048
says "... and told" '^1048 blocks were allocated again before they were seen to be freed'

# ---- sizes
own huge
knows "sizes that no sum holds"
says "... which is told" '^WARNING: the sum is larger than 18446744073709551615'

# ---- the same addresses in other processes, which ended, or still run
own same
knows "one address in 40 processes"
own replaced
knows "one address in 20 programs of a process"

# ---- jumps over an allocation, to where others are made that lie deeper on the stack
own jumps
knows "jumps that leave an allocation behind"

# ---- mappings, and realloc
libc parts
knows "parts of mappings"
is "... pages in the middle are counted" "$(told unmapped_unknown)" 1
says "... and told" '^1 time pages were unmapped that no known mapping begins or ends with'
libc moves
knows "realloc in all shapes"
is "... what the allocator unmaps itself is not told" "$(told unmapped_unknown)" 0

# ---- a stack for each block
libc stacks
knows "32,768 stacks"
is "... none is lost" "$(told blocks_lost)" 0

# ---- processes that ended, or run another program, while all processes are measured
leaves=$tmp/leaves
cat >"$leaves.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noipa)) void ml_leaves(void) { kept = malloc(1000); }
int main(int argc, char **argv)
{
	if (argc > 1 && fork() == 0) {
		ml_leaves();
		if (!strcmp(argv[1], "exec"))
			execl("/bin/sleep", "sleep", "20", (char *)NULL);
		_exit(0); /* its parent does not wait for it */
	}
	if (argc == 1)
		ml_leaves();
	kept = malloc(24);
	pause();
	return 0;
}
END
"${CC:-cc}" -O0 -g -o "$leaves" "$leaves.c" 2>"$fate"
attach --leaks -o "$json"
for way in exec zombie ''; do
	# shellcheck disable=SC2086 # none is no argument
	"$leaves" $way &
	started+=("$!")
done
sleep $((2 * slow))
detach
is "blocks of the dead, of programs that were replaced, and of one that runs" \
	"$(outstanding ml_leaves)" "1 1000"
finish
