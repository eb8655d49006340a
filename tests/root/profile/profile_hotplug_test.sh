#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CPUs that come and go: profile_hotplug_test.sh BUILD
# timeout: 120
# quiet: it takes a CPU offline
# kind: losses
. "$(dirname "$0")/../harness.bash" "$1"

switch=/sys/devices/system/cpu/cpu1/online
if [ ! -w "$switch" ] || [ "$(cat "$switch")" != 1 ]; then
	skip "CPUs that come and go" "CPU 1 cannot be taken offline here"
	finish
fi
back() { echo 1 >"$switch"; }
at_exit=back
# Programs on CPU 1, one after the other: the kernel moves those away that are there when it goes.
while :; do taskset -c 1 timeout 0.1 yes || sleep 0.02; done >>"$fate" 2>&1 &
started+=($!)

# around SECONDS OPTION...: samples for 6 s, with CPU 1 offline for as long, 1 s after the start
around() {
	"$profile" -F 199 -f "${@:2}" $((6 * slow)) >"$out" 2>"$err" &
	run=$!
	sleep "$slow"
	echo 0 >"$switch" || return
	sleep "$1"
	back
	wait "$run"
	status=$?
}
# A CPU has 1,194 samples, 200 of them before the outage. Those of some 2 s may be missing.
for seconds in 0.2 1.5; do
	for cpu in '' '-C 1'; do
		[ -n "${TEST_ALL-}" ] || [ "$seconds$cpu" = 0.2 ] || [ "$seconds$cpu" = '1.5-C 1' ] || continue
		# shellcheck disable=SC2086
		around $seconds $cpu
		exits "CPU 1 is offline for $seconds s${cpu:+, $cpu}" 0
		[ "$(counted '^(yes|timeout);')" -ge 300 ]
		check $? "it is sampled again: $seconds s${cpu:+, $cpu}" "$(counted '^(yes|timeout);') samples"
		says "and a message tells the loss: $seconds s${cpu:+, $cpu}" \
			'^WARNING: CPUs that came online were not sampled at once: [0-3][.][0-9]+ s are missing at most'
	done
done
finish
