# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests of interpreters, on top of stackcount.bash: . interpreters.bash BUILD
# shellcheck shell=bash disable=SC2034,SC2154 # the tests use the variables
. "$(dirname "${BASH_SOURCE[0]}")/../stackcount.bash" "$1"

# releases RELEASE...: with TEST_ALL all of them, else the first
releases() { if [ -n "${TEST_ALL-}" ]; then echo "$@"; else echo "$1"; fi; }
# functions FILE: a folded report with the functions of programs only
functions() {
	awk '{
		n = $NF; sub(/ [0-9]+$/, ""); k = split($0, frame, ";"); s = ""
		for (i = 1; i <= k; i++)
			if (frame[i] ~ /^\[(python|php|perl|ruby|javascript): / || frame[i] ~ / \([^()]*\)$/)
				s = s (s == "" ? "" : ";") frame[i]
		count[s] += n
	} END { for (s in count) print s, count[s] }' "$1" | LC_ALL=C sort
}
# by_probe: those that the program has an account of
by_probe() { grep 'probe ([a-z]*_oracle\.[a-z]*) [0-9]*$\|^\[\|;\[\(p[a-z]*\|ruby\): '; }
# equal NAME FILE: the report in $out has the functions of the account in FILE
equal() {
	functions "$out" | by_probe >"$tmp/seen"
	functions "$2" >"$tmp/true" # the program's child wrote its own
	[ -s "$tmp/true" ] && cmp -s "$tmp/seen" "$tmp/true"
	check $? "$1" "$(diff "$tmp/true" "$tmp/seen" | grep '^[<>]' | head -n 4 | rev | cut -c 1-200 | rev)"
}
# with_lines FILE: a folded report with the functions of programs only, f (x.py:12), without the directories; that
# of a program may have f (x.py) (x.py:12)
with_lines() {
	awk '{
		n = $NF; sub(/ [0-9]+$/, ""); k = split($0, frame, ";"); s = ""
		for (i = 1; i <= k; i++)
			if (frame[i] ~ / \([^()]*:[0-9]+\)$/ && frame[i] !~ /\.(c|cc|h|S):[0-9]+\)$/) {
				sub(/ \([^()]*\) \(/, " (", frame[i])
				sub(/ \([^()]*\//, " (", frame[i])
				s = s (s == "" ? "" : ";") frame[i]
			}
		count[s] += n
	} END { for (s in count) print s, count[s] }' "$1" | LC_ALL=C sort
}
# equal_lines NAME FILE: the same, with lines
equal_lines() {
	with_lines "$out" | grep 'probe ([a-z]*_oracle\.[a-z]*:[0-9]*) [0-9]*$' >"$tmp/seen"
	with_lines "$2" >"$tmp/true"
	[ -s "$tmp/true" ] && cmp -s "$tmp/seen" "$tmp/true"
	check $? "$1" "$(diff "$tmp/true" "$tmp/seen" | grep '^[<>]' | head -n 4 | rev | cut -c 1-200 | rev)"
}
# begin_ready COMMAND...: starts a command that prints `ready PID` once it has its libraries, and waits for
# a line then. let_go: gives it the line, and waits for its end.
begin_ready() {
	rm -f "$tmp/go"
	mkfifo "$tmp/go"
	exec {go}<>"$tmp/go"
	# shellcheck disable=SC2016 # they are the other shell's
	begin sh -c 'exec "$@" <"$0"' "$tmp/go" "$@"
}
let_go() {
	echo >&"$go"
	wait "$child"
	exec {go}>&- {reading}<&-
}
# count_ready ARGUMENT... -- COMMAND...: as count of such a command. It is counted from there on, so all
# of it is known before. Files of probes are the command's, in $root.
count_ready() {
	local arguments=()
	while [ "$1" != -- ]; do
		arguments+=("${1#"$root"}")
		shift
	done
	begin_ready "${@:2}" && attach -p "$pid" "${arguments[@]}"
	let_go
	detach
	mv "$folded" "$out"
}
# sample_ready ARGUMENT... -- COMMAND...: samples such a command from there on: none is of its start. It
# works for some CPU time, so the number of samples does not depend on the machine's load.
sample_ready() {
	local arguments=()
	while [ "$1" != -- ]; do
		arguments+=("$1")
		shift
	done
	begin_ready "${@:2}" && sample -p "$pid" "${arguments[@]}"
	let_go
	sampled
}
