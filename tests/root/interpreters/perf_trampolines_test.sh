#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Python beside those that `python3 -X perf` gives native frames: perf_trampolines_test.sh BUILD
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
root=$("$(dirname "$0")/../../root_of" trixie python3.13 2>"$err") || {
	skip "functions beside those of -X perf" "$(tail -n 1 "$err")"
	finish
}
mkdir -p "$root/tmp"
cat >"$root/tmp/perf.py" <<'S'
import time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def key(x): return fib(3)
while True: sorted(range(20), key=key); fib(8)
S
chroot "$root" /usr/bin/python3.13 -X perf /tmp/perf.py &
python=$!
started+=("$python")
works "$python" 30
measure -f -U --native -F 499 -p "$python" 2
# The innermost function may not have begun, or be over.
awk '{
	n = $NF; sub(/ [0-9]+$/, ""); k = split($0, frame, ";"); perf = ours = last = ""
	for (i = 1; i <= k; i++)
		if (frame[i] ~ /^py::/) {
			last = frame[i]; sub(/^py::/, "", last); sub(/:.*/, "", last)
			before = perf; perf = perf ";" last
		} else if (frame[i] ~ / \(perf\.py\)$/) {
			sub(/ \(.*/, "", frame[i]); ours = ours ";" frame[i]
		}
	all += n
	if (perf != "" && (ours == perf || ours == before)) same += n
} END { print all + 0, same + 0 }' "$out" >"$tmp/same"
read -r all same <"$tmp/same"
calculates "$all > 100 && $same == $all"
check $? "the same functions in the same order as -X perf" "$same of $all"
finish
