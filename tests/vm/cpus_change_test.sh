#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU that is added while the machine runs, and clocks that are set: cpus_change_test.sh BUILD
# timeout: 120
. "$(dirname "$0")/../root/harness.bash" "$1"

present=$(cat /sys/devices/system/cpu/present)
spare=$((${present##*-} + 1))
if [ "$(cat /sys/devices/system/cpu/possible)" = "$present" ]; then
	skip "a CPU that is added" "this machine has no room for one: make test-vm-cpus"
	finish
fi
for port in /sys/class/virtio-ports/*; do
	[ "$(cat "$port"/name)" != monitor ] || exec {monitor}<>/dev/"${port##*/}"
done
switch=/sys/devices/system/cpu/cpu$spare/online
added() { [ -e "$switch" ]; }

sample -I -K -e cpu-clock -F 49
begun=${EPOCHREALTIME%.*} up=$(cut -d. -f1 /proc/uptime)
sleep 2
echo "device_add Nehalem-x86_64-cpu,socket-id=0,core-id=$spare,thread-id=0,id=added" >&"$monitor"
await 5 added
check $? "a CPU is added" "no $switch"
[ "$(cat "$switch")" = 1 ] || echo 1 >"$switch"
sleep 8
# ---- clocks
date -s '+1 hour' >"$fate"
sleep 1
date -s '3 hours ago' >"$fate"
sleep 1
[ "${EPOCHREALTIME%.*}" -lt "$begun" ]
check $? "the clock was set back" "$begun, ${EPOCHREALTIME%.*}"
up=$(($(cut -d. -f1 /proc/uptime) - up))
sampled
exits "it ends as always" 0
closing
[ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "each sample is in the report" "$(total) of $samples, $lost lost"
mine=$(counted "^swapper/$spare;") first=$(counted "^swapper/1;")
# It was there for 10 s of some 12, of which one may pass before it is seen.
calculates "$mine > 0.3 * $first && $mine > 100"
check $? "the new CPU is sampled" "$mine samples, CPU 1 has $first in $up s"
says "what is missing of it is told" \
	'^WARNING: CPUs that came online were not sampled at once: [0-2][.][0-9]+ s are missing at most'
finish
