#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Walks go on through generated trampolines that keep no frame pointer, and through the page of
# vsyscalls: unwind_trampolines_test.sh BUILD
# kind: callers
. "$(dirname "$0")/../harness.bash" "$1"
# through NAME REGEX PROGRAM...: nearly all stacks of the running program have all callers
through() {
	local all of
	begin "${@:3}" || return
	sample -F 499 -U -p "$pid"
	works "$pid" 40 # 200 samples
	sampled
	kill "$child" 2>"$fate"
	rm -f "/tmp/perf-$pid.map"
	all=$(total)
	of=$(counted "$2")
	calculates "$all >= 50 && $of >= 0.97 * $all"
	check $? "$1" "$of of $all; $(sort -k2 -n -t' ' "$out" | tail -n 2 | cut -c 1-400)"
}
through "trampolines as CPython makes them" \
	'_start;__libc_start_main;__libc_start_call_main;main;outer;py::one;middle;py::two;inner' \
	"$programs/trampolines" 60000

cat >"$tmp/busy.py" <<'S'
import os
def inner(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
def middle(n): return inner(n)
def outer(n): return middle(n)
print("ready", os.getpid(), flush=True)
while True: outer(20000)
S
python=
for it in python3.14 python3.13 python3.12 python3; do
	command -v $it >"$fate" && $it -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' 2>"$fate" &&
		python=$it && break
done
if [ -n "$python" ]; then
	through "$python -X perf" '_start;.*py::outer:.*;py::middle:.*;py::inner:' "$python" -X perf "$tmp/busy.py"
else
	skip "python3 -X perf" "no python3 from 3.12 on"
fi

if "$programs/vsyscall" 1; then
	sample -F 499 -- "$programs/vsyscall" 500
	sampled
	all=$(counted ';time(;|$)') of=$(counted '_start;__libc_start_main;__libc_start_call_main;main;outer;time(;|$)')
	calculates "$all >= 50 && $of == $all"
	check $? "time() of the page of vsyscalls has its name and callers" "$of of $all; $(tail -n 2 "$out" | cut -c 1-400)"
	lacks "no sample there ends for want of CFI" 'special mapping|no mapping'
else
	skip "the page of vsyscalls" "this kernel has none"
fi
finish
