#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of functions whose return is probed, by someone else or by --time: the kernel's trampoline
# is in the place of their return addresses: return_probes_test.sh BUILD
# timeout: 120
# kind: callers
. "$(dirname "$0")/../stackcount.bash" "$1"
if ! have_uprobes; then
	skip "probed returns" "this kernel has no uprobes"
	finish
fi
probe=
at_exit=leave
leave() { [ -z "$probe" ] || kill "$probe" 2>>"$fate"; }
# probing PATTERN: the returns of these functions are probed from now on
probing() {
	leave
	"$stackcount" --time -D 100 "$1" >"$tmp/probe" 2>&1 &
	probe=$!
	started+=("$probe")
	await 30 grep -q '^Tracing' "$tmp/probe"
	check $? "the returns of ${1##*/} are probed" "$(tail -n 3 "$tmp/probe")"
}
# whole NAME REGEX: all stacks of the report with burn() or its caller have all callers
whole() {
	local all of
	all=$(counted ';(burn|inner)(;|$)')
	of=$(counted "$2")
	[ "$all" -gt 20 ] && [ "$of" -eq "$all" ]
	check $? "$1" "$of of $all; $(tail -n 3 "$out" | cut -c 1-400) $(tail -n 2 "$err")"
}

program=$programs/pending_returns
ten=$(printf ';recursive%.0s' {1..10})
four=$(printf ';recursive%.0s' {1..4})
base="^[^;]*;_start;__libc_start_main;__libc_start_call_main;main;outer($ten|$four);inner(;burn)?(;|\$)"
patterns=(outer recursive '*r*')
# An emulated machine takes minutes for each.
[ "$slow" -eq 1 ] || patterns=(recursive)
begin "$program" || finish
for pattern in "${patterns[@]}"; do
	probing "$program:$pattern"
	measure -U -f -F 499 -p "$pid" $((1 * slow))
	whole "by the clock, while $pattern returns to a probe" "$base"
	measure --unwind=auto --off-cpu -U -f -p "$pid" --min-block 1 $((1 * slow))
	lacks "off the CPU, likewise" 'unwind: (no|special) mapping'
	"$stackcount" -U -f -p "$pid" -D 1 "$program:burn" >"$out" 2>"$err"
	whole "by a probe, likewise" "$base"
done

# Threads at a probe mostly stand behind its breakpoint, or in the code that the kernel has them
# return to. Some 2 % of these samples meet a moment that cannot be walked: the kernel has changed
# the return address, and has not noted yet which it was. Without the rules for both, it is 20 %.
mostly() {
	local all of
	all=$(counted '')
	of=$(counted 'unwind:')
	[ "$all" -gt "$3" ] && calculates "$of < $2 * $all"
	check $? "$1" "$of of $all: $(grep unwind: "$out" | head -n 5)"
}
end
begin "$program" 0 short || finish
probing "$program:*u*r*"
measure -U -f -F 1999 -p "$pid" $((2 * slow))
mostly "between a probe's breakpoint and its handler" 0.06 50
end
measure -U -f -F 1999 -- bash -c "for i in {1..20}; do '$program' 20 short; done >/dev/null"
mostly "walks that user space finishes" 0.04 200

python=$(readlink -f /usr/bin/python3)
if [ -x "$python" ] && nm -D "$python" 2>>"$fate" | grep -q ' T PySequence_List'; then
	cat >"$tmp/sorts.py" <<'S'
import os, sys
def key(n): return sum(range(n))
def numbers(): return map(key, range(2000))
def work(): return sorted(numbers())
print("ready", os.getpid(), flush=True)
while True: work()
S
	begin "$python" "$tmp/sorts.py" || finish
	probing "$python:PySequence_List"
	measure -U -f -F 499 -p "$pid" $((1 * slow))
	has "functions of Python beyond it" ';<module> [(]sorts.py[)];(.*;)?work [(]sorts.py[)];(.*;)?key [(]sorts.py[)](;|$)'
	lacks "and no stack ends there" 'unwind: (no|special) mapping'
else
	skip "functions of Python beyond it" "no python3 exports PySequence_List"
fi
finish
