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
# footprint PID: sets $maps and $rings to the KB of the kernel's memory that the measurement takes
footprint() {
	# Objects that share maps have a descriptor each.
	maps=$(cat /proc/"$1"/fdinfo/* 2>>"$fate" | awk '/^pos:/ { size = 0 } /^memlock:/ { size = $2 }
		/^(map|prog)_id:/ && size && !counted[$1 $2]++ { sum += size } END { print int(sum / 1024) }')
	rings=$(awk '/^[0-9a-f]+-[0-9a-f]+ / { inside = /perf_event/; n += inside } inside && /^Size:/ { sum += $2 }
		END { print sum + 0 }' /proc/"$1"/smaps)
}
# is_small NAME: 20 MB are for what does not grow with CPUs: the unwinding tables, the ring buffer, the counts
is_small() {
	[ "$maps" -gt $((cpus * 64)) ] && [ "$rings" -ge $((cpus * 8)) ] &&
		[ $((maps + rings)) -le $((20 * 1024 + 256 * cpus)) ]
	check $? "each CPU takes at most 256 KB of the kernel's memory: $1" "$maps KB of maps, $rings KB of rings"
	echo "$cpus CPUs, $1: $maps KB of maps, $rings KB of rings"
}

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
footprint "$run"
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
echo "$cpus CPUs: samples after $started_in ms, reports after $(($(ms) - begun)) ms"
is_small profile

# ---- other triggers
counts_by_now() { grep -qE '^(Tracing|Measuring)' "$tmp/said" || ! kill -0 "$run" 2>>"$fate"; }
for what in "stackcount t:sched:sched_switch" "stackcount vfs_read" "stackcount c:malloc" "profile --off-cpu" "profile --wall"; do
	# shellcheck disable=SC2086
	"$1"/$what -o - -o "$tmp/other.folded" --format text --format folded >"$tmp/said" 2>"$err" &
	run=$! started+=("$!")
	await 60 counts_by_now
	footprint "$run"
	kill -INT "$run"
	wait "$run"
	check $? "it counts and ends: $what" "$(tail -n 3 "$err")"
	is_small "$what"
done
finish
