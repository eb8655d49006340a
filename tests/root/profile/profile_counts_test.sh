#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers of samples, compared with the known behaviour of the program: profile_counts_test.sh BUILD
# timeout: 180
# kind: losses
. "$(dirname "$0")/../harness.bash" "$1"

# times_of: sets $cpu_ns and $stolen_ns from the last line of `ratio`, and removes it from the
# report
times_of() {
	read -r _ cpu_ns stolen_ns < <(grep '^cpu_ns' "$out")
	sed -i '/^cpu_ns/d' "$out"
}
# near COUNT RATE: one sample for each period of CPU time, within 15 % and 5 samples. While the host
# has taken the CPU, no timer runs (stolen_ns); when the host gives it back, the clock of the timer
# and that of the process jump by different amounts.
near() {
	calculates "$1 <= 1.15 * $cpu_ns * $2 / 1e9 + 5 &&
		$1 >= 0.85 * ($cpu_ns - $stolen_ns) * $2 / 1e9 - 5"
}
# ---- two functions, one of which runs exactly twice as many loops as the other
measure -F 997 -f -e cpu-clock -- "$programs/ratio" 3000
exits "a command that ends with 0: exit status 0" 0
times_of
double=$(counted ';spin_double(;|$)') single=$(counted ';spin_single(;|$)')
n=$((double + single))
# A binomial distribution with p = 2/3: sigma is sqrt(n p (1 - p)) = sqrt(n * 2 / 9).
calculates "$n > 1500 / $slow && ($double - $n * 2 / 3) ^ 2 <= 25 * $n * 2 / 9"
check $? "2 to 1 is sampled as 2 to 1, within 5 sigma" "$double and $single"
closing
near "$samples" 997
check $? "997 samples a second of CPU time, within 15% and 5" "$samples in $cpu_ns - $stolen_ns ns"
[ "$(total)" -eq "$samples" ]
check $? "the folded counts add up to the closing line" "$(total), not $samples"
[ "$lost" -eq 0 ] && [ "$(wc -l <"$out")" -le "$stacks" ]
check $? "nothing is lost, and no stack has two lines" "$(cat "$err")"
work=$(counted ';main(;|$)|;\[[^;]*\]$')
calculates "$n >= 0.9 * $work"
check $? "90% of the samples below main are in the two functions" "$n of $work"
awk '{ print $NF }' "$out" | sort -nc
check $? "the hottest stack comes last" "$(awk '{ print $NF }' "$out" | tr '\n' ' ')"

# ---- the same by a period
measure -c 2000000 -f -e cpu-clock -- "$programs/ratio" 1000
times_of
closing
near "$samples" 500
check $? "a sample every 2,000,000 ns of CPU time, within 15% and 5" "$samples in $cpu_ns - $stolen_ns ns"

# ---- the same in the multi-line report
measure -F 997 -- "$programs/ratio" 500
times_of
closing
sum=$(awk '/^        [0-9]+$/ { sum += $1 } END { print sum + 0 }' "$out")
[ "$sum" -eq "$samples" ] && [ "$sum" -gt 100 ]
check $? "the counts of the multi-line report add up to the closing line" "$sum, not $samples"
n=$(grep -Ec '^ {8}[0-9]+$' "$out")
[ "$n" -gt 0 ] && [ "$(grep -Ec '^    -                ratio \([0-9]+\)$' "$out")" -eq "$n" ]
check $? "each entry names the process" "$(tail -n 6 "$out")"
[ "$(sed -n 1p "$out")" = "Sampling at 997 Hertz of '$programs/ratio' by user + kernel stack... Hit Ctrl-C to end." ] &&
	[ -z "$(sed -n 2p "$out")" ] && [ -n "$(sed -n 3p "$out")" ] && [ -z "$(tail -n 1 "$out")" ]
check $? "a title, a blank line, the entries" "$(head -n 3 "$out")"

# ---- all CPUs, idle ones too
cpus=$(getconf _NPROCESSORS_ONLN)
measure -F 497 -f -I -e cpu-clock 2
closing
# There may be fewer: some kernels stop the timers of an idle CPU, those of perf too.
calculates "$samples > 0.4 * 497 && $samples <= 1.02 * 497 * 2 * $cpus + 5"
check $? "idle ones included, each CPU has at most 497 samples a second" "$samples of $cpus CPUs"
# An emulated machine may lose samples; losses are reported, and the other samples add up.
[ "$(total)" -eq "$samples" ] && { [ "$lost" -eq 0 ] || [ "$slow" -gt 1 ]; }
check $? "the counts of the whole machine add up to the closing line" "$(total), $(tail -n 1 "$err")"

# ---- no samples
measure -F 99 -f --name 'nobody-has-this' 0.2
none "a report without samples is no error, and is empty"
finish
