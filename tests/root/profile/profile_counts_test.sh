#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts of samples against what is known of the measured program: profile_counts_test.sh BUILD
# timeout: 180
. "$(dirname "$0")/../harness.bash" "$1"

# times_of: sets cpu_ns and robbed_ns from the output of `ratio`, and takes it out of the report
times_of() {
	read -r _ cpu_ns robbed_ns < <(grep '^cpu_ns' "$out")
	sed -i '/^cpu_ns/d' "$out"
}
# near COUNT RATE: one sample a period of CPU time, within 15% and 5: a host that takes the CPU away
# and gives it back makes both clocks jump, and not by the same; none while it had the CPU
near() {
	calculates "$1 <= 1.15 * $cpu_ns * $2 / 1e9 + 5 &&
		$1 >= 0.85 * ($cpu_ns - $robbed_ns) * $2 / 1e9 - 5"
}
# ---- two functions, one of which has exactly twice the turns of the other
measure -F 997 -f -e cpu-clock -- "$programs/ratio" 3000
exits "measuring a command that ends well ends with 0" 0
times_of
double=$(counted ';spin_double(;|$)') single=$(counted ';spin_single(;|$)')
n=$((double + single))
# Each sample is one of the two, with p = 2/3 and 1/3: a binomial, of sigma sqrt(n p (1 - p)).
calculates "$n > 1500 / $slow && ($double - $n * 2 / 3) ^ 2 <= 25 * $n * 2 / 9"
check $? "2 to 1 is sampled as 2 to 1, within 5 sigma" "$double and $single"
closing
near "$samples" 997
check $? "997 samples a second of CPU time, within 15% and 5" "$samples in $cpu_ns - $robbed_ns ns"
[ "$(total)" -eq "$samples" ]
check $? "the folded counts add up to the closing line" "$(total), not $samples"
[ "$lost" -eq 0 ] && [ "$(wc -l <"$out")" -le "$stacks" ]
check $? "nothing is lost, no line is there twice" "$(cat "$err")"
work=$(counted ';main(;|$)|;\[unknown\]$')
calculates "$n >= 0.9 * $work"
check $? "of what is sampled below main, 90% is in the two functions" "$n of $work"
awk '{ print $NF }' "$out" | sort -nc
check $? "the hottest stack comes last" "$(awk '{ print $NF }' "$out" | tr '\n' ' ')"

# ---- the same by a period
measure -c 2000000 -f -e cpu-clock -- "$programs/ratio" 1000
times_of
closing
near "$samples" 500
check $? "a sample every 2,000,000 ns of CPU time, within 15% and 5" "$samples in $cpu_ns - $robbed_ns ns"

# ---- the same in the multi-line report
measure -F 997 -- "$programs/ratio" 500
times_of
closing
sum=$(awk '/^        [0-9]+$/ { sum += $1 } END { print sum + 0 }' "$out")
[ "$sum" -eq "$samples" ] && [ "$sum" -gt 100 ]
check $? "the counts of the multi-line report add up to the closing line" "$sum, not $samples"
[ "$(grep -Ec '^    -                ratio \([0-9]+\)$' "$out")" -eq "$(grep -Ec '^ {8}[0-9]+$' "$out")" ]
check $? "each entry names the process" "$(tail -n 6 "$out")"
[ "$(sed -n 1p "$out")" = "Sampling at 997 Hertz of '$programs/ratio' by user + kernel stack... Hit Ctrl-C to end." ] &&
	[ -z "$(sed -n 2p "$out")" ] && [ -n "$(sed -n 3p "$out")" ] && [ -z "$(tail -n 1 "$out")" ]
check $? "a title, a blank line, the entries" "$(head -n 3 "$out")"

# ---- all CPUs, idle ones too
cpus=$(getconf _NPROCESSORS_ONLN)
measure -F 497 -f -I -e cpu-clock 2
closing
# Not all of them need come: some kernels stop the timer of a CPU that idles, for perf too.
calculates "$samples > 0.4 * 497 && $samples <= 1.02 * 497 * 2 * $cpus + 5"
check $? "with idle ones, a CPU gives at most 497 samples a second" "$samples of $cpus CPUs"
# A starved emulated machine loses some; then it is told, and the rest adds up.
[ "$(total)" -eq "$samples" ] && { [ "$lost" -eq 0 ] || [ "$slow" -gt 1 ]; }
check $? "the counts of the whole machine add up to the closing line" "$(total), $(tail -n 1 "$err")"

# ---- nothing to see
measure -F 99 -f --name 'nobody-has-this' 0.2
exits "no samples are no error" 0
[ ! -s "$out" ]
check $? "no samples, no lines" "$(head -n 3 "$out")"
says "no samples are counted as none" '^0 samples, 0 stacks, 0 lost$'
finish
