#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Events inside of NMIs, which interrupt everything, also us: stackcount_nmi_test.sh BUILD
# timeout: 240
. "$(dirname "$0")/../harness.bash" "$1"

# nmis: how many all CPUs have had
nmis() { awk '/^ *NMI:/ { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) sum += $i } END { print sum + 0 }' /proc/interrupts; }
# raise: has the kernel send an NMI to the other CPUs, to print what they do
raise() { echo l >/proc/sysrq-trigger; } 2>>"$fate"

before=$(nmis)
one_came() { [ "$(nmis)" -gt "$before" ]; }
if ! raise || ! await 2 one_came; then
	skip "events inside of NMIs" "this kernel raises none for /proc/sysrq-trigger"
	finish
fi
"$programs/paths" 0 2 60 >"$fate" &
started+=("$!")
# Beside it, a clock fires and other events are counted.
# Emulated CPUs share one of the host's, so they share the rate. One begins after the other, because each
# makes tables of the same files, which four such CPUs do for minutes at the same time.
"$profile" -F $((1998 / $(nproc))) -o - -o "$tmp/clock.folded" --format text --format folded \
	>"$tmp/clock" 2>"$fate" &
clock=$!
started+=("$clock")
await 60 grep -q '^Sampling' "$tmp/clock"
"$stackcount" -o - -o "$tmp/calls.folded" --format text --format folded t:sched:sched_switch \
	>"$tmp/calls" 2>"$fate" &
calls=$!
started+=("$calls")
await 60 grep -q '^Tracing' "$tmp/calls"
"$stackcount" -o - -o "$tmp/nmi.folded" --format text --format folded t:nmi:nmi_handler \
	>"$tmp/said" 2>"$err" &
run=$!
started+=("$run")
await 60 grep -q '^Tracing' "$tmp/said"
sleep 1
before=$(nmis)
for ((i = 0; i < 100; i++)); do raise; done
raised=$(($(nmis) - before))
kill -INT "$run" "$clock" "$calls"
wait "$run" && wait "$clock" && wait "$calls"
exits_all=$?
check $exits_all "measurements go on while NMIs interrupt them" "status $exits_all"
mv "$tmp/nmi.folded" "$out"
closing
# Where an NMI interrupts a BPF program, the kernel runs no other; it counts that from Linux 6.7 on,
# and before, stackcount does.
unseen=$(sed -n 's/^WARNING: \([0-9]*\) events, of any process, were not seen.*/\1/p' "$err")
told=$((samples + lost + ${unseen:-0}))
[ "$raised" -gt 50 ] && [ $told -eq "$raised" ] && [ "$(total)" -eq "$samples" ]
check $? "each NMI is counted, or told to be lost" \
	"$samples, $lost lost, ${unseen:-0} not seen, of $raised; $(total) in the report"
# How many an emulated machine loses depends on how much of its time is in the others' programs.
calculates "$raised - $samples <= $raised / 4"
check $? "most are counted" "$samples of $raised"
whole=$(counted '(^|;)(secondary_startup_64(_no_verify)?|common_startup_64|ret_from_fork(_asm)?|start_thread|_start)(;.*)?;exc_nmi;')
[ "$whole" -ge $((samples * 9 / 10)) ]
check $? "their stacks lead through what they interrupted to its beginning" "$whole of $samples: $(cut -c 1-200 "$out" | head -n 3)"
[ -s "$tmp/clock.folded" ] && [ -s "$tmp/calls.folded" ]
check $? "the measurements beside it have their reports" "$(ls -l "$tmp"/*.folded)"
finish
