#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measuring a command, and how signals end a measurement: profile_command_test.sh BUILD
# timeout: 180
# kind: whom
. "$(dirname "$0")/../harness.bash" "$1"

# ---- measured processes
begin nice -n 10 "$programs/recursion" 3 0 || finish
measure_command -F 997 -e cpu-clock -- "$programs/nested" $((30 * slow))
closing
work=$(counted ';main;outer;middle;inner;burn(;|$)')
calculates "$work > 10 && $work <= 0.030 * $slow * 997 * 1.3 + 5"
check $? "a command of 30 ms has its samples, some 30" "$work of $samples"
[ "$(counted '^nested;')" -eq "$samples" ] && [ "$(total)" -eq "$samples" ]
check $? "samples begin with its first instruction, and no other process is measured" \
	"$(cut -d';' -f1 "$out" | sort | uniq -c)"
measure_command -F 499 -- sh -c "\"$programs/nested\" 200; :"
has "processes that the command starts are measured" '^nested;([^;]+;)*main;outer;'
lacks "other processes are not" '^recursion;'
end
measure -F 999 -f -- dd if=/dev/zero of=/dev/null bs=1G count=1
[ "$(counted '^dd;.*;exit_mmap;')" -ge 5 ]
check $? "a command is measured to its very end, while its memory is freed" "$(tail -n 3 "$out")"
measure_command -F 499 0.3 -- "$programs/nested" 1000
closing
calculates "$samples <= 0.3 * 499 * 1.1 + 5 && $samples > 0"
check $? "a duration ends the measurement before the command ends" "$samples"
says "and says that the command goes on" '^the command goes on; waiting for its end$'
measure_command -F 499 0.3 -- sleep 2
says "what was waited for is told" '^ended [0-9.]+ s late: 1\.[0-9] s for the command to end' "$err"
measure -F 99 -- "$programs/nested" 50
says "the title names the command" "^Sampling at 99 Hertz of '$programs/nested' by user \\+ kernel stack" "$out"

# ---- how it ends
measure -f -- sh -c 'exit 7'
exits "the command's exit status is ours" 7
says "and the closing line is there" '^[0-9]+ samples?, '
measure -f -- sh -c 'kill -TERM $$'
exits "a command killed by a signal: exit status 128 and the signal" 143
measure -f -- "$tmp/nosuch"
exits "a command that does not exist: exit status 127" 127
says "the message says so" "^profile: cannot run '$tmp/nosuch': No such file or directory\$"
[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ]
check $? "in one line" "$(cat "$err" "$out")"
touch "$tmp/plain"
measure -f -- "$tmp/plain"
exits "a command that cannot be executed: exit status 126" 126
says "and the message says so" "^profile: cannot run '$tmp/plain': Permission denied\$"
measure -f -o "$tmp/left.folded" -- "$tmp/nosuch"
[ "$status" -eq 127 ] && [ ! -e "$tmp/left.folded" ]
check $? "and leaves no file behind" "$status"
echo 'echo "$1 from stdin: $(cat)"' >"$tmp/script"
[ "$(echo words | "$profile" -q -o "$tmp/x.folded" -- sh "$tmp/script" -f)" = "-f from stdin: words" ]
check $? "the command gets its arguments and its input" "it does not"
measure -f -- sh -c 'trap "" INT; kill -0 $$; grep SigIgn /proc/$$/status >&2; grep SigBlk /proc/self/status >&2'
says "it begins with no signal blocked" '^SigBlk:[[:space:]]*0000000000000000$'

# ---- signals
# ending SIGNAL NAME: starts profile, sends it the signal, and expects the report
ending() {
	env --default-signal=INT "$profile" -F 499 >"$out" 2>"$err" &
	local run=$!
	started+=("$run")
	await 30 grep -q '^Sampling' "$out"
	"$programs/nested" 100 >"$fate"
	kill "-$1" "$run"
	wait "$run"
	status=$?
	exits "$2 ends the measurement with exit status 0" 0
	says "$2: the report is there" '^    -                nested ' "$out"
	says "$2: the closing line is there" '^[0-9]+ samples?, '
}
ending INT SIGINT
ending TERM SIGTERM
ending HUP SIGHUP

# with_command COMMAND...: measures a command that never ends, and waits until it has used CPU time.
# Sets $run to profile, and $command_pid
with_command() {
	rm -f "$tmp/x.folded"
	: >"$tmp/ready"
	setsid env --default-signal=INT "$profile" -F 499 -o "$tmp/x.folded" -- "$@" \
		>"$tmp/ready" 2>"$err" &
	run=$!
	started+=("$run")
	await 30 grep -q ready "$tmp/ready"
	command_pid=$(sed -n 's/^ready //p' "$tmp/ready")
	works "$command_pid" 10
}
report_is_there() {
	out=$tmp/x.folded
	has "$1: the report is there" ';main;outer;middle;inner;burn(;|$)'
	! kill -0 "$command_pid" 2>>"$fate"
	check $? "$1: the command has ended" "it still runs"
}
with_command "$programs/nested"
kill -INT -- "-$run"
wait "$run"
status=$?
exits "SIGINT to both ends the command; its status is passed on" 130
report_is_there "SIGINT to both"
with_command "$programs/nested"
kill -TERM "$run"
wait "$run"
status=$?
exits "SIGTERM to profile alone reaches the command" 143
report_is_there "SIGTERM to profile alone"

if command -v script >"$fate"; then
	rm -f "$tmp/x.folded" "$tmp/typescript"
	mkfifo "$tmp/keys"
	env --default-signal=INT script -q -f -e -c "'$profile' -F 499 -o '$tmp/x.folded' -- '$programs/nested'" "$tmp/typescript" \
		<"$tmp/keys" >"$fate" 2>&1 &
	run=$!
	started+=("$run")
	exec {keys}>"$tmp/keys"
	: >"$tmp/typescript"
	await 30 grep -q '^ready' "$tmp/typescript"
	command_pid=$(sed -n 's/^ready \([0-9]*\).*/\1/p' "$tmp/typescript")
	works "$command_pid" 10
	printf '\003' >&"$keys"
	wait "$run"
	status=$?
	exec {keys}>&-
	exits "Ctrl-C on a terminal ends the command; its status is passed on" 130
	report_is_there "Ctrl-C on a terminal"
else
	skip "Ctrl-C on a terminal" "script is not installed"
fi
finish
