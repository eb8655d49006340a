#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of code that LuaJIT compiled, which keeps no frame pointers, and of exits from it: reports of stacks that
# end at [jit], or in words that an exit saved: luajit_traces_test.sh BUILD
# timeout: 60
# kind: generated code
. "$(dirname "$0")/../harness.bash" "$1"
traces=$programs/luajit_traces
"$traces" 0 2>"$fate"
[ $? = 77 ] && {
	skip "stacks of LuaJIT's traces" "there is no libluajit-5.1.so.2"
	finish
}
in_first=';clone3;start_thread;work;first;call;lua_pcall;'
in_second=';clone3;start_thread;work;second;first;call;lua_pcall;'
for how in '' exits; do
	measure_command -U -f -F 499 -- "$traces" 2 $how
	whole=$(counted "^luajit_traces($in_first|$in_second)")
	ended=$(counted '\[unwind: ')
	# In the first milliseconds of a library, a frame may be too far from what the kernel copies.
	calculates "$whole > 50 && $ended < 0.01 * $whole"
	check $? "whole${how:+, with many exits}" "$whole whole, $ended not, of $(total): $(grep '\[unwind: ' "$out" | head -n 3)"
	lacks "no frame is unknown${how:+, with many exits}" '\[unknown\]'
	calculates "$(counted "$in_second.*;twice;.*\[jit\]") > 5 && $(counted "$in_first.*;twice") == 0"
	check $? "traces that a C function calls back${how:+, with many exits}" "$(hottest)"
	[ "$how" ] || hot=$(counted ';lua_pcall;\[jit\];plain$')
done
calculates "$hot > 5"
check $? "C functions that traces call"
finish
