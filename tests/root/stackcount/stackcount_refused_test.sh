#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that interrupt other BPF programs, where the kernel runs none of ours: stackcount_refused_test.sh BUILD
# timeout: 240
# quiet: its events interrupt others all the time
# kind: calls
. "$(dirname "$0")/../harness.bash" "$1"

# ticks: how many timer interrupts all CPUs have had
ticks() { awk '/^ *LOC:/ { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) sum += $i } END { print sum + 0 }' /proc/interrupts; }

# Half of this program's time is another measurement's BPF program, at each call.
dd if=/dev/zero of=/dev/null bs=1 2>"$fate" &
reader=$!
started+=("$reader")
"$stackcount" -p "$reader" -o - -o "$tmp/reads.folded" --format text --format folded t:raw_syscalls:sys_enter >"$tmp/reads" 2>"$tmp/reads.err" &
reads=$!
started+=("$reads")
await 60 grep -q '^Tracing' "$tmp/reads"
first=$(ticks)
"$stackcount" --self -o - -o "$out" --format text --format folded t:irq_vectors:local_timer_entry \
	>"$tmp/said" 2>"$err" &
run=$!
started+=("$run")
await 60 grep -q '^Tracing' "$tmp/said"
before=$(ticks)
works "$reader" 150 # most of the events that are not seen interrupt it
after=$(ticks)
kill -INT "$run"
wait "$run"
exits_well=$?
last=$(ticks)
check $exits_well "it ends as always" "$(tail -n 2 "$err")"
closing
unseen=$(sed -n 's/^WARNING: \([0-9]*\) events, of any process, were not seen.*/\1/p' "$err")
told=$((samples + lost + ${unseen:-0}))
[ "${unseen:-0}" -gt 50 ] && [ "$(total)" -eq "$samples" ]
check $? "events that are not seen are told" "${unseen:-0} of $told"
# Between the two looks at the number of interrupts it counted all the time, before and after them not.
[ $told -ge $((after - before)) ] && [ $told -le $((last - first)) ]
check $? "with these, all events are there" "$samples, $lost lost and ${unseen:-0} not seen, of $((after - before)) to $((last - first))"
kill -INT "$reads"
wait "$reads"
closing "$tmp/reads.err"
[ "$(total "$tmp/reads.folded")" -eq "$samples" ] && [ "$samples" -gt 1000 ]
check $? "what they interrupted is counted" "$(total "$tmp/reads.folded") of $samples"

# Before Linux 6.7 they are counted by the kernel's variable.
restrict=/proc/sys/kernel/kptr_restrict
level=$(cat $restrict)
give_back() { echo "$level" >$restrict; }
at_exit=give_back
hidden='^WARNING: events that come while another BPF program runs on their CPU are missing, .*CAP_SYSLOG'
count_ticks() { "$stackcount" --self -D 1 t:irq_vectors:local_timer_entry >"$out" 2>"$err"; }
count_ticks && ! grep -q "$hidden" "$err"
check $? "no warning where they can be counted" "$(head -n 3 "$err")"
echo 2 >$restrict
count_ticks
if kernel_has 6.7; then
	! grep -q "$hidden" "$err"
	check $? "the kernel's own count needs no addresses" "$(head -n 3 "$err")"
else
	says "a warning where the kernel hides its addresses" "$hidden"
fi
finish
