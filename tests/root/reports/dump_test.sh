#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each thread of a process that hangs, once: dump_test.sh BUILD
# timeout: 120
# kind: silence
. "$(dirname "$0")/../harness.bash" "$1"

# line THREAD: what the dump says of the thread of that name
line() { grep -E "^$1 \([0-9/]+\):" "$out"; }
# stack THREAD: its functions in user space, innermost first, without the kernel's
stack() {
	awk -v name="$1" '$1 == name { on = 1; next } on && /^ / { print $1 } on && /^$/ { exit }' "$out"
}
# tid THREAD: its id
tid() { grep -lx "$1" "/proc/$pid/task"/*/comm | cut -d / -f 5; }
# stay STATE THREAD...: whether these threads are in that state
stay() {
	local thread
	for thread in "${@:2}"; do
		grep -q ") $1 " "/proc/$pid/task/$(tid "$thread")/stat" 2>>"$fate" || return 1
	done
}

begin "$programs/hangs"
server=$pid
began=$(date +%s%N)
await 20 stay S transfer-1 transfer-2 again reader
await 20 stay D parent
sleep 1.2
measure --dump -p "$server"
waited_s=$(awk "BEGIN { print ($(date +%s%N) - $began) / 1e9 }")
exits "a dump of a process" 0
line_of_main=$(line hangs)
one=$(tid transfer-1) other=$(tid transfer-2)

says "a deadlock is told first" \
	"^DEADLOCK: .*transfer-1 \($server/$one\) waits for transfer-2 \($server/$other\).*transfer-2 \($server/$other\) waits for transfer-1 \($server/$one\)" "$out"
says "so is a lock that a thread takes twice" "again \([0-9/]+\) waits for itself" "$out"
says "whose lock a thread waits for" \
	"^transfer-1 \([0-9/]+\): blocked for .*, waits for the lock at 0x[0-9a-f]+, which thread $other transfer-2 has" "$out"
says "the thread whose end it waits for" \
	"^hangs \($server\): blocked.*, waits for the end of thread $one transfer-1" "$out"
says "the file that it reads" "^reader \([0-9/]+\): blocked.*, in read of fd [0-9]+: pipe:" "$out"
says "a thread that cannot be interrupted" "^parent \([0-9/]+\): blocked, cannot be interrupted \(D\)" "$out"
says "a thread that runs" "^runner \([0-9/]+\): (running|waiting for a CPU) [0-9]+ %" "$out"
[ "$(grep -c '^[^ ].* ([0-9/]*): ' "$out")" -eq 7 ]
check $? "each thread once" "$(grep '^[^ ]' "$out")"

# ---- for how long, by the scheduler's clock: since it was ready, and not longer than until now
for thread in transfer-1 reader parent; do
	for_s=$(line "$thread" | sed -n 's/.* for \([0-9.]*\) s.*/\1/p')
	calculates "${for_s:-0} >= 1 && ${for_s:-0} <= $waited_s + 0.5"
	check $? "for how long $thread is blocked" "$for_s of $waited_s s: $(line "$thread")"
done

# ---- where
has_stack() {
	stack "$1" | grep -qx "$2"
	check $? "the stack of $1 has $2" "$(stack "$1" | tr '\n' ' ')"
}
has_stack transfer-1 take_one_then_other
has_stack transfer-2 take_other_then_one
# Other programs may have the CPUs for all of the 20 ms, which the dump then says.
cp "$out" "$tmp/first"
for _ in 1 2 3 4; do
	stack runner | grep -qxF '[no' || break
	measure --dump -p "$server"
done
has_stack runner run
cp "$tmp/first" "$out"
has_stack reader read_nothing
has_stack parent wait_for_child
has_stack hangs main
# ---- other formats
# A thread that runs is sampled, unless the machine has no time for that.
sampled_all() { measure --dump -p "$server" "$@" && [ "$(grep -c 'runner' "$out")" -ge "$least" ] && ! grep -q no_stack "$out"; }
least=1
await 20 sampled_all -f
[ "$(total)" -eq 7 ]
check $? "folded: each thread counts 1" "$(cut -c 1-100 "$out")"
has "a folded stack" '^transfer-1-[0-9/]+;.*;take_one_then_other;'
least=2
await 20 sampled_all --format json
python3 - "$out" "$one" "$other" <<'END'
import json, sys
dump = json.load(open(sys.argv[1]))
one, other = int(sys.argv[2]), int(sys.argv[3])
threads = {thread["tid"]: thread for thread in dump["threads"]}
assert len(threads) == 7 and len(dump["stacks"]) == 7, threads
assert threads[one]["waits_for_tid"] == other and threads[one]["deadlock"], threads[one]
assert threads[other]["waits_for_tid"] == one and threads[one]["state"] == "blocked"
assert threads[one]["for_ns"] > 1e9 and dump["measurement"]["duration_ns"] < 1e9
assert all(stack["count"] == 1 for stack in dump["stacks"])
END
check $? "JSON has the threads" "$(tail -n 8 "$out")"

# ---- what is chosen
measure --dump --name 'transfer-*'
[ "$(grep -c '^transfer-[12] ' "$out")" -eq 2 ] && ! grep -q '^reader ' "$out"
check $? "--name chooses threads" "$(grep '^[^ ]' "$out" | head -n 5)"
! grep -q 'format top' "$err"
check $? "threads that wait are what a dump is for: no table leaves them out" "$(cat "$err")"
measure --dump -L "$one"
[ "$(grep -c '^[^ ].*: blocked' "$out")" -eq 1 ] && grep -q '^transfer-1 ' "$out"
check $? "-L chooses one" "$(grep '^[^ ]' "$out" | head -n 5)"
kill -STOP "$server"
await 20 stay T reader
measure --dump -p "$server"
says "a stopped thread" '^reader \([0-9/]+\): stopped by a signal \(T\)' "$out"
kill -CONT "$server"
pkill -KILL -P "$server"
end

# ---- gdb, which stops the process for it, has the same functions
known='main|start_thread|take_[a-z_]*|read_nothing|clone3' # libc's may lack names there
if [ "$slow" -eq 1 ] && command -v gdb >>"$fate"; then
	begin "$programs/hangs" calm
	await 20 stay S transfer-1 transfer-2 again reader
	measure --dump -p "$pid"
	timeout 60 gdb -p "$pid" -batch -ex 'thread apply all bt' 2>>"$fate" </dev/null | awk '
		/^Thread / { name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name) }
		/^#/ { print name, $3 == "in" ? $4 : $2 }' >"$tmp/gdb"
	for thread in hangs transfer-1 transfer-2 again reader; do
		sed -n "s/^$thread //p" "$tmp/gdb" | grep -Ex "$known" >"$tmp/theirs"
		stack "$thread" | grep -Ex "$known" >"$tmp/ours"
		[ -s "$tmp/theirs" ] && cmp -s "$tmp/theirs" "$tmp/ours"
		check $? "gdb has the same functions of $thread" "$(paste "$tmp/theirs" "$tmp/ours")"
	done
	end
else
	echo "skip gdb: it is not installed, or the machine is slow"
fi

# ---- a thread that sleeps and is woken right after the dump has looked: it did not run all the time
begin perl -e '$| = 1; print "ready $$\n"; select(undef, undef, undef, 0.01) while 1'
missing=0
for _ in {1..20}; do
	measure --dump -p "$pid"
	[ "$status" -eq 0 ] && grep -q '^perl' "$out" && ! grep -q 'no stack' "$out" || missing=$((missing + 1))
done
[ "$missing" -le 1 ]
check $? "threads that nap have their stacks" "$missing of 20 dumps have none: $(cat "$out")"
end

# ---- threads that share a CPU: not all have a turn within 20 ms, so the dump looks longer
begin taskset -c 0 "$programs/threads" 12 0
for _ in {1..5}; do
	measure --dump -p "$pid"
	grep -q 'no stack' "$out" || break
done
[ "$(grep -c '^worker-[0-9]* ' "$out")" -eq 12 ] && ! grep -q 'no stack' "$out"
check $? "threads that wait for a CPU have their stacks" "$(grep -v '^    [^[]' "$out")"
end

# ---- a process that holds whoever reads its memory
begin "$programs/holds_readers"
if [[ $said == skip* ]]; then
	echo "skip a process that holds readers: this kernel has no userfaultfd for us"
else
	timeout -s KILL $((30 * slow)) "$profile" --dump -p "$pid" >"$out" 2>"$err"
	status=$?
	exits "a process that holds readers does not hold the dump" 0
	says "its threads are shown" "^holder \([0-9/]+\): blocked.*, in pause" "$out"
	says "so are those after it" "^usual \([0-9/]+\): blocked.*, in pause" "$out"
	timeout -s KILL $((30 * slow)) "$profile" --off-cpu -f -p "$pid" 1 >"$out" 2>"$err"
	status=$?
	exits "nor a measurement of time off the CPU" 0
fi
end

measure --dump -o "$tmp/x.html"
exits "a page cannot show it" 2
says "which is told" "format 'html' cannot show it: use text, folded or json"
measure --dump 5
exits "it has no duration" 2
exit $failed
