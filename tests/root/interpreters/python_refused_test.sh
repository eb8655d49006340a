#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CPython that is not walked says so beside the evaluator's frames: python_refused_test.sh BUILD
# all: it needs interpreters of two other releases; python_hostile_test.sh has one refused
# kind: own frames
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
time.sleep(0.5) # until the programs that look at interpreters are loaded, mostly
for i in range(100): outer(); time.sleep(0.002)
S
# refuses NAME REASON LIBC COMMAND...: two calls of the evaluator are marked in all stacks, once interpreters are looked at
refuses() {
	count -f "$3:getpid" -- "${@:4}"
	marked=$(counted "PyEval_EvalCode;.*\\[python: $2\\];.*\\[python: $2\\];.*getpid\$")
	early=$(counted 'PyEval_EvalCode;.*\[python: not known yet\];.*\[python: not known yet\];.*getpid$')
	[ "$marked" -ge 20 ] && [ $((marked + early)) -eq 200 ]
	check $? "$1: [python: $2]" "$marked marked, $early not known yet, of 200"
}

# other_version FILE BYTE: makes it say that its minor version is another one, in Py_Version
other_version() {
	local address begin offset
	address=$(nm -D "$1" | awk '$3 == "Py_Version" { print $1 }')
	read -r begin offset < <(readelf -SW "$1" | awk '$2 == ".rodata" { print $4, $5 }')
	offset=$((16#$address - 16#$begin + 16#$offset + 2)) # its third byte is the minor version
	# shellcheck disable=SC2059 # an escape of the format
	printf "\\x$2" | dd of="$1" bs=1 seek=$offset conv=notrunc status=none
}
# described_version FILE BYTE: the same in its description of itself, which is where the cookie is in its data
described_version() {
	local at
	at=$(grep -obUa xdebugpy "$1" | tail -n 1)
	# shellcheck disable=SC2059
	printf "\\x$2" | dd of="$1" bs=1 seek=$((${at%%:*} + 10)) conv=notrunc status=none
}
if root=$("$here/../../root_of" sid python3.15 2>"$err"); then
	libc=$(ls "$root"/lib/*-linux-gnu/libc.so.6)
	mkdir -p "$root/tmp" && cp "$tmp/calls.py" "$root/tmp"
	cp "$root/usr/bin/python3.15" "$root/tmp/python3.16" && other_version "$root/tmp/python3.16" 10
	refuses "a version that its description of itself denies" "other structures" \
		"$libc" env PYTHONHOME=/usr chroot "$root" /tmp/python3.16 /tmp/calls.py
	described_version "$root/tmp/python3.16" 10
	count -f "$libc:getpid" -- env PYTHONHOME=/usr chroot "$root" /tmp/python3.16 /tmp/calls.py
	few=$(counted '<module> \(calls\.py\);outer \(calls\.py\);.*;outer.<locals>.<lambda> \(calls\.py\);inner \(calls\.py\);[^()]*getpid$')
	early=$(counted 'not known yet.*getpid$')
	[ "$few" -ge 20 ] && [ $((few + early)) -eq 200 ]
	check $? "a version to come is walked by its description of itself" "$few, $early not known yet, of 200: $(tail -n 1 "$out")"
else
	skip "python3.15" "$(tail -n 1 "$err")"
fi
old=$HOME/.pyenv/versions/2.7.18/bin/python2.7
if [ -x "$old" ]; then
	refuses "Python 2.7" "version unknown" c "$old" "$tmp/calls.py"
else
	skip "Python 2.7" "no $old"
fi
if python=$("$here/../../free_threaded_python" trixie python3.13 2>"$err"); then
	refuses "trixie's python3.13, built without the global lock" "free-threaded" c \
		env PYTHONHOME="${python%/*}" PYTHONPATH="${python%/*}/Lib" "$python" "$tmp/calls.py"
else
	skip "Python without the global lock" "$(tail -n 1 "$err")"
fi
finish
