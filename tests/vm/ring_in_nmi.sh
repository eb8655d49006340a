#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How many new stacks are lost at the ring when all CPUs send some in NMIs that come at the same instant:
#
#   tests/vm/run -k 6.1 --cpus 4 --parallel -- bash tests/vm/ring_in_nmi.sh HZ SECONDS ROUNDS BUILD...
#
# The builds take turns, ROUNDS times.
hz=$1 seconds=$2 rounds=$3
. "$(dirname "$0")/../root/harness.bash" "$4"

nmis() { awk '/^ *NMI:/ { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) sum += $i } END { print sum + 0 }' /proc/interrupts; }
lost_by() { grep -oE "\"$1\": ?[0-9]+" "$tmp/report.json" | grep -oE '[0-9]+$'; }

echo 0 >/proc/sys/kernel/printk # the kernel does not know the reason of these NMIs, and logs each
"$programs/paths" 0 "$(nproc)" 28 >"$fate" &
started+=("$!")
for ((round = 0; round < rounds; round++)); do
	for build in "${@:4}"; do
		: >"$tmp/said"
		"$build/stackcount" --self -o - -o "$tmp/report.json" --format text --format json t:nmi:nmi_handler \
			>"$tmp/said" 2>"$err" &
		run=$!
		started+=("$run")
		await 60 grep -q '^Tracing' "$tmp/said" || exit 1
		before=$(nmis)
		"$programs/nmis" "$hz" "$seconds" >"$fate" || exit 1
		sleep 1
		after=$(nmis)
		kill -INT "$run"
		wait "$run" || exit 1
		closing
		echo "$build: $((after - before)) NMIs: $samples events, $stacks stacks; lost: $(lost_by ring_full) at the ring, $(lost_by nested) nested"
	done
done
