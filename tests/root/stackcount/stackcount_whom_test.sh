#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whose events count: --exe, lists of CPUs, NUMA nodes, against programs of known calls:
# stackcount_whom_test.sh BUILD
# timeout: 180
# kind: whom
. "$(dirname "$0")/../stackcount.bash" "$1"

# The system call that sc_target's copies make so often, and nobody else there.
event=t:syscalls:sys_enter_getppid
cat >"$tmp/ask.c" <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* ask N [fork|exec PROGRAM|-]: asks N times; then in a child, or as another program. With "-" it
 * waits for a byte before. */
int main(int argc, char **argv)
{
	char byte;
	if (argc > 2 && strcmp(argv[2], "-") == 0 && read(0, &byte, 1) < 0)
		return 1;
	for (int i = 0; i < atoi(argv[1]); i++)
		syscall(SYS_getppid);
	if (argc > 2 && strcmp(argv[2], "fork") == 0) {
		if (fork() == 0)
			return execl("/proc/self/exe", argv[0], argv[1], NULL);
		wait(NULL);
	} else if (argc > 3 && strcmp(argv[2], "exec") == 0) {
		execl(argv[3], argv[3], argv[1], NULL);
	}
	return 0;
}
C
gcc -O1 "$tmp/ask.c" -o "$tmp/ask" && cp "$tmp/ask" "$tmp/other" || { skip "whose events count" "no compiler here" && exit 0; }
ln -s ask "$tmp/link"
# asked NAME EXPECTED: ends what `attach` began
asked() {
	detach
	is "$1" "$(total "$folded")" "$2"
}

# ---- --exe
attach --exe "$tmp/ask" "$event"
"$tmp/ask" 100
"$tmp/other" 1000
asked "--exe counts processes that execute the file, also later ones" 100
attach --exe "$tmp/ask" "$event"
"$tmp/ask" 10 exec "$tmp/other"
"$tmp/other" 1000 exec "$tmp/ask"
asked "... until they execute another one, and from then on" $((10 + 1000))
attach --exe "$tmp/ask" "$event"
"$tmp/ask" 10 fork
asked "... with their children" 20
mkfifo "$tmp/go"
"$tmp/ask" 50 - <"$tmp/go" &
asking=$!
exec 7>"$tmp/go"
await 10 pgrep -f "^$tmp/ask 50" >"$tmp/null"
attach --exe "$tmp/ask" "$event"
echo >&7
exec 7>&-
wait $asking
asked "... those that run already" 50
attach --exe "$tmp/ask" "$event"
cp "$tmp/ask" "$tmp/new" && mv "$tmp/new" "$tmp/ask"
"$tmp/ask" 70
asked "... and a file that took its place" 70
attach --exe "$tmp/ask" "$event"
cp "$tmp/ask" "$tmp/new" && mv "$tmp/new" "$tmp/ask"
sleep 2.5
(cd "$tmp" && ./ask 60)
asked "... which is executed by another path" 60
attach --exe "$tmp/link" "$event"
"$tmp/ask" 30
"$tmp/link" 7
asked "a symbolic link stands for its file" 37
PATH=$tmp:$PATH attach --exe ask "$event"
"$tmp/ask" 20
asked "a name is looked for in PATH" 20
printf '#!%s/ask 5\n' "$tmp" >"$tmp/script" && chmod +x "$tmp/script"
attach --exe "$tmp/ask" "$event"
"$tmp/script"
asked "what executes a script counts by its own file" 5
"$profile" --exe "$tmp/ask" -f 0.2 >"$out" 2>"$err"
says "profile has it, too" "no process that executes $tmp/ask ran"
for wrong in "$tmp/nosuch" nosuch_program "$tmp"; do
	fails 1 "--exe ${wrong#"$tmp"}" '^stackcount: --exe .*: (No such file|it is no regular file)' --exe "$wrong" -D 0.1 "$event"
done

# ---- CPUs
attach -c 0 "$event"
taskset -c 0 "$tmp/ask" 40
[ "$cpus" -lt 2 ] || taskset -c 1 "$tmp/ask" 400
detach
[ "$(total "$folded")" -ge 40 ] && [ "$(total "$folded")" -lt 400 ]
check $? "-c N counts one CPU without the others" "$(total "$folded")"
if [ "$cpus" -ge 2 ]; then
	attach -c 0-1 --exe "$tmp/ask" "$event"
	taskset -c 0 "$tmp/ask" 40
	taskset -c 1 "$tmp/ask" 400
	asked "a list of CPUs counts all of them" 440
	attach -c 1 --exe "$tmp/ask" "$event"
	taskset -c 0 "$tmp/ask" 40
	taskset -c 1 "$tmp/ask" 400
	asked "... with --exe, both have to hold" 400
	attach --cpu=1,0 --exe "$tmp/ask" "$event"
	taskset -c 0 "$tmp/ask" 40
	taskset -c 1 "$tmp/ask" 400
	asked "... in any order" 440
	"$profile" -C 0,1 -F 99 0.5 >"$out" 2>"$err"
	says "profile has it, too" ' on CPUs 0-1 for 0.5 secs' "$out"
else
	skip "lists of CPUs" "this machine has one"
fi
fails 1 "a CPU that does not exist" 'CPU 60000 is not online' -c 0,60000 "$event"
for wrong in x 0- -1-2 0,,1 1,x 99999999999 0-70000; do
	count -c "$wrong" "$event"
	is "-c $wrong" "$status" 2
done
if [ -e /sys/devices/system/node/node0/cpulist ]; then
	attach --node 0 --exe "$tmp/ask" "$event"
	taskset -c 0 "$tmp/ask" 40
	asked "--node counts its CPUs" 40
	fails 1 "a node that does not exist" 'there is no NUMA node 999' --node 999 "$event"
	fails 2 "--node and -c" 'argument --node: not allowed with argument -C/--cpu' --node 0 -c 0 "$event"
else
	skip "--node" "this kernel has no NUMA nodes"
fi
exit $failed
