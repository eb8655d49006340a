#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a terminal gets of a measurement if nothing else is asked for: top_test.sh BUILD
# Reports of this kind: 6,949 lines of stacks, and no table.
# timeout: 120
# kind: silence
. "$(dirname "$0")/../harness.bash" "$1"
export TERM=xterm NO_COLOR=1

# on_terminal COMMAND ...: its output on a terminal of 80 columns in $out
on_terminal() {
	script -qec "stty cols 80 rows ${rows-40}; $*" /dev/null </dev/null |
		tr -d '\r' >"$out"
}
python3 -c 'while True: pass' &
burner=$!
started+=("$burner")
on_terminal "$profile -F 199 1"
says "the processes, with the CPUs they used" '^ +[0-9]\.[0-9]{2} +[0-9.]+%  python3 \(' "$out"
says "the functions" '^     self      %    total      %  function, by self' "$out"
says "the hottest stacks" '^hottest stack of ' "$out"
says "what to type next" '^next: -p [0-9]+ alone; .*--format text' "$out"
[ "$(wc -l <"$out")" -le 42 ] # 40, and a loss where there is one
check $? "on one screen" "$(wc -l <"$out")"

# The first thread sleeps all the time, and what works has another comm, as in Java's servers.
cat >"$tmp/server.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *work(void *context)
{
	prctl(PR_SET_NAME, "exec-1");
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		*(volatile long *)context += 1;
}
int main(void)
{
	static long sum;
	pthread_t worker;
	return pthread_create(&worker, NULL, work, &sum) || pthread_join(worker, NULL);
}
END
gcc -O1 "$tmp/server.c" -o "$tmp/server" || exit 2
begin "$tmp/server"
on_terminal "$profile -p $pid 0.5"
says "a process is called as it is, not as its busiest thread" "%  server \\($pid\\) +work" "$out"
"$profile" -q -p "$pid" -o "$tmp/server.stacktally" 0.5
end
"$profile" --from "$tmp/server.stacktally" --format top >"$out"
says "in a recording, too, when it has gone" "%  server \\($pid\\) +work" "$out"

cat >"$tmp/waits.py" <<'END'
import threading
def wait_for_ever(lock):
    while True:
        lock.acquire(timeout=0.02)
lock = threading.Lock()
lock.acquire()
print("ready", __import__("os").getpid(), flush=True)
wait_for_ever(lock)
END
begin python3 "$tmp/waits.py"
on_terminal "$profile --off-cpu -p $pid 2"
says "off the CPU: blocked, waiting" '^  blocked  waiting  process  +waits mostly in' "$out"
grep -A 1 'function, by self' "$out" | grep -q '% .*wait_for_ever (waits\.py)'
check $? "self is of the function that waits" "$(cat "$out")"
end

rows=30 on_terminal "$profile -i 0.5 1"
[ "$(grep -c "$(printf '\033\\[H\033\\[J')" "$out")" = 2 ]
check $? "-i draws the table anew each time" "$(cat -v "$out")"

on_terminal "$profile -e page-faults 1"
! grep -q CPUs "$out"
check $? "page faults are not told in CPUs" "$(cat "$out")"

on_terminal "$stackcount -D 1 t:syscalls:sys_enter_write"
says "stackcount has the table, too" '^   events      %  process' "$out"
kill "$burner"
exit $failed
