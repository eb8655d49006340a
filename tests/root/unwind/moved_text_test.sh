#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Text that a program moved to anonymous memory is its file's: reports of node and of databases that
# are [jit] with huge pages; and packed programs say what they are: moved_text_test.sh BUILD
# timeout: 120
# kind: layouts
. "$(dirname "$0")/../harness.bash" "$1"
moved=$programs/moved_text

# seen NAME REGEX: nearly all samples in $out match
seen() {
	calculates "$(total) > 20 && $(counted "$2") > 0.95 * $(total)"
	check $? "$1" "$(hottest) $(tail -n 1 "$err")"
}
whole='^moved_text;_start;__libc_start_main;__libc_start_call_main;main;outer(;middle(;leaf)?)?$'
for memory in moved shared; do
	begin "$moved" "$memory" || finish
	measure -U -f -F 499 -p "$pid" 1
	end
	seen "a program that runs already, $memory: names and callers" "$whole"
done
measure_command -U -f -F 499 -- timeout 1 "$moved" moved
in_leaf=$(counted ';leaf$')
calculates "$in_leaf > 20 && $(counted ';main;outer;middle;leaf$') > 0.9 * $in_leaf"
check $? "a program that is started: names and callers" "$(hottest) $(tail -n 1 "$err")"
measure_command -U -f -F 499 -- timeout 2 "$moved" slowly
seen "callers whose code is being moved" '^moved_text;_start;__libc_start_main;__libc_start_call_main;main;mover;move_slowly'
calculates "$(counted ';main;mover;move_slowly;burn_a_while$') > 20"
check $? "a program that moves its text for long: names and callers" "$(hottest) $(tail -n 1 "$err")"

begin "$moved" packed || finish
measure -U -f -F 499 -p "$pid" 1
end
seen "code that its file does not have: a reason" '^moved_text;\[unwind: no CFI\];\[packed\]$'
if have_node=$(type -P node); then
	echo 'let s = 0, e = Date.now() + 1500; while (Date.now() < e) s += JSON.stringify([s, e]).length;' >"$tmp/burn.js"
	measure_command -U -f -F 99 -- "$have_node" --use-largepages=on "$tmp/burn.js"
	calculates "$(total) > 20 && $(counted '\[jit\]') < 0.3 * $(total)"
	check $? "node with its text on large pages" "$(counted '\[jit\]') of $(total): $(hottest)"
else
	skip "node with its text on large pages" "there is no node"
fi
finish
