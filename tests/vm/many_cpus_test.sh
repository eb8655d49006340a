#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine with many CPUs, some of them offline, isolated or without a tick: many_cpus_test.sh BUILD
# timeout: 300
. "$(dirname "$0")/../root/harness.bash" "$1"

cpus=$(getconf _NPROCESSORS_CONF)
if [ "$cpus" -lt 16 ]; then
	skip "many CPUs" "there are $cpus: make test-vm-cpus"
	finish
fi
switch=/sys/devices/system/cpu
ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# ---- some are offline, also in the middle of the numbers
away=(3 10 11 12)
for cpu in "${away[@]}"; do echo 0 >$switch/cpu"$cpu"/online; done
[ "$(getconf _NPROCESSORS_ONLN)" -eq $((cpus - 4)) ]
check $? "CPUs are offline" "$(cat $switch/online)"
# Idle CPUs have a thread of their own each, whose name has the number.
begun=$(ms)
sample -I -e cpu-clock -F 9
started_in=$(($(ms) - begun))
sleep 5
maps=$(cat /proc/"$run"/fdinfo/* 2>>"$fate" | awk '/^memlock:/ { sum += $2 } END { print int(sum / 1024) }')
rings=$(awk '/^[0-9a-f]+-[0-9a-f]+ / { inside = /perf_event/; n += inside } inside && /^Size:/ { sum += $2 }
	END { print sum + 0 }' /proc/"$run"/smaps)
for cpu in "${away[@]}"; do echo 1 >$switch/cpu"$cpu"/online; done
sleep 8
begun=$(ms)
sampled
exits "it samples and ends" 0
closing
[ "$samples" -gt $((cpus * 9)) ] && [ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "each sample is in the report" "$(total) of $samples, $lost lost"
idle=$(cut -d';' -f1 "$out" | grep '^swapper/' | sort -u | wc -l)
[ "$idle" -eq "$cpus" ]
check $? "each CPU is sampled, also those that came back" "$idle of $cpus"
says "what is missing of those is told" \
	'^WARNING: CPUs that came online were not sampled at once: [0-9.]+ s are missing at most'
isolated=$(cat $switch/isolated)
if [ -z "$isolated" ]; then
	skip "isolated CPUs" "there are none"
else
	last=$(counted "^swapper/${isolated##*-};")
	calculates "$last > 0.5 * $samples / $cpus"
	check $? "isolated CPUs without a tick are sampled as others" "$last on CPU ${isolated##*-}, $samples on $cpus"
fi
# 16 MB are for the unwinding tables, the ring buffer and the counts.
[ "$maps" -gt $((cpus * 64)) ] && [ "$rings" -ge $((cpus * 8)) ] &&
	[ $((maps + rings)) -le $((16 * 1024 + 256 * cpus)) ]
check $? "each CPU takes at most 256 KB of the kernel's memory" "$maps KB of maps, $rings KB of rings"
echo "$cpus CPUs: samples after $started_in ms, reports after $(($(ms) - begun)) ms; $maps KB of maps, $rings KB of rings"
finish
