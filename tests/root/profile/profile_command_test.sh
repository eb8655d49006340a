#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# profile [options] -- COMMAND, and signals: profile_command_test.sh BUILD
# timeout: 180
. "$(dirname "$0")/../harness.bash" "$1"

# ---- what is measured
begin nice -n 10 "$programs/recursion" 3 0 || finish
measure_command -F 997 -e cpu-clock -- "$programs/nested" $((30 * slow))
closing
work=$(counted ';main;outer;middle;inner;burn(;|$)')
calculates "$work > 10 && $work <= 0.030 * $slow * 997 * 1.3 + 5"
check $? "a command of 30 ms has its samples, some 30" "$work of $samples"
[ "$(counted '^nested;')" -eq "$samples" ] && [ "$(total)" -eq "$samples" ]
check $? "nothing before its first instruction is measured, and nothing else" \
	"$(cut -d';' -f1 "$out" | sort | uniq -c)"
measure_command -F 499 -- sh -c "\"$programs/nested\" 200; :"
has "what the command starts is measured" '^nested;([^;]+;)*main;outer;'
lacks "what others do is not" '^recursion;'
end
measure_command -F 499 0.3 -- "$programs/nested" 1000
closing
calculates "$samples <= 0.3 * 499 * 1.1 + 5 && $samples > 0"
check $? "a duration ends the measurement before the command ends" "$samples"
measure -F 99 -- "$programs/nested" 50
says "the title names the command" "^Sampling at 99 Hertz of '$programs/nested' by user \\+ kernel stack" "$out"

# ---- how it ends
measure -f -- sh -c 'exit 7'
exits "the command's exit status is ours" 7
says "and the closing line is there" '^[0-9]+ samples, '
measure -f -- sh -c 'kill -TERM $$'
exits "a command killed by a signal is 128 and the signal" 143
measure -f -- "$tmp/nosuch"
exits "a command that is not there is 127" 127
says "which is said" "^profile: cannot run '$tmp/nosuch': No such file or directory\$"
[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ]
check $? "in one line" "$(cat "$err" "$out")"
touch "$tmp/plain"
measure -f -- "$tmp/plain"
exits "a command that cannot be executed is 126" 126
says "and this is said" "^profile: cannot run '$tmp/plain': Permission denied\$"
measure -f -o "$tmp/left.folded" -- "$tmp/nosuch"
[ "$status" -eq 127 ] && [ ! -e "$tmp/left.folded" ]
check $? "and leaves no file behind" "$status"
echo 'echo "$1 from stdin: $(cat)"' >"$tmp/script"
[ "$(echo words | "$profile" -q -o "$tmp/x.folded" -- sh "$tmp/script" -f)" = "-f from stdin: words" ]
check $? "its arguments and its input are its own" "they are not"
measure -f -- sh -c 'trap "" INT; kill -0 $$; grep SigIgn /proc/$$/status >&2; grep SigBlk /proc/self/status >&2'
says "it begins with no signal blocked" '^SigBlk:[[:space:]]*0000000000000000$'

# ---- signals
# ending SIGNAL NAME: one sent to a run of its own ends it with the report
ending() {
	env --default-signal=INT "$profile" -F 499 >"$out" 2>"$err" &
	local run=$!
	started+=("$run")
	await 30 grep -q '^Sampling' "$out"
	"$programs/nested" 100 >"$fate"
	kill "-$1" "$run"
	wait "$run"
	status=$?
	exits "$2 ends the measurement, which is no error" 0
	says "$2: the report is there" '^    -                nested ' "$out"
	says "$2: the closing line is there" '^[0-9]+ samples, '
}
ending INT SIGINT
ending TERM SIGTERM
ending HUP SIGHUP

# with_command: starts a command that burns for ever, and waits for it; sets $run and its $group
with_command() {
	rm -f "$tmp/x.folded"
	: >"$tmp/ready"
	setsid env --default-signal=INT "$profile" -F 499 -o "$tmp/x.folded" -- "$@" \
		>"$tmp/ready" 2>"$err" &
	run=$!
	started+=("$run")
	await 30 grep -q ready "$tmp/ready"
	# A group of its own, so that it has had CPU time when the signal comes.
	command_pid=$(sed -n 's/^ready //p' "$tmp/ready")
	await 30 has_run
}
has_run() { [ "$(awk '{ print $14 + $15 }' "/proc/$command_pid/stat")" -ge 10 ]; }
report_is_there() {
	out=$tmp/x.folded
	has "$1: the report is there" ';main;outer;middle;inner;burn(;|$)'
	! kill -0 "$command_pid" 2>>"$fate"
	check $? "$1: the command is gone" "it is there"
}
with_command "$programs/nested"
kill -INT -- "-$run"
wait "$run"
status=$?
exits "SIGINT to both ends the command, whose status it is" 130
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
	await 30 has_run
	printf '\003' >&"$keys"
	wait "$run"
	status=$?
	exec {keys}>&-
	exits "Ctrl-C on a terminal ends the command, whose status it is" 130
	report_is_there "Ctrl-C on a terminal"
else
	skip "Ctrl-C on a terminal" "script is not installed"
fi
finish
