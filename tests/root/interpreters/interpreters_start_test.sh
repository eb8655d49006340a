#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several interpreters run when a measurement of the whole machine begins, and what a start makes the verifier go
# through: interpreters_start_test.sh BUILD
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
. "$(dirname "$0")/busy_programs.bash"
start_all
[ "${#pids[@]}" -gt 3 ] || { skip "several interpreters" "there are fewer than four" && finish; }

measure -F 199 -U -f 3
for i in "${!names[@]}"; do
	has "functions of ${names[i]}" "^[^;]*;.*outer[^;]*;.*inner"
done
for pid in "${pids[@]}"; do kill -KILL "$pid"; done 2>>"$fate"

# The kernel says how many instructions it went through (Linux 5.16).
"$profile" -p $$ -f 60 >"$out" 2>"$err" &
running=$!
verified() { cat "/proc/$running/fdinfo"/* 2>>"$fate" | awk '/^verified_insns/ && $2 > most { most = $2 } END { print most + 0 }'; }
loaded() { grep -q 'prog_type:	7$' "/proc/$running/fdinfo"/* 2>>"$fate"; } # of a perf event
await 20 loaded
most=$(verified)
kill -INT "$running"
wait "$running"
if [ "$most" -eq 0 ]; then
	skip "what the verifier goes through" "this kernel does not tell"
else
	[ "$most" -le 29000 ]
	check $? "the verifier goes through 29,000 instructions at most" "$most"
fi
finish
