#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples that were due and never came are told: profile_due_test.sh BUILD
# Reports of this kind: a profiler that has a third of the samples of the one beside it, and says that
# nothing was lost.
# timeout: 120
# quiet: its 99,999 samples a second take all CPUs
# kind: losses
. "$(dirname "$0")/../harness.bash" "$1"
cpus=$(getconf _NPROCESSORS_ONLN)
# of NAME: a number of the JSON report in $tmp/due.json
of() { grep -o "\"$1\":[0-9]*" "$tmp/due.json" | head -n 1 | cut -d: -f2; }
# read_due: sets $due, $missing, $events and $should, the samples that are due by the report's time
read_due() {
	due=$(of due) missing=$(of never_came) events=$(of events)
	should=$(awk "BEGIN { printf \"%d\", $(of duration_ns) / 1e9 * $1 * $cpus }")
	due=${due:-0} missing=${missing:-0}
}
# adds_up NAME: all that is due either came or is told. At the begin, events count a moment before what
# is due does, and a busy machine may stretch it. Two samples a CPU: at both ends, one may come
# while the counts are read; and the emulated clocks of two CPUs differ.
adds_up() {
	calculates "$due > 0 && $due <= 1.01 * $should + 2 * $cpus && $due >= 0.95 * $should - 2 * $cpus"
	check $? "$1: what is due is what the time and the rate say" "$due, $should"
	calculates "$events + $missing <= 1.05 * $due + 2 * $cpus && $events + $missing >= 0.999 * $due - 2 * $cpus"
	check $? "$1: each sample that is due came, or is told" "$events and $missing of $due"
}

# ---- all CPUs, idle ones too: every sample is in the report, or told
measure -I --self -F 997 -e cpu-clock -v -o "$tmp/due.json" $((2 * slow))
read_due 997
adds_up "the whole machine"
if [ "$missing" -gt 0 ]; then
	says "what is missing has a line" "$missing of $due samples that were due, of any process, never came"
else
	says "with -v, what was due has a line" "^clock: $due samples were due, of any process; $due came$"
fi

# ---- three loops a CPU, programs that start all the time, no tables yet, and another profiler
mkdir "$tmp/no-tables"
for ((i = 0; i < 3 * cpus; i++)); do
	bash -c 'while :; do :; done' &
	loops+=("$!")
done
bash -c 'while :; do /bin/true; /bin/echo; done' >"$fate" &
loops+=("$!")
perf record -q -F 99 -a -g -o "$tmp/perf.data" sleep $((8 * slow)) >"$fate" 2>&1 &
loops+=("$!")
started+=("${loops[@]}")
XDG_CACHE_HOME=$tmp/no-tables measure -I --self -F 199 -e cpu-clock -v -o "$tmp/due.json" $((4 * slow))
kill "${loops[@]}" 2>>"$fate"
{ wait "${loops[@]}"; } 2>>"$fate"
read_due 199
adds_up "a busy machine beside perf record"

# ---- more than the CPUs can take: their time goes into walks of deep stacks
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
if [ "$rate" -lt 99999 ]; then
	skip "more samples than CPUs can take" "kernel.perf_event_max_sample_rate is $rate"
else
	begin "$programs/paths" 0 "$cpus" 60 || finish
	measure -I --self -F 99999 -e cpu-clock -o "$tmp/due.json" 1
	end
	read_due 99999
	adds_up "a machine that is too slow"
	[ "$missing" -gt 1000 ]
	check $? "samples are missing" "$missing"
	says "a warning says why" '^WARNING: [0-9]+ of [0-9]+ samples that were due, of any process, never came .*the CPUs took no interrupt in time \([0-9]+\)'
fi

# ---- a report of each interval tells what it lacks, and the sum is that of the whole time
measure -I --self -F 997 -e cpu-clock -v -f -i 0.3 $((2 * slow))
read -r sum came < <(sed -n 's/^clock: \([0-9]*\) samples were due, of any process; \([0-9]*\) came$/\1 \2/p' "$err" |
	awk '{ due += $1; came += $2 } END { print due + 0, came + 0 }')
counted=$(sed -n 's/^\([0-9]*\) samples*, .*/\1/p' "$err" | awk '{ sum += $1 } END { print sum + 0 }')
calculates "$sum >= 0.98 * 997 * 2 * $slow * $cpus && $came >= $counted && $came <= $counted + 20 * $cpus"
check $? "intervals tell what was due in them" "$sum due, $came came, $counted counted"

# ---- an idle CPU that takes no interrupt lacks nothing that was asked for
measure --self -F 199 -f 2
! grep -q '^WARNING: .* samples that were due' "$err"
check $? "idle CPUs are no loss" "$(grep '^WARNING' "$err")"
finish
