#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A process that forges its interpreter's state: each call is counted, the walk takes bounded time, and
# nothing but the process's own stacks is spoiled: python_hostile_test.sh BUILD
# kind: strangers
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "forged state" "$no_uprobes"
	finish
}
python=/usr/bin/python3
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || {
	skip "forged state" "$python is not 3.11"
	finish
}

# was_called FUNCTION [FIELD]: what the program says of it: calls, or microseconds of one
was_called() { awk -v name="$1" -v field="${2-2}" '$1 == name && NF == 3 { print $field }' "$out"; }

count -f c:getpid -- "$python" "$here/python_hostile.py" "$RANDOM"
closing
is "each call is counted" "$samples $lost" "2712 0"
few=$(counted '\[python: too deep\];.*ffi_call.*;getpid$') # random frames may be in a circle, too
[ "$few" -ge 50 ] && [ "$few" -le 250 ]
check $? "an endless chain is followed for a while only" "$few of 50"
few=$(counted '\[python: torn\];.*ffi_call.*;getpid$')
[ "$few" -ge 50 ] && [ "$few" -le 250 ]
check $? "a record that leads to itself is torn" "$few of 50"
few=$(grep -c '^[^ ].*;name [0-9]* (python_hostile\.py);.*ffi_call.*;getpid 3$' "$out")
is "a code object that changes has its name of that moment" "$few" 100
[ "$(counted '\[python: name lost\];.*ffi_call.*;getpid$')" -ge 100 ]
check $? "names of 1 GB, and those that are no strings, are not shown" "$(counted 'name lost')"
[ "$(counted ';escapes \(python_hostile\.py\);[^;]*evil[^;]*\.py\).*getpid$')" = 10 ] && ! LC_ALL=C grep -q '[[:cntrl:]]' "$out"
check $? "names cannot write to a terminal" "$(grep -a evil "$out" | cat -v | cut -c 1-200)"
[ "$(was_called random_frames)" = 2000 ] && [ "$(counted 'EvalCode;.*ffi_call.*;getpid$')" -ge 2690 ]
check $? "frames of random words leave native frames whole" "$(counted 'EvalCode;.*ffi_call.*;getpid$') of 2710"
for name in endless_chain endless_runs changing_code long_names random_frames; do
	us=$(was_called "$name" 3)
	[ -n "$us" ] && [ "$us" -lt 20000 ]
	check $? "$name: a stack takes bounded time" "$us us"
done
echo "# us of a call: $(awk 'NF == 3 && $1 ~ /^[a-z_]+$/ && $2 ~ /^[0-9]+$/ { printf "%s %s  ", $1, $3 }' "$out")"
finish
