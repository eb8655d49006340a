#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --keep, and what `stacktally last` reports of it: keep_test.sh BUILD
# timeout: 120
# kind: outputs
. "$(dirname "$0")/../harness.bash" "$1"
cd "$tmp" || finish
stacktally=$(dirname "$profile")/stacktally
export RUNTIME_DIRECTORY=$tmp/run # where the service manager would have it
root=/run/stacktally

cat >phases.c <<'END_OF_C'
#include <stdlib.h>
#include <time.h>
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
volatile long spun;
#define BURN(name) __attribute__((noinline)) void name(double until) \
	{ while (now() < until) for (int i = 0; i < 100000; i++) spun++; }
BURN(before)
BURN(alert)
int main(void)
{
	double start = now();
	before(start + 4);
	alert(start + 8);
	return 0;
}
END_OF_C
gcc -O1 phases.c -o phases || finish

# kept DIRECTORY N: waits until there are N recordings in it
kept() { until [ "$(find "$1" -name '*.stacktally' 2>"$fate" | wc -l)" -ge "$2" ]; do sleep 0.05; done; }
last() {
	"$stacktally" last "$@" >"$out" 2>"$err"
	status=$?
}

# In a directory that a service manager made, only for its user.
mkdir -m 0700 "$RUNTIME_DIRECTORY"
"$profile" -F 99 --keep 1m -i 1 -q 2>"$tmp/kept" &
pid=$!
kept "$RUNTIME_DIRECTORY/profile.$pid" 2
[ "$(stat -c %a "$RUNTIME_DIRECTORY/profile.$pid")" = 700 ] &&
	[ "$(stat -c %a "$RUNTIME_DIRECTORY/profile.$pid"/0*.stacktally | sort -u)" = 600 ]
check $? "what is kept is for its user only" "$(ls -la "$RUNTIME_DIRECTORY/profile.$pid")"
"$profile" -q --from "$(find "$RUNTIME_DIRECTORY/profile.$pid" -name '0*.stacktally' | head -n 1)" -f --range 0- >"$out" 2>"$err"
check $? "each interval is a recording with times" "$(cat "$err")"
kill -INT $pid
wait $pid
check $? "it ends as asked" "$(cat "$tmp/kept")"
[ ! -e "$RUNTIME_DIRECTORY/profile.$pid" ]
check $? "and leaves nothing behind" "$(ls -la "$RUNTIME_DIRECTORY")"
# As the service runs it without a URL.
"$profile" --push '' --spool "$tmp/spool" --label of=test --keep 1m -i 1 -q 2>"$tmp/kept" &
pid=$!
kept "$RUNTIME_DIRECTORY/profile.$pid" 1
kill -INT $pid
wait $pid && [ ! -e "$tmp/spool" ] && [ ! -s "$tmp/kept" ]
check $? "an empty URL sends nothing, and it keeps" "$(cat "$tmp/kept"; ls "$tmp/spool" 2>&1)"
measure --push '' --spool "$tmp/spool"
exits "without --keep, an empty URL is refused" 2
chmod 0777 "$RUNTIME_DIRECTORY"
measure --keep 1m -q
[ "$status" -eq 1 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q 'others may write to it' "$err"
check $? "a directory that others may write to is refused" "$status: $(cat "$err")"
unset RUNTIME_DIRECTORY

# Ten minutes ago: a program that was slow, and is not any more.
before=$(ls $root 2>"$fate")
"$profile" -F 99 --keep 1m -i 1 -q 2>"$tmp/kept" &
pid=$!
kept $root/profile.$pid 1
./phases
kept $root/profile.$pid 9
last 1m --of $pid --name phases -f
[ $status -eq 0 ] && [ "$(counted 'before$')" -gt 0 ] && [ "$(counted 'alert$')" -gt 0 ]
check $? "what is over is in the last minute" "$(cat "$err" "$out")"
all=$(total)
last 3s --of profile.$pid --name phases -f
[ $status -eq 0 ] && [ "$(counted 'before$')" -eq 0 ] && [ "$(total)" -lt "$all" ]
check $? "the last three seconds have less" "$all: $(cat "$err" "$out")"
last 1m --of $pid --name phases -o last.perf -o last.html -o last.stacktally
[ "$(sed -n 's/^\t.* \(before\|alert\)+.*/\1/p' last.perf | uniq | paste -sd' ')" = "before alert" ] && [ -s last.html ]
check $? "intervals are put together in the order of time" "$(sed -n 's/^\t.* \(before\|alert\)+.*/\1/p' last.perf | uniq -c)"
measure -q --from last.stacktally -f --range 1-
[ "$status" -eq 0 ] && [ "$(total)" -gt 0 ]
check $? "the recording of it has times" "$(cat "$err")"
[ "$(counted . <(sort "$out"))" -ge 0 ] && ! grep -q 'WARNING: cannot keep' "$tmp/kept"
check $? "all intervals were kept" "$(cat "$tmp/kept")"

# Killed: it stays there until the next one finds that it is too old.
kill -KILL $pid
wait $pid 2>"$fate"
last 1m --of $pid -f
[ $status -eq 0 ] && [ -s "$out" ]
check $? "what a killed process kept can be reported" "$(cat "$err")"
"$profile" --keep 2 -i 1 -q 2>"$tmp/kept" &
next=$!
kept $root/profile.$next 1
oldest=$(ls $root/profile.$next)
while [ -e "$root/profile.$next/$oldest" ] && kill -0 $next; do sleep 0.05; done
[ "$(find $root/profile.$next -name '*.stacktally' | wc -l)" -le 4 ]
check $? "only the last two seconds are kept" "$(ls $root/profile.$next)"
while [ -e $root/profile.$pid ] && kill -0 $next; do sleep 0.05; done
[ ! -e $root/profile.$pid ]
check $? "what is too old is removed" "$(ls -la $root/profile.$pid)"
kill -INT $next
wait $next
[ ! -e $root/profile.$next ]
check $? "nothing is left" "$(ls $root)"
if [ -z "$(ls -A $root)" ]; then
	last 5m
	says "which is told" 'nothing is kept, and what a measurement kept goes when it is stopped: profile --keep 10m'
fi

last 5m --of 4000000000
[ $status -eq 1 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q 'has kept nothing' "$err"
check $? "a process that keeps nothing" "$(cat "$err")"
finish
