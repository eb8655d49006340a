#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts as perf's samples: the times show no phases that never were: perf_script_test.sh BUILD
# kind: time
set -u
profile=$1/profile
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"

printf 'x;main;f 100\nx;main;g 100\ny;main;h 20\nz;main;once 1\n' >"$tmp/in"
"$profile" -q --from "$tmp/in" --format perf-script >"$tmp/out" 2>"$tmp/err"
# The leaf follows the line of its record.
awk '/^[xyz] / { time = $3 + 0; if (time < last) print "back"; last = time; getline; print $2 }' "$tmp/out" |
	sed 's/+0x.*//' >"$tmp/leaves"
[ "$(sort "$tmp/leaves" | uniq -c | awk '{ print $2, $1 }' | paste -sd,)" = 'f 100,g 100,h 20,once 1' ]
check $? "a record for each sample, in the order of their times" "$(sort "$tmp/leaves" | uniq -c)"
# In each tenth each stack has a tenth of its samples, give or take one.
split -l 22 "$tmp/leaves" "$tmp/part."
wrong=
for part in "$tmp"/part.a[a-i]; do
	awk '{ n[$1]++ } END { exit !(n["f"] >= 9 && n["f"] <= 11 && n["g"] >= 9 && n["g"] <= 11 && n["h"] >= 1 && n["h"] <= 3) }' "$part" || wrong+=" ${part##*/}"
done
[ -z "$wrong" ] && [ -s "$part" ]
check $? "each stack has its share in each part of the time" "$wrong: $(sort "$part" | uniq -c)"
[ "$(sed -n '100,122p' "$tmp/leaves" | grep -c once)" -eq 1 ]
check $? "a single sample is in the middle" "$(grep -n once "$tmp/leaves")"
grep -q '^# times : spread evenly' "$tmp/out"
check $? "the head says that the times are made up" "$(head -n 12 "$tmp/out")"
# Read again: names of threads may hold a colon and a blank; what ends names early is refused, and fast.
printf 'nginx: worker 12/34 [001] 100.000001: 1 cycles:\n\tff main (/x)\n\n' >"$tmp/comm"
[ "$("$profile" -q --from "$tmp/comm" -f)" = 'nginx: worker;main 1' ]
check $? "a thread's name with a colon" "$("$profile" -q --from "$tmp/comm" -f 2>&1)"
{
	for ((i = 0; i < 30; i++)); do printf 'a 1/1 1.0: 1 cycles:\n\tff main (/x)\n\n'; done
	printf 'a 1/1 1.0: 1 cycles:\n\tff na\0me (/x)\n\n'
} >"$tmp/nul"
"$profile" -q --from "$tmp/nul" -f >"$tmp/out" 2>"$tmp/err"
[ $? -ne 0 ] && grep -q 'line 92: a NUL byte' "$tmp/err"
check $? "a frame with a NUL byte" "$(cat "$tmp/err")"
exit $failed
