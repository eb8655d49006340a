#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples of a hardware counter, which come in NMIs: profile_pmu_test.sh BUILD
# timeout: 240
# kind: losses
. "$(dirname "$0")/../harness.bash" "$1"

if ! perf stat -x, -e cycles true 2>&1 | grep -qE '^[0-9]+,.*cycles'; then
	skip "samples in NMIs" "this machine counts no cycles (perf stat -e cycles true)"
	finish
fi
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
if [ "$rate" -lt 999 ]; then
	skip "samples in NMIs" "kernel.perf_event_max_sample_rate is $rate"
	finish
fi
cpus=$(getconf _NPROCESSORS_ONLN)
nmis() { awk '/^ *NMI:/ { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) sum += $i } END { print sum + 0 }' /proc/interrupts; }

# Nearly each sample has a new stack, for the CPUs to meet at the ring's lock.
"$programs/paths" 0 "$cpus" >"$fate" &
started+=("$!")
before=$(nmis)
measure -v -e cycles -F 999 -f 60
raised=$(($(nmis) - before))
exits "60 s of cycles at 999 Hertz on each of $cpus CPUs" 0
closing
events=$(sed -n 's/^\([0-9]*\) events; .*lost.*/\1/p' "$err")
[ "$raised" -gt $((cpus * 1000)) ]
check $? "they come in NMIs" "$raised NMIs"
[ "$samples" -gt $((cpus * 999 * 60 / 2)) ] && [ "$(total)" -eq "$samples" ]
check $? "they are in the report" "$(total) of $samples"
[ "$((samples + lost))" -eq "${events:-$((samples + lost))}" ] && [ "$samples" -le "$raised" ]
check $? "each is counted or told to be lost" "$samples, $lost lost, ${events:-no} events, $raised NMIs"
calculates "$lost <= 0.001 * ($samples + $lost)"
check $? "at most one in a thousand is lost" "$lost of $samples: $(grep -v ^libbpf "$err" | tail -n 3)"
finish
