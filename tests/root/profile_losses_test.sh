#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nothing is lost, and what must be is counted: profile_losses_test.sh BUILD
# PATHS_MS=30000 makes it the long run: 300,000 samples on two CPUs, nearly each a new stack.
# timeout: 300
. "$(dirname "$0")/harness.bash" "$1"
cpus=$(getconf _NPROCESSORS_ONLN)
ms=${PATHS_MS:-$((2500 / slow))}
events() { sed -n 's/^\([0-9]*\) events; .*lost.*/\1/p' "$err"; }
# adds_up NAME: every event was counted or lost, and every count is in the report
adds_up() {
	closing
	events=$(events)
	[ -n "$events" ] && [ "$((samples + lost))" -eq "$events" ] && [ "$(total)" -eq "$samples" ]
	check $? "$1" "$(total) in the report, $events events, $(grep -v ^libbpf "$err" | tail -n 2)"
}

# ---- by default, at 4,999 Hertz on each CPU
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
if [ "$rate" -lt 4999 ]; then
	skip "4,999 Hertz" "kernel.perf_event_max_sample_rate is $rate"
else
	measure_command -v -F 4999 -e cpu-clock -- "$programs/paths" "$ms" "$cpus"
	exits "4,999 new stacks a second on each CPU are no error" 0
	adds_up "each of them is counted"
	[ "$lost" -eq 0 ]
	check $? "and none is lost" "$(tail -n 1 "$err")"
	if [ "$slow" -gt 1 ]; then
		skip "they are as many as that" "an emulated CPU has no such timers"
	else
		# All threads burn as long as one; robbed CPUs have fewer timers.
		calculates "$samples > 0.5 * 4999 * $ms / 1000 * $cpus"
		check $? "they are as many as that" "$samples in $ms ms on $cpus CPUs"
	fi
	work=$(counted ';walk;step;')
	# Where a CPU is emulated there are few calls from sample to sample.
	calculates "$(grep -c ';walk;step;' "$out") > ($slow > 1 ? 0.4 : 0.8) * $work && $work > 100"
	check $? "nearly each is another stack" "$stacks, $(grep -c ';walk;step;' "$out") of $work"
	# 30 levels, each one of two, then the loop at the bottom
	whole=$(awk '{ n = $NF; sub(/ [0-9]+$/, "")
		if (/;walk;step;/ && /;step$/ && gsub(/;(left|right);step/, "") == 30) sum += n }
		END { print sum + 0 }' "$out")
	calculates "$whole > 0.3 * $work"
	check $? "they are whole" "$whole of $work: $(hottest)"
fi

# ---- a whole machine of them, by the interval: turning over loses nothing either
"$programs/paths" 0 "$cpus" >"$fate" &
started+=("$!")
measure -F $((1999 / slow)) -f -i 0.5 2
kill -KILL "$!"
sums=$(sed -n 's/^\([0-9]*\) samples, .*/\1/p' "$err" | awk '{ sum += $1 } END { print sum + 0 }')
[ "$(total)" -eq "$sums" ] && [ "$sums" -gt $((1000 / slow)) ] && ! grep -q ' [1-9][0-9]* lost$' "$err"
check $? "reports by the interval lose nothing" "$(total), $sums: $(cat "$err")"

# ---- with room for little
measure_command -v -F 997 --hash-storage-size 50 -- "$programs/paths" 500 2
exits "a table too small is no error" 0
says "but a warning" '^WARNING: hash table full\. Consider increasing --hash-storage-size\.$'
adds_up "counted and lost samples are all there were"
[ "$lost" -gt 100 ] && [ "$stacks" -le 50 ] && [ "$(wc -l <"$out")" -le 50 ]
check $? "the table has no more entries than it may" "$stacks stacks, $lost lost"

measure_command -v -F 997 --stack-storage-size 50 -- "$programs/paths" 500 2
exits "room for too few stacks is no error" 0
missed=$(grep -cE '\[Missed User Stack\]' "$out")
missed=$((missed + $(grep -cE '\[Missed Kernel Stack\]' "$out")))
# Lines may stand for several: kernel stacks of other addresses but the same names.
warned=$(sed -n 's/^WARNING: \([0-9]*\) stack traces could not be displayed\. Consider increasing --stack-storage-size\.$/\1/p' "$err")
[ "${warned:-0}" -ge "$missed" ] && [ "${warned:-0}" -le $((2 * missed)) ]
check $? "but a warning with the number of stacks in the report that are missing" "$missed; $(head -n 5 "$err")"
closing
[ "$missed" -gt 0 ] && [ "$(total)" -eq "$samples" ] && [ "$samples" -eq "$(events)" ]
check $? "the samples are there without their stacks" "$(total), $samples, $(events)"
# Of user stacks alone: with the kernel's a line has two.
measure_command -q -U -F 997 --stack-storage-size 50 -- "$programs/paths" 500 1
# shellcheck disable=SC2016 # awk's
kept=$(awk '{ sub(/ [0-9]+$/, ""); if (/^paths;/ && !/Missed/) n++ } END { print n + 0 }' "$out")
[ "$kept" -gt 0 ] && [ "$kept" -le 50 ]
check $? "no more than 50 stacks are kept" "$kept"
measure -F 997 --stack-storage-size 50 -- "$programs/paths" 500 2
says "the multi-line report has them by their text" '^    \[Missed User Stack\]$' "$out"
finish
