#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Time off the CPU, beside `perf sched timehist` in the same run: profile_off_cpu_perf_test.sh BUILD
# timeout: 180
# quiet: it compares times
# kind: time
. "$(dirname "$0")/../harness.bash" "$1"

if ! command -v perf >"$fate"; then
	skip "perf sched timehist" "there is no perf (package linux-perf)"
	finish
fi

data=$tmp/perf.data
# The events of `perf sched record` that timehist reads, but sched_wakeup in place of sched_waking: we
# count a thread as blocked until it is ready to run, which is when that event comes.
events=sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new
# record SIZE: runs the workload under profile, and both under perf with buffers of that size, so that
# both see all its threads from start to end.
record() {
	perf record -a -R -c 1 -m "$1" -e $events -o "$data" -- \
		"$profile" --off-cpu --budget 100 --per-thread -o "$out" --format folded -- \
		"$programs/waits" $((2000 * slow)) >"$tmp/said" 2>"$err"
	status=$?
	said=$(cat "$tmp/said")
}
# Events that perf has lost, by its own records of that.
perf_lost() {
	perf report --stats -i "$data" 2>>"$fate" | awk '/LOST(_SAMPLES)? events:/ { n += $3 } END { print n + 0 }'
}
# No CPU may be idle: on some machines perf sees no event of a CPU's idle task, neither wakeups nor
# switches. These programs run only on CPUs without other work.
for cpu in $(python3 -c 'import os; print(*os.sched_getaffinity(0))'); do
	taskset -c "$cpu" chrt -i 0 bash -c 'while :; do :; done' &
	started+=($!)
done
for size in 16M 64M 256M; do
	record $size
	lost_records=$(perf_lost)
	[ "$lost_records" -gt 0 ] || break
	echo "perf lost events with buffers of $size for each CPU ($lost_records records of that)"
done
exits "perf records profile, which measures a command" 0
if [ "$lost_records" -gt 0 ]; then
	fail "perf loses nothing" "it has, with buffers of $size, too"
	finish
fi
lost_by_us=$(sed -n 's/.* s off the CPU, [0-9]* stacks*, \([0-9]*\) lost$/\1/p' "$err")
[ "$lost_by_us" = 0 ] && ! grep -q '^WARNING' "$err"
check $? "profile loses nothing" "$(head -n 5 "$err")"

tids=$(awk '{ print $2 }' <<<"$said" | paste -sd,)
perf sched timehist -i "$data" --with-summary --state --tid="$tids" >"$tmp/timehist" 2>>"$fate"
python3 "$(dirname "$0")/timehist.py" "$tmp/timehist" >"$tmp/theirs"
# ours TID LEAF: microseconds
ours() {
	awk -v tid="$1" -v leaf=";[$2]" '{ line = $0; sub(/ [0-9]+$/, "", line); split(line, part, ";") }
		part[1] ~ "/" tid "$" && substr(line, length(line) - length(leaf) + 1) == leaf { sum += $NF }
		END { print sum + 0 }' "$out"
}
# near A B: whether A and B differ by less than 1 % of B, or by less than the slack: both read the clock,
# one after the other, up to half a microsecond apart on a real machine.
near() { calculates "($1 > $2 ? $1 - $2 : $2 - $1) <= ($2 / 100 > $slack ? $2 / 100 : $slack)"; }
# perf has neither a thread's last turn on a CPU nor the nap before it.
last_nap=$((slow > 1 ? 40000 : 1000))
# The thread `asleep` is the last of its process, and profile forgets it when it begins to exit. It
# leaves its CPU in state D only then. If it never does, perf has not seen it sleep.
exiting=$(awk '/ asleep\[/ && NF == 7 { if (last == "D") ms += $4; last = $7 } END { print last == "D" ? int(ms * 1000) : "" }' \
	"$tmp/timehist")
[ -n "$exiting" ] || skip "the thread that sleeps until its process exits" "perf does not see its end"
wrong_blocked='' wrong_waiting='' seen=0
printf '%-9s %9s %9s %9s %9s %9s\n' thread blocked perf waiting perf absences
while read -r name tid _; do
	read -r _ blocked waiting turns <<<"$(grep "^$tid " "$tmp/theirs")"
	[ -n "$turns" ] || continue
	seen=$((seen + 1)) slack=$((last_nap + turns * slow * slow / 2))
	if [ "$name" = asleep ]; then
		[ -n "$exiting" ] || continue
		slack=$((slack + exiting))
	fi
	us=$(ours "$tid" blocked)
	near "$us" "$blocked" || wrong_blocked+=" $name: $us, not $blocked;"
	printf '%-9s %9d %9d' "$name" "$us" "$blocked"
	us=$(ours "$tid" 'waiting for a CPU')
	near "$us" "$waiting" || wrong_waiting+=" $name: $us, not $waiting;"
	printf ' %9d %9d %9d\n' "$us" "$waiting" "$turns"
done <<<"$said"
[ "$seen" -eq 14 ]
check $? "perf saw the 14 threads" "$(tail -n 5 "$tmp/timehist")"
[ "$seen" -gt 0 ] && [ -z "$wrong_blocked" ]
check $? "each was blocked as long as perf says" "$wrong_blocked"
[ "$seen" -gt 0 ] && [ -z "$wrong_waiting" ]
check $? "and waited for a CPU as long" "$wrong_waiting"
finish
