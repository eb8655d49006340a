#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# This kernel's verifier takes the programs that walk interpreters, all of them at once, by each kind of
# trigger, and they show functions: interpreters_load_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
# Each works for some ms of CPU time and then sleeps for ten times as long: all of them together leave an
# emulated machine time for the measurement.
cat >"$tmp/load.py" <<'S'
import os, time
def inner(end):
    while time.process_time() < end: os.getppid()
def outer():
    inner(time.process_time() + 0.005)
    time.sleep(0.05)
print("ready", os.getpid(), flush=True)
while True: outer()
S
cat >"$tmp/load.pl" <<'S'
use Time::HiRes qw(clock usleep);
sub inner { getppid() while clock() < $_[0] }
sub outer { inner(clock() + 0.005); usleep(50000) }
$| = 1;
print "ready $$\n";
outer() while 1;
S
cat >"$tmp/load.php" <<'S'
<?php
function now() { $used = getrusage(); return $used["ru_utime.tv_sec"] + $used["ru_utime.tv_usec"] / 1e6; }
function inner($end) { while (now() < $end); }
function outer() { inner(now() + 0.005); usleep(50000); }
echo "ready ", getmypid(), "\n";
while (true) outer();
S
cat >"$tmp/load.rb" <<'S'
def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
def inner(ends) = (Process.ppid while now < ends)
def outer = (inner(now + 0.005); sleep 0.05)
$stdout.sync = true
puts "ready #{$$}"
outer while true
S
cat >"$tmp/load.js" <<'S'
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
at_exit=end_all
end_all() { kill -KILL "${pids[@]}" 2>>"$fate"; }
start python python3 "$tmp/load.py"
start perl perl "$tmp/load.pl"
start php php "$tmp/load.php"
start ruby ruby "$tmp/load.rb"
start node node "$tmp/load.js"
if [ -e "$programs/Load.class" ]; then # an emulated machine would take a minute to compile it
	start java java -Xmx64m -XX:TieredStopAtLevel=1 -cp "$programs" Load
else
	skip "functions of java" "no javac"
fi
[ "${#pids[@]}" -gt 0 ] || finish
list=$(IFS=, && echo "${pids[*]}")

# takes TRIGGER: the measurement that has ended with $status and messages in $err had the programs
takes() {
	[ "$status" -eq 0 ] && [ "$(total)" -gt 0 ]
	check $? "$1: measured" "exit status $status: $(tail -n 2 "$err")"
	! grep -q 'functions of interpreted programs are missing' "$err"
	check $? "$1: the kernel takes the programs" "$(grep missing "$err")"
}
sample -F 199 -U -p "$list"
for pid in "${pids[@]}"; do works "$pid" 20; done
sampled
takes "the clock"
for i in "${!names[@]}"; do
	has "functions of ${names[i]}" "^[^;]*;.*outer[^;]*;.*inner.*$([ "${names[i]}" != java ] || echo '|Load.outer')"
done
# Samples, too, and the programs of time off the CPU.
measure -f --wall -p "$list" 1
takes "--wall"
has "... functions off the CPU" ';.*outer[^;]*;.*\[blocked\]$|Load.outer.*\[blocked\]$'
count -f -p "${pids[0]}" -D 1 t:syscalls:sys_enter_getppid
takes "a tracepoint"
has "... functions at it" ';.*outer[^;]*;.*inner'
if can 'user probes' || have_uprobes; then
	count -f -p "${pids[0]}" -D 1 c:getppid
	takes "a function of a library"
	has "... functions at it" ';.*outer[^;]*;.*inner'
fi
finish
