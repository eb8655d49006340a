#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several interpreters run when a measurement of the whole machine begins, and what a start makes the verifier go
# through: interpreters_start_test.sh BUILD
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
# Each works for some ms of CPU time and then sleeps for ten times as long.
cat >"$tmp/start.pl" <<'S'
use Time::HiRes qw(clock usleep);
sub inner { getppid() while clock() < $_[0] }
sub outer { inner(clock() + 0.005); usleep(50000) }
$| = 1;
print "ready $$\n";
outer() while 1;
S
cat >"$tmp/start.py" <<'S'
import os, time
def inner(end):
    while time.process_time() < end: os.getppid()
def outer():
    inner(time.process_time() + 0.005)
    time.sleep(0.05)
print("ready", os.getpid(), flush=True)
while True: outer()
S
cat >"$tmp/start.rb" <<'S'
def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
def inner(ends) = (Process.ppid while now < ends)
def outer = (inner(now + 0.005); sleep 0.05)
$stdout.sync = true
puts "ready #{$$}"
outer while true
S
cat >"$tmp/start.php" <<'S'
<?php
function now() { $used = getrusage(); return $used["ru_utime.tv_sec"] + $used["ru_utime.tv_usec"] / 1e6; }
function inner($end) { while (now() < $end); }
function outer() { inner(now() + 0.005); usleep(50000); }
echo "ready ", getmypid(), "\n";
while (true) outer();
S
cat >"$tmp/start.js" <<'S'
const napping = new Int32Array(new SharedArrayBuffer(4));
function inner(end) { while (process.cpuUsage().user < end) process.ppid; }
function outer() { inner(process.cpuUsage().user + 5000); Atomics.wait(napping, 0, 0, 50); }
console.log(`ready ${process.pid}`);
while (true) outer();
S
names=() pids=()
# start NAME COMMAND...: one that is not there is skipped
start() {
	if ! command -v "$2" >>"$fate"; then
		skip "functions of $1" "no $2"
		return
	fi
	begin "${@:2}" || return
	names+=("$1") pids+=("$pid")
	exec {reading}<&-
}
start perl perl "$tmp/start.pl"
start python python3 "$tmp/start.py"
start ruby ruby "$tmp/start.rb"
start php php "$tmp/start.php"
start node node "$tmp/start.js"
[ "${#pids[@]}" -gt 3 ] || { skip "several interpreters" "there are fewer than four" && finish; }

measure -F 199 -U -f 3
for i in "${!names[@]}"; do
	has "functions of ${names[i]}" "^[^;]*;.*outer[^;]*;.*inner"
done
for pid in "${pids[@]}"; do kill -KILL "$pid"; done 2>>"$fate"

# The kernel says how many instructions it went through (Linux 5.16).
"$profile" -p $$ -f 60 >"$out" 2>"$err" &
running=$!
verified() { cat "/proc/$running/fdinfo"/* 2>>"$fate" | awk '/^verified_insns/ && $2 > most { most = $2 } END { print most + 0 }'; }
loaded() { grep -q 'prog_type:	7$' "/proc/$running/fdinfo"/* 2>>"$fate"; } # of a perf event
await 20 loaded
most=$(verified)
kill -INT "$running"
wait "$running"
if [ "$most" -eq 0 ]; then
	skip "what the verifier goes through" "this kernel does not tell"
else
	[ "$most" -le 28000 ]
	check $? "the verifier goes through 28,000 instructions at most" "$most"
fi
finish
