#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that forge a Java virtual machine: the walk takes bounded time, and nothing but their own stacks is
# spoiled: java_forged_test.sh BUILD
# kind: strangers
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
command -v "${CC:-gcc}" >/dev/null || {
	skip "forged machines" "no compiler"
	finish
}
"${CC:-gcc}" -O1 -rdynamic -o "$tmp/java_forged" "$here/java_forged.c" 2>"$err" || {
	check 1 "the program compiles" "$(head -n 3 "$err")"
	finish
}

# forged NAME FORGERY PATTERN: most stacks of such a program end with the pattern
forged() {
	measure_command -F 199 -U -- "$tmp/java_forged" "$2"
	local all most
	all=$(counted '.*') most=$(counted "$3")
	calculates "$all > 100 && $most > 0.8 * $all"
	check $? "$1" "$most of $all; $(grep -av "$3" "$out" | head -n 2 | cat -v | cut -c 1-300)"
	[ -s "$out" ] && ! LC_ALL=C grep -q '[[:cntrl:]]' "$out"
	check $? "... and writes nothing to a terminal" "$(LC_ALL=C grep -a '[[:cntrl:]]' "$out" | cat -v | cut -c 1-200)"
}

forged "a machine that is none, and fits, is walked" nothing '^java_forged;.*;main;Forged\.run$'
forged "segments that lead in a circle are followed for a while only" segments '^java_forged;\[unwind: generated code\];\[java: unknown code\]$'
forged "so are scopes" scopes ';main;Forged\.run;\[java: inlined function not exact\]$'
forged "a name of 64 KB is cut" name ';main;Forged\.run[^;]*$'
forged "of 2^28 points of debug information none is searched" points ';main;Forged\.run;\[java: inlined function not exact\]$'
finish
