#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Deep stacks: profile_depth_test.sh BUILD
# timeout: 240
# quiet: it changes kernel.perf_event_max_stack
# kind: callers
. "$(dirname "$0")/../harness.bash" "$1"
limit() { cat /proc/sys/kernel/perf_event_max_stack; }
frames() { awk '{ sub(/ [0-9]+$/, "") } { print gsub(/;/, "") }' <<<"$1"; }
times() { awk -v RS='[; ]' -v name="$1" '$0 == name { n++ } END { print n + 0 }' <<<"$2"; }
before=$(limit)
busy="another profiler on this machine keeps kernel.perf_event_max_stack as it is"

measure -F 499 -f -U -- "$programs/recursion" 1000 500
sed -i '/^ready/d' "$out"
line=$(hottest)
exits "1,000 frames are kept by default" 0
[ "$(times descend "$line")" -eq 1000 ]
check $? "each of 1,000 frames of a recursion is there" "$(times descend "$line")"
[[ $line =~ \;main\;descend\; && $line =~ \;descend\;burn\ [0-9]+$ ]]
check $? "the recursion is between main and burn, which it calls" "${line:0:100}"
lacks "a stack that fits is not marked as cut" '\[truncated\]'
[ "$(limit)" = "$before" ]
check $? "kernel.perf_event_max_stack has its old value" "$(limit), not $before"
closing
# The other samples are of the command's start, which takes longer on an emulated machine.
calculates "$lost == 0 && $(counted 'descend;burn') > ($slow > 1 ? 0.7 : 0.85) * $samples && $samples > 100"
check $? "nearly all samples have the deep stack" "$(counted 'descend;burn') of $(cat "$err")"

measure -F 499 -f -U --unwind=fp -- "$programs/recursion" 1000 300
sed -i '/^ready/d' "$out"
line=$(hottest)
[ "$(frames "$line")" -eq 128 ] && [ "$(times descend "$line")" -ge 125 ]
check $? "of stacks that the kernel walks, the 127 frames next to the leaf are kept by default" "$(frames "$line") fields"
[[ $line =~ ^recursion\;\[truncated\]\;descend\; && $line =~ \;burn\ [0-9]+$ ]]
check $? "a stack that was cut is marked at its root" "${line:0:100}"

measure -F 499 -f -U --max-depth 10 -- "$programs/recursion" 100 300
sed -i '/^ready/d' "$out"
line=$(hottest)
[ "$(frames "$line")" -eq 11 ] && [[ $line =~ ^recursion\;\[truncated\]\;descend ]]
check $? "--max-depth 10 keeps ten frames" "$line"

measure -F 499 -U --max-depth 12 -- "$programs/recursion" 100 300
says "the multi-line report marks it too" '^    \[truncated\]$' "$out"
if [ "$before" -ge 512 ]; then
	skip "kernel.perf_event_max_stack is raised while it runs" "it is $before already"
	finish
fi
# The limit must be restored, however profile ends.
deep_raised() { [ "$(limit)" -ge 512 ] || [ ! -d "/proc/$run" ]; }
holds_other() { grep -q 'while another profiler' "$err"; }
deadline=$((SECONDS + 60))
while ((SECONDS < deadline)); do
	"$profile" --max-depth 512 >"$out" 2>"$err" &
	run=$!
	started+=("$run")
	await 20 deep_raised
	raised=$(limit)
	kill -TERM "$run" 2>>"$fate"
	wait "$run"
	status=$?
	holds_other || break
done
if holds_other; then
	skip "a run that was ended by a signal restores it" "$busy"
	finish
fi
[ "$raised" -ge 512 ] && [ "$status" -eq 0 ]
check $? "kernel.perf_event_max_stack is raised while it runs" "$raised, $status: $(cat "$err")"
[ "$(limit)" = "$before" ]
check $? "a run that was ended by a signal restores it" "$(limit), not $before"

# While another profiler walks stacks the limit cannot be restored: a message says so.
give_back() { echo "$before" >/proc/sys/kernel/perf_event_max_stack; }
at_exit=give_back
"$profile" --max-depth 512 >"$out" 2>"$err" &
run=$!
started+=("$run")
await 20 deep_raised
"$profile" -F 49 >"$tmp/other" 2>"$tmp/other.err" &
other=$!
started+=("$other")
walks() { grep -q '^Sampling' "$tmp/other"; }
await 20 walks
kill -TERM "$run" 2>>"$fate"
wait "$run"
says "if it stays raised, a message says which value to set" \
	"kernel.perf_event_max_stack stays raised, .*: sysctl kernel.perf_event_max_stack=$before\$"
kill -TERM "$other"
wait "$other"
await 20 give_back 2>>"$fate"
is_back=$(limit)
[ "$is_back" = "$before" ]
check $? "... which works when the other one has ended" "$is_back, not $before"
finish
