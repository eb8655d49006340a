#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Time off the CPU: profile_off_cpu_test.sh BUILD
# timeout: 240
# quiet: it compares times
# kind: time
. "$(dirname "$0")/../harness.bash" "$1"

# of TID LEAF [FILE]: the microseconds of a thread with that leaf in a report with --per-thread
of() {
	awk -v tid="$1" -v leaf="$2" '{ line = $0; sub(/ [0-9]+$/, "", line); split(line, part, ";") }
		part[1] ~ "/" tid "$" && substr(line, length(line) - length(leaf) + 1) == leaf { sum += $NF }
		END { print sum + 0 }' "${3-$out}"
}
# near A B SHARE SLACK: whether A and B differ by less than the share of B, or by the slack
near() { calculates "($1 > $2 ? $1 - $2 : $2 - $1) <= ($2 * $3 > $4 ? $2 * $3 : $4)"; }

# measure_off ARGUMENT...: measures time off the CPU; sets $lasted to the microseconds that the measurement
# took, which is a little more than was asked for where the machine is busy
measure_off() {
	rm -f "$tmp"/off.*.json
	measure --off-cpu -o - -o "$tmp/off.%n.json" --format folded --format json "$@"
	lasted=$(sed -n 's/.*"duration_ns":\([0-9]*\),.*/\1/p' "$tmp"/off.*.json | awk '{ sum += $1 } END { print sum / 1000 }')
}

# ---- for each thread, the times on the CPU, blocked and waiting add up to its life
# Each switch is walked, whatever that takes.
stolen=$(stolen_ms)
measure_command --off-cpu --budget 100 --per-thread -- "$programs/waits" 3000
stolen=$(awk "BEGIN { print $(stolen_ms) - $stolen }")
exits "profile --off-cpu ends as the command does" 0
# A wakeup may take a thread's CPU. The scheduler then dates the switch at the wakeup, which was up to
# so many microseconds earlier. That can happen in each of a thread's turns on a CPU.
late_us=$((4 * slow))
# Where the host takes the CPU in between, that is as much earlier as it takes, which the kernel
# tells in ticks.
stolen_us=$(awk "BEGIN { print 1000 * $stolen + ($(stolen_ms) > 0 ? 1e6 / $(getconf CLK_TCK) : 0) }")
worst=0 wrong='' late='' share=$(awk "BEGIN { print 0.01 * $slow * $slow }")
while read -r name tid life run delay turns; do
	blocked=$(of "$tid" ';[blocked]') waiting=$(of "$tid" ';[waiting for a CPU]')
	# Its account is from before the process exits, for which this thread waits for a CPU.
	[ "$name" != asleep ] || waiting=$delay
	error=$(awk -v l="$life" -v s=$((run + blocked + waiting)) \
		'BEGIN { e = (s > l ? s - l : l - s) / l * 100; printf "%.3f", e }')
	calculates "$error > $worst" && worst=$error
	near $((run + blocked + waiting)) "$life" "$share" $((late_us * turns)) || wrong+=" $name: $run + $blocked + $waiting, not $life;"
	near "$waiting" "$delay" "$share" "$((1000 + late_us * turns)) + $stolen_us" || late+=" $name: $waiting, not $delay;"
	case $name in
	naps) naps=$blocked napped=$((life - run - delay)) ;;
	asleep) asleep=$blocked asleep_life=$life ;;
	esac
done <<<"$said"
[ "$(grep -c . <<<"$said")" -eq 14 ] && [ -z "$wrong" ]
check $? "running, blocked and waiting are the life of each of 14 threads" "$wrong $said"
echo "the largest error of a thread is $worst %"
[ -z "$late" ]
check $? "a thread waits for a CPU as long as the kernel's own count says" "$late $stolen ms stolen"
# Naps are as long as asked at least; the machine may let them last.
near "$naps" "$napped" "$share" 0 && [ "$naps" -ge 999000 ]
check $? "ten naps of 100 ms are 1 s" "$naps us; the thread: $napped us"
near "$asleep" "$asleep_life" "$share" 0
check $? "a thread that is asleep when its process exits was blocked until then" "$asleep of $asleep_life"
grep -q '^WARNING' "$err"
[ $? -ne 0 ]
check $? "nothing was lost" "$(grep '^WARNING' "$err")"

# ---- where
has "a nap's stack is complete, with the leaf on top" \
	'^naps-.*;start;take_naps;nap;.*clock_nanosleep.*;schedule;.*\[blocked\]$'
has "that of a futex" '^futex-0-.*;hand_off;.*futex.*;\[blocked\]$'
has "that of a pipe" '^pipe-1-.*;ping_pong;.*read.*;\[blocked\]$'
has "that of a thread that had to leave its CPU" '^run-0-.*;run_only;.*;\[waiting for a CPU\]$'
has "a new thread has no stack yet" '^waits-[0-9]+/[0-9]+;\[waiting for a CPU\]$'
lacks "no stack is without a leaf" '[^]]$'

# ---- threads that are asleep from before the start until after the end
begin "$programs/waits" 0 || finish
measure_off --budget 100 --per-thread -p "$pid" 2
tid=$(for task in /proc/"$pid"/task/*; do
	[ "$(cat "$task/comm")" = asleep ] && echo "${task##*/}"
done)
near "$(of "$tid" ';[blocked]')" "$lasted" "$share" 0
check $? "a thread asleep throughout counts with the time of the measurement" \
	"$(of "$tid" ';[blocked]') us"
has "with its stack, though it never ran" "^asleep-$pid/$tid;.*;start;sleep_on;.*read;.*;\\[blocked\\]\$"
[ "$(counted "^[a-z0-9]+-$pid/[0-9]+;(.*\\[unwind:|\\[blocked|\\[stack not read.*\\[blocked)")" -lt $(($(total) * slow * slow / 1000)) ]
check $? "all stacks are complete" "$(grep -E '\[unwind:|^[^;]*;\[blocked|\[stack not read' "$out" | cut -c 1-200 | tail -n 3)"
# A thread that is ready when the measurement begins may have its turn before its stack is read. How long it
# waited depends on what else runs, as all its waiting does, of which the first wait is a small part.
calculates "$(counted '\[stack not read\];\[waiting') <= 0.1 * $slow * $(counted '\[waiting for a CPU\]$')"
check $? "but those of threads that were ready at the start" "$(grep '\[stack not read' "$out" | tail -n 3)"
tid=$(for task in /proc/"$pid"/task/*; do
	[ "$(cat "$task/comm")" = naps ] && echo "${task##*/}"
done)
near $(($(of "$tid" ';[blocked]') + $(of "$tid" ';[waiting for a CPU]'))) "$lasted" "$share" 0
check $? "and so does one that naps all the time" "$(of "$tid" ';[blocked]') us"
measure --off-cpu --top 1
says "a table of all leaves out threads that slept since before, and says so" \
	'^left out: .* threads, of waits that began before the start; -p shows them$' "$out"
measure --off-cpu --top -p "$pid" 1
grep -q 's off the CPU' "$out" && ! grep -q '^left out' "$out"
check $? "one of a process has them" "$(head -n 9 "$out")"
measure --off-cpu -f 1
says "folded text tells how much of it is theirs" \
	'^[0-9.]+ s of it in waits that began before the start; --format top leaves them out$'
measure --off-cpu -f -p "$pid" 1
! grep -q 'began before the start' "$err"
check $? "... not of a process" "$(cat "$err")"
measure --off-cpu -f -p "$pid" --state 0 1
[ "$(total)" -gt 0 ] && [ "$(counted '\[blocked\]$')" -eq 0 ]
check $? "--state 0 chooses threads that were ready to run" "$(tail -n 1 "$out")"
measure --off-cpu -f -p "$pid" --state 1 1
[ "$(counted ';take_naps;')" -gt 0 ] && [ "$(counted ';run_only;')" -eq 0 ]
check $? "--state 1 chooses threads that slept" "$(grep run_only "$out" | tail -n 1)"

if ((slow > 1)); then
	skip "filters, intervals and the budget" "this workload takes minutes on an emulated machine"
else
	measure_off --per-thread -L "$tid" 1
	[ "$(cut -d';' -f1 "$out" | sort -u)" = "naps-$pid/$tid" ]
	check $? "-L selects one thread" "$(cut -d';' -f1 "$out" | sort -u)"
	near "$(total)" "$lasted" "$share" 0
	check $? "whose time is that of the measurement" "$(total) us"
	measure --off-cpu -f --name naps 1
	[ "$(cut -d';' -f1 "$out" | sort -u)" = naps ]
	check $? "--name selects threads" "$(cut -d';' -f1 "$out" | sort -u)"

	# ---- which absences count
	measure --off-cpu --per-thread -f -p "$pid" --min-block 90000 --max-block 110000 1
	[ "$(counted '^naps-.*;nap;')" -gt 500000 ] && [ "$(counted '^(short|epoll)-')" -eq 0 ]
	check $? "--min-block and --max-block choose absences by their length" "$(tail -n 2 "$out")"
	measure --off-cpu -v --name no-such-thread 0.5
	says "threads that are left out are no events, sleepers neither" '^0 events; nothing was lost'
	# ---- intervals
	measure_off --per-thread -L "$tid" -i 0.5 2
	[ "$status" -eq 0 ] && near "$(total)" "$lasted" "$share" 0
	check $? "the intervals add up to the whole" "$(total) us"

	# ---- within the budget, walked switches stand for all
	measure_off --budget 100 --per-thread -p "$pid" 2
	whole=$(total)
	# A rare long absence of a thread with short ones may count 256 times: in 2 s, that is up to 15 %.
	measure --off-cpu --per-thread -f -p "$pid" 8
	says "beyond the budget of 1 % the report says how many switches were walked" \
		'^estimate: 1 switch in [0-9.]+ was walked, .*--budget 100 walks all'
	near "$(total)" $((whole * 4)) 0.15 0
	check $? "and these count for all" "$(total) us in 8 s, $whole in 2 s"
	away=$(($(of "$tid" ';[blocked]') + $(of "$tid" ';[waiting for a CPU]')))
	near "$away" 8000000 "$share" 0
	check $? "threads with long absences are walked each time" "$away us"
fi

# ---- on the CPU and off it
measure --wall -F 199 --budget 100 --per-thread -f -p "$pid" 2
threads=(/proc/"$pid"/task/*)
elapsed=$(counted '^asleep-')
near "$(total)" $((elapsed * ${#threads[@]})) "$(awk "BEGIN { print 3 * $share }")" 0
check $? "--wall: the time of all threads is that of the measurement" "$(total) us of ${#threads[@]}"
for name in run-0 short pipe-0 epoll; do
	near "$(counted "^$name-")" "$elapsed" "$(awk "BEGIN { print 0.14 + $share }")" 0
	check $? "that of each is the measurement's: $name" "$(counted "^$name-") us"
done
has "samples have no leaf that says otherwise" '^run-0-.*;run_only;spin(;clock_[a-z]+)*$'

# ---- wakers
measure --off-cpu --wakers --budget 100 -f -p "$pid" 1
has "the waker of a pipe's reader: its stack, innermost function first, and its name" \
	'^pipe-1;.*;ping_pong;.*;\[blocked\];--;try_to_wake_up;.*write.*;ping_pong;.*;pipe-0$'
has "that of a futex" '^futex-0;.*;\[blocked\];--;try_to_wake_up;.*futex.*;hand_off;.*;futex-1$'
has "a timer wakes threads that nap" '^naps;.*;\[blocked\];--;try_to_wake_up;.*hrtimer.*;\[timer interrupt\]$'
lacks "a timer is no task" ';hrtimer_wakeup;.*;[a-z0-9-]+$'
lacks "only blocked threads have a waker" 'waiting for a CPU\];--'
near "$(counted '^naps;')" "$(counted '^asleep;')" "$share" 0
check $? "the time is that of the measurement" "$(counted '^naps;') us"
end

# ---- the same where threads switch as often as they can
if command -v perf >"$fate"; then
	taskset -c 0 perf bench sched pipe -l 1000000000 >>"$fate" 2>&1 &
	started+=($!)
	switching() { [ "$(pgrep -c -x sched-pipe)" -eq 2 ]; }
	await 5 switching
	stolen=$(stolen_ms)
	measure --wall -F 499 --budget 100 --name sched-pipe -f 2
	# While the host has the CPU, the scheduler's clock runs on, but no timer takes a sample.
	stolen=$(awk "BEGIN { print $(stolen_ms) - $stolen }")
	calculates "$(total) <= 4e6 * (1 + 3 * $share) && $(total) >= 4e6 * (1 - 3 * $share) - 1e3 * $stolen"
	check $? "two threads on one CPU, that do nothing but switch: 4 s in 2 s" "$(total) us, $stolen ms stolen"
	switches=$("$profile" --off-cpu --budget 100 --name sched-pipe -v 1 2>&1 >>"$fate" |
		sed -n 's/^\([0-9]*\) events; nothing was lost.*/\1/p')
	[ -n "$switches" ]
	check $? "nothing is lost: ${switches:-?} switches in a second"
	pkill -x sched-pipe
else
	skip "the law where threads switch as often as they can" "there is no perf (package linux-perf)"
fi

# ---- formats
measure --off-cpu -U -f 1
[ "$(counted '\[blocked\]$')" -gt 0 ] && [ "$(counted ';schedule;')" -eq 0 ]
check $? "-U leaves out kernel frames, but not the leaf" "$(tail -n 1 "$out" | cut -c 1-300)"

finish
