#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A duration is kept, or what was waited for is told: durations_test.sh BUILD
# Reports of this kind: a measurement of one second that takes twenty on a busy machine, and does not
# say so.
# timeout: 120
# quiet: its loops take all CPUs
# kind: time
. "$(dirname "$0")/../harness.bash" "$1"
cpus=$(getconf _NPROCESSORS_ONLN)

# ---- stopped meanwhile: the end says when counting stopped
"$profile" -p $$ 1 >"$out" 2>"$err" &
run=$!
started+=("$run")
await 60 grep -q '^Sampling' "$out"
kill -STOP "$run"
sleep 2.5
kill -CONT "$run"
wait "$run"
says "a measurement that was stopped says that it ends late" \
	'^ended [0-9.]+ s late: [12]\.[0-9] s until counting stopped.* of the CPUs'

# ---- stopped before it measures: the duration counts from when it does
loads() { find "/proc/$run/fd" -lname 'anon_inode:bpf*' 2>>"$fate" | grep -q .; }
for try in 1 2 3 4 5; do
	"$profile" -p $$ 1 >"$out" 2>"$err" &
	run=$!
	started+=("$run")
	await 60 loads
	kill -STOP "$run"
	grep -q '^Sampling' "$out" || break
	kill -CONT "$run"
	wait "$run"
done
sleep 1.5
kill -CONT "$run"
wait "$run"
says "a measurement that begins late says so ($try)" \
	'^began [1-9][0-9]*\.[0-9] s late: until then, it has had [0-9.]+ s of the CPUs$'

# ---- children read files of others at the ordinary priority
reader() { pgrep -P "$run" stacktally-read | head -n 1; }
has_reader() { [ -n "$(reader)" ]; }
"$profile" 30 >"$out" 2>"$err" &
run=$!
started+=("$run")
await 60 has_reader
# The 19th field of stat is the nice value; the second may have blanks.
nice_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f17; }
ours=$(nice_of "$run") theirs=$(nice_of "$(reader)")
[ "$ours" = -10 ]
check $? "a measurement runs before other programs" "nice $ours"
[ "$theirs" = 0 ]
check $? "what reads files runs as other programs do" "nice $theirs"
kill -INT "$run"
wait "$run"

# ---- 5,000 threads that sleep: each is listed and walked, in time that grows with their number only
cat >"$tmp/sleepers.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *nap(void *a) { for (;;) pause(); return a; }
int main(void)
{
	pthread_attr_t small;
	pthread_t thread;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32768);
	for (int i = 0; i < 5000; i++)
		if (pthread_create(&thread, &small, nap, NULL)) return 1;
	printf("ready %d\n", getpid());
	fflush(stdout);
	pause();
}
C
"${CC:-cc}" -pthread -o "$tmp/sleepers" "$tmp/sleepers.c" 2>"$err" || fail "compiled" "$(cat "$err")"
begin "$tmp/sleepers" || finish
TIMEFORMAT='%U %S'
used=$({ time "$profile" --off-cpu -f -p "$pid" 1 >"$out" 2>"$err"; } 2>&1)
calculates "${used/ / + } < 1.5"
check $? "5,000 threads are listed in linear time" "CPU seconds: $used; 4.2 when it was quadratic"
# The stacks of 4,096 are read; the time of the others is told as theirs.
calculates "$(counted 'nap;|stack not read') >= 4999 * 1000000"
check $? "each of 5,000 threads slept for a second" "$(total) us; $(tail -n 3 "$err")"
end

# ---- beside a load of ten loops a CPU
for ((i = 0; i < 10 * cpus; i++)); do
	bash -c 'while :; do :; done' &
	started+=("$!")
done
# keeps NAME COMMAND...: what it takes beyond its second is told, but for what the load adds to starting it
keeps() {
	local name=$1 began=$EPOCHREALTIME told
	shift
	"$@" >"$out" 2>"$err"
	told=$(sed -nE 's/^(began|ended) ([0-9.]+) s late.*/\2/p' "$err" | awk '{ sum += $1 } END { print sum + 0 }')
	calculates "$EPOCHREALTIME - $began - 1 - $told < 2"
	check $? "$name keeps its time, or tells" "$(tail -n 3 "$err"); told $told s"
}
keeps profile "$profile" 1
keeps stackcount "$stackcount" -D 1 c:malloc
finish
