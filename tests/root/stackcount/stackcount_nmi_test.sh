#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Events inside of NMIs, which interrupt everything, also us: stackcount_nmi_test.sh BUILD
# In a test machine NMI_SECONDS (5) of them, NMI_HZ (200) times a second on all CPUs at once.
# timeout: 240
# quiet: its NMIs come to all CPUs
# kind: calls
. "$(dirname "$0")/../harness.bash" "$1"

# nmis: how many all CPUs have had
nmis() { awk '/^ *NMI:/ { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) sum += $i } END { print sum + 0 }' /proc/interrupts; }
# raise: has the kernel send an NMI to the other CPUs, to print what they do
raise() { echo l >/proc/sysrq-trigger; } 2>>"$fate"
# storm HZ SECONDS: the interrupt controllers raise NMIs of which the kernel knows no reason: it logs
# each, and may panic, so that this is for test machines
storm() { [ -n "${STACKTALLY_VM-}" ] && "$programs/nmis" "$@" >"$fate" 2>"$tmp/storm.err"; }
# troubles: whether the kernel has died, warned, or seen a CPU that does not come back
troubles() { echo $(($(cat /proc/sys/kernel/tainted) & (1 << 7 | 1 << 9 | 1 << 14))); }

before=$(nmis)
troubled=$(troubles)
one_came() { [ "$(nmis)" -gt "$before" ]; }
stormy=no
if [ -n "${STACKTALLY_VM-}" ]; then
	# Not to the serial port, which takes milliseconds for a line.
	read -r printed _ </proc/sys/kernel/printk
	at_exit=print_again
	print_again() { echo "$printed" >/proc/sys/kernel/printk; }
	echo 0 >/proc/sys/kernel/printk
	storm 10 1 && stormy=yes
fi
if [ $stormy = no ] && { ! raise || ! await 2 one_came; }; then
	skip "events inside of NMIs" "this kernel raises none for /proc/sysrq-trigger"
	finish
fi
# Few of their stacks are in the kernel's counts already when they come again.
"$programs/paths" 0 "$(nproc)" 12 >"$fate" &
started+=("$!")
# Its tables are made and kept on the disk before: beside NMIs, the time that this may take could be over.
"$profile" -p "$!" -f 5 >"$out" 2>"$err"
# Beside it, a clock fires and other events are counted.
: >"$tmp/clock" >"$tmp/calls" >"$tmp/said"
# Emulated CPUs share one of the host's, so they share the rate. One begins after the other, because each
# makes tables of the same files, which four such CPUs do for minutes at the same time.
"$profile" --self -F $((1998 / $(nproc))) -o - -o "$tmp/clock.folded" --format text --format folded \
	>"$tmp/clock" 2>"$tmp/clock.err" &
clock=$!
started+=("$clock")
await 60 grep -q '^Sampling' "$tmp/clock"
"$stackcount" --self -o - -o "$tmp/calls.folded" --format text --format folded t:sched:sched_switch \
	>"$tmp/calls" 2>"$tmp/calls.err" &
calls=$!
started+=("$calls")
await 60 grep -q '^Tracing' "$tmp/calls"
"$stackcount" --self -P -o - -o "$tmp/nmi.folded" --format text --format folded t:nmi:nmi_handler \
	>"$tmp/said" 2>"$err" &
run=$!
started+=("$run")
await 60 grep -q '^Tracing' "$tmp/said"
sleep 1
before=$(nmis)
if [ $stormy = yes ]; then
	storm "${NMI_HZ-200}" "${NMI_SECONDS-5}"
	check $? "NMIs are raised" "$(cat "$tmp/storm.err")"
else
	for ((i = 0; i < 100; i++)); do raise; done
fi
# The last of them may be waiting for their CPUs.
none_came() { local n; n=$(nmis) && sleep 0.5 && [ "$(nmis)" -eq "$n" ]; }
await 10 none_came
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
# Those of others may not be: on a busy host, the measurements' own tables come late.
of_program=$(counted '^paths;')
whole=$(counted '^paths;(.*;)?(start_thread|_start)(;.*)?;exc_nmi;')
[ "$of_program" -gt 0 ] && [ "$whole" -ge $((of_program * 9 / 10)) ]
check $? "a program's stacks lead through what they interrupted to its beginning" "$whole of $of_program: $(cut -c 1-200 "$out" | grep '^paths;' | head -n 3)"
for beside in clock calls; do
	closing "$tmp/$beside.err"
	[ "$samples" -gt 100 ] && [ "$(total "$tmp/$beside.folded")" -eq "$samples" ]
	check $? "the measurement beside it has its report: $beside" "$samples; $(total "$tmp/$beside.folded") in the report"
done
[ "$(troubles)" -eq "$troubled" ]
check $? "the kernel is well" "tainted: $(cat /proc/sys/kernel/tainted)"
closing
echo "$raised NMIs: $samples counted, $lost lost, ${unseen:-0} not seen; $stacks stacks"
finish
