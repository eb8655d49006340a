#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CPython that is not walked says so beside the evaluator's frames: python_refused_test.sh BUILD
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "Python that is not walked" "$no_uprobes"
	finish
}
cat >"$tmp/calls.py" <<'S'
import os, time
def inner(): return os.getpid()
def outer(): return sorted([2, 1], key=lambda x: inner())
for i in range(100): outer(); time.sleep(0.002)
S
# refuses NAME REASON ROOT PROGRAM: two calls of the evaluator are marked in nearly all stacks
refuses() {
	mkdir -p "$3/tmp" && cp "$tmp/calls.py" "$3/tmp"
	count -f "$(ls "$3"/lib/*-linux-gnu/libc.so.6):getpid" -- chroot "$3" "$4" /tmp/calls.py
	marked=$(counted "PyEval_EvalCode;.*\\[python: $2\\];.*\\[python: $2\\];.*getpid\$")
	early=$(counted 'PyEval_EvalCode;.*\[python: not known yet\];.*\[python: not known yet\];.*getpid$')
	[ "$marked" -ge 100 ] && [ $((marked + early)) -eq 200 ]
	check $? "$1: [python: $2]" "$marked marked, $early not known yet, of 200"
}

if root=$("$here/../../root_of" sid python3.15 2>"$err"); then
	refuses "sid's python3.15, whose evaluator is mostly outside of its function" "version unknown" "$root" /usr/bin/python3.15
else
	skip "python3.15" "$(tail -n 1 "$err")"
fi
finish
