#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Python programs, against the programs' own accounts: python_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "functions of Python programs" "$no_uprobes"
	finish
}

# oracle NAME VERSION LIBC PLACE COMMAND...: runs the oracle's copy in PLACE, and compares. Of a version
# whose calls take three native frames, the deepest stack is too deep.
oracle() {
	local name="$1 ($2)" version=$2 libc=$3 place=$4
	rm -f "$place/account"
	count -f "$libc:getpid" -- "${@:5}" -W ignore "${place#"$root"}/python_oracle.py" "${place#"$root"}/account"
	few "$version" "$out" "$place/account"
	equal "$name: functions and counts are the program's own" "$place/account"
	rm -f "$place/account"
	count -f --lines "$libc:getpid" -- "${@:5}" -W ignore "${place#"$root"}/python_oracle.py" \
		"${place#"$root"}/account" lines
	few "$version" "$out" "$place/account"
	equal_lines "$name: and so are the lines" "$place/account"
}
# few VERSION FILE...: leaves out what is too deep for a version
few() {
	[[ "$1" == 3.[6-9] || "$1" == 3.10 ]] || return
	for file in "${@:2}"; do
		awk 'gsub(/recurse |unmatched/, "&") < 300' "$file" >"$tmp/few" && mv "$tmp/few" "$file"
	done
}
# The versions that are installed, and those of Debian's releases in file systems of their own.
root='' known=''
cp "$here/python_oracle.py" "$tmp"
for version in 3.6 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14; do
	for it in "/usr/bin/python$version" "python$version" "$HOME/.pyenv/versions/$version".*/bin/python3; do
		it=$("$it" -c 'import sys; print(sys.executable)' 2>>"$fate") || continue
		[[ " $known " == *" $it "* ]] && continue
		known+=" $it"
		oracle "$it" "$version" c "$tmp" "$it"
	done
done
for of in $(releases trixie:3.13 bullseye:3.9 sid:3.14 sid:3.15); do
	version=${of#*:}
	if root=$("$here/../../root_of" "${of%:*}" "python$version" 2>"$err"); then
		mkdir -p "$root/tmp" && cp "$here/python_oracle.py" "$root/tmp"
		oracle "${of%:*}" "$version" "$(ls "$root"/lib/*-linux-gnu/libc.so.6)" "$root/tmp" \
			chroot "$root" "/usr/bin/python$version"
	else
		skip "${of%:*}'s python$version" "$(tail -n 1 "$err")"
	fi
done

python=/usr/bin/python3
if ! "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>>"$fate"; then
	skip "order, formats, forged frames" "no $python from 3.11 to 3.13"
	finish
fi

# A thread in a sub-interpreter: its functions are known, and those of the interpreter that called it are
# not, and say so.
cat >"$tmp/sub.py" <<'S'
import _xxsubinterpreters, time
time.sleep(0.3)
_xxsubinterpreters.run_string(_xxsubinterpreters.create(), "import os\ndef inner(): os.getpid()\ndef outer(): inner()\nouter()")
S
if "$python" -c 'import _xxsubinterpreters' 2>>"$fate"; then
	count -f c:getpid -- "$python" -W ignore "$tmp/sub.py"
	has "sub-interpreters have functions" \
		'_PyEval_EvalFrameDefault;\[python: (unmatched|not known yet)\];.*;<module> \(<string>\);outer \(<string>\);inner \(<string>\);[^()]*getpid$'
fi

# Order: native frames of the C code between functions stay.
cat >"$tmp/order.py" <<'S'
import os
def key(x): return os.getpid()
def outer(): return sorted([1, 2], key=key)
outer()
S
count -f c:getpid -- "$python" "$tmp/order.py"
has "native frames are in their places" \
	';Py_RunMain;.*;PyEval_EvalCode;<module> \(order\.py\);outer \(order\.py\);PyObject_Vectorcall;.*;key \(order\.py\);.*getpid$'
lacks "the evaluator's frames are not shown" '_PyEval_EvalFrameDefault'
count -f --native c:getpid -- "$python" "$tmp/order.py"
has "--native shows them, too" \
	';_PyEval_EvalFrameDefault;<module> \(order\.py\);outer \(order\.py\);.*;_PyEval_EvalFrameDefault;key \(order\.py\);'

# An interpreter in a file of any name, as bundles have it: it is known by what it exports.
cp "$(readlink -f "$python")" "$tmp/appserver"
PYTHONHOME=/usr count -f c:getpid -- "$tmp/appserver" "$tmp/order.py"
has "an interpreter is found in a file of any name" ';outer \(order\.py\);.*;key \(order\.py\);.*getpid$'

# A recording, and what is made of it.
count -o "$tmp/r.stacktally" -o "$tmp/r.folded" c:getpid -- "$python" "$tmp/order.py"
count -f --from "$tmp/r.stacktally"
cmp -s "$tmp/r.folded" "$out" && grep -q 'key (order\.py)' "$out"
check $? "a recording keeps them" "$(diff "$tmp/r.folded" "$out" | head -n 2 | cut -c 1-300) $(tail -n 1 "$err")"

# Processes that are gone before anything is named, of a whole machine.
if attach -f c:getpid; then
	for _ in 1 2 3 4 5; do "$python" "$tmp/order.py"; done
	detach
	out=$folded
	few=$(counted ';outer \(order\.py\);.*;key \(order\.py\);')
	marked=$(counted 'PyEval_EvalCode;.*python: not known yet.*getpid$')
	out=$tmp/out
	[ "$few" -ge 6 ] && [ $((few + marked)) -ge 10 ]
	check $? "names outlive their processes" "$few with functions, $marked marked, of 10"
else
	fail "names outlive their processes" "$(tail -n 2 "$err")"
fi

# A thread that is named has functions from its first sample on, as its process has.
cat >"$tmp/thread.py" <<'S'
import os, time
def work(until):
    while time.process_time() < until: pass
print("ready", os.getpid(), flush=True)
input()
work(time.process_time() + 1)
S
begin_ready "$python" "$tmp/thread.py"
sample -F 499 -U -L "$pid"
let_go
sampled
few=$(counted ';work \(thread\.py\)')
early=$(counted 'python: not known yet')
[ "$few" -gt 300 ] && [ "$early" = 0 ]
check $? "a thread that is named has functions from the first sample on" "$few, $early not known yet"

# Samples: nearly all have functions.
cat >"$tmp/busy.py" <<'S'
import os, sys, time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def work(until):
    while time.process_time() < until: sorted(range(50), key=lambda x: -x); fib(10)
print("ready", os.getpid(), flush=True)
sys.stdin.readline()
work(time.process_time() + 2)
S
sample_ready -v -F 499 -U -- "$python" "$tmp/busy.py"
work=$(counted '<module> \(busy\.py\);work \(busy\.py\)')
ran=$(counted ';Py_RunMain;') # the interpreter's own start is before that
calculates "$ran > 100 && $work > 0.9 * $ran"
check $? "samples have functions" "$work of $ran"
[ "$(counted ';Py_RunMain;.*python: ')" -lt $((ran / 10)) ]
check $? "few are torn" "$(counted ';Py_RunMain;.*python: ') of $ran"
says "-v counts stacks with functions" 'interpreted programs: [0-9]+ stacks'

# Some descriptors are left, for reading the interpreter, but not as many as the programs that walk it
# need. No word of the command names it, so it is found late.
cat >"$tmp/limit.sh" <<'S'
# The limit is a number below which so many descriptors are free.
limit=$(ls "/proc/$PPID/fd" | sort -n | awk -v left="$1" '
	{ for (; n < $1 && left; n++) left--; if (n == $1) n++ }
	END { print n + left }')
prlimit --pid "$PPID" --nofile="$limit":
"$interpreter" -c 'import os, time; os.getpid(); time.sleep(0.2); os.getpid()'
prlimit --pid "$PPID" --nofile=4096:
S
for left in 12 16 20 24 28; do
	interpreter=$python count -f c:getpid -- sh "$tmp/limit.sh" "$left"
	grep -q '^WARNING: the functions' "$err" && grep -q 'python: ' "$out" && break
done
says "a warning names the reason when interpreters cannot be walked" \
	'^WARNING: the functions of interpreted programs are missing: .*Too many open files; raise the limit'
has "and evaluators' frames say so" ';PyEval_EvalCode;.*\[python: not known yet\];.*getpid$'

# Chains that are bent: the walk ends, says why, and native frames go on.
if "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
	count -f c:getpid -- "$python" "$here/python_forged.py"
	is "a circle is followed for a while only" "$(counted 'Py_RunMain;.*\[python: too deep\];.*ffi_call.*;getpid$')" 1
	is "where a wild pointer leads is not read" "$(counted 'Py_RunMain;.*\[python: unreadable\];.*ffi_call.*;getpid$')" 2
	is "the chain is whole again" "$(counted 'PyEval_EvalCode;<module> \(python_forged\.py\);[^(]*getpid$')" 1
else
	skip "chains that are bent" "$python is not 3.11"
fi
finish
