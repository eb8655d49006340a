#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long calls took, from entry to return, by the stacks that made them; against what the program
# measures itself: stackcount_time_test.sh BUILD
# timeout: 180
# quiet: it changes return addresses in other programs that call the same functions
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

times=$programs/sc_times
# timed PATTERN WHAT...: measures the calls in a program that measures them, too. $json has the
# report, $said what the program printed.
timed() {
	local pattern=$1
	shift
	json=$tmp/report.json
	rm -f "$json"
	"$stackcount" --time -o "$json" "$pattern" -- "$times" "$@" >"$tmp/said" 2>"$err"
	status=$?
	said=$(grep -v '^Tracing\|^Detaching' "$tmp/said")
}
# agrees NAME FUNCTION: the stacks with this function as leaf or caller have as many calls as the
# program made, and times between those that it measured within them and around them, to 1 %
agrees() {
	local found
	found=$(python3 - "$json" "$2" "$said" <<'END'
import json, sys
report, name = json.load(open(sys.argv[1])), sys.argv[2]
truth = next(l.split() for l in sys.argv[3].splitlines() if l.split()[0] == name)
calls, inner, outer, largest_inner, largest_outer = map(int, truth[1:])
names = [frame["name"] for frame in report["frames"]]
mine = [s for s in report["stacks"] if name in [names[i] for i in s["user"] + s["kernel"]]]
got = sum(s["events"] for s in mine)
ns = sum(s["count"] for s in mine)
largest = max((s["largest"] for s in mine), default=0)
right = (got == calls and 0.99 * inner <= ns <= 1.01 * outer and
         0.99 * largest_inner <= largest <= 1.01 * largest_outer)
print("ok" if right else f"calls {got} of {calls}, ns {ns} of {inner} to {outer}, "
      f"largest {largest} of {largest_inner} to {largest_outer}")
END
)
	[ "$status" -eq 0 ] && [ "$found" = ok ]
	check $? "$1" "status $status: $found; $(tail -n 3 "$err")"
}
# lost NAME KEY NUMBER: the report's losses
lost() {
	local n
	n=$(grep -o "\"$2\":[0-9]*" "$json" | cut -d: -f2)
	is "$1" "${n:-0}" "$3"
}

if have_uprobes; then
	timed "$times:st_work" plain
	agrees "times of calls by their caller" st_caller_short
	agrees "times of calls by another caller" st_caller_long
	lost "nothing is lost of calls that return" calls_unreturned 0
	grep -qE '^[0-9.]+ m?s of 30 calls, 2 stacks, 0 lost$' "$err"
	check $? "what the closing line says" "$(tail -n 1 "$err")"

	timed "$times:st_recursive" recursion
	agrees "recursion counts once" st_recursive
	timed "$times:st_*" plain
	agrees "calls within calls count once" st_caller_long
	timed "$times:st_work" threads
	agrees "threads are apart" thread
	timed "$times:st_*" tail
	agrees "a function that ends with a jump to another one" st_tail
	lost "both of them return once" calls_unentered 0

	timed "$times:st_jump" jump
	agrees "calls after those that longjmp() left" st_jump
	lost "calls that longjmp() left are told" calls_unreturned 5
	timed "$times:st_*" exit
	lost "calls whose thread ends are told" calls_unreturned 3
	says "they are told in a line" '^3 calls did not return: '
	says "that none returned, too" 'was called, but none of these calls returned'
	timed "$times:st_fork" fork
	agrees "calls in which a child is forked" st_fork
	lost "the child's returns are told" calls_unentered 5

	"$stackcount" --time -o "$out" --format folded "$times:st_work" -- "$times" plain \
		>"$tmp/said" 2>"$err"
	[ "$(grep -c 'st_caller_\(short\|long\);st_work [0-9]*$' "$out")" -eq 2 ] &&
		[ "$(total "$out")" -ge 119000 ] && [ "$(total "$out")" -lt 60000000 ]
	check $? "folded stacks have microseconds" "$(cat "$out")"

	# The number of arguments is where a return address would be.
	cat >"$tmp/arguments.c" <<'C'
int main(int argc, char **argv) { (void)argv; return argc; }
C
	"${CC:-cc}" -o "$tmp/arguments" "$tmp/arguments.c" 2>"$err" || fail "compiled" "$(cat "$err")"
	"$stackcount" --time -f "$tmp/arguments:*" -- "$tmp/arguments" a b c >"$out" 2>"$err"
	grep -qE ';main [0-9]+$' "$out"
	check $? "all functions of a program" "$(cat "$out" "$err")"
	says "where it begins is left out" '_start .a program begins there, and it does not return'
	"$stackcount" --time -f -D 100 "$tmp/arguments:*" >"$tmp/said" 2>&1 &
	started+=("$!")
	await 30 grep -q '^Tracing' "$tmp/said"
	"$tmp/arguments" a b c
	is "a program has its arguments while they are probed" "$?" 4
	kill "${started[-1]}"
	fails 1 "a program's begin has no time" '_start of .* does not return: a program begins there' \
		--time -D 1 "$tmp/arguments:_start"

	fails 1 "exceptions would end the program" 'has exceptions: .* if none leaves .*, add --force$' \
		--time -D 1 "$programs/cplusplus:main"
else
	skip "times of calls of user functions" "$no_uprobes"
fi

if have_kprobes && [ "$(uname -m)" = x86_64 ]; then
	timed hrtimer_nanosleep sleep
	agrees "times of calls of a kernel function" sleep_often
	timed '*nanosleep*' sleep
	agrees "kernel functions within others count once" sleep_often
else
	skip "times of calls of kernel functions" "$no_kprobes"
fi

fails 1 "tracepoints do not return" 't:sched:sched_switch is no function, and does not return$' \
	--time -D 1 t:sched:sched_switch
finish
