# SPDX-License-Identifier: GPL-2.0-or-later
# For tests beside interpreters.bash: programs in five languages that work. start_all starts those whose
# interpreters there are; names and pids tell which.
# shellcheck shell=bash disable=SC2034,SC2154 # the tests use the variables
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
start_all() {
	start python python3 "$tmp/load.py"
	start perl perl "$tmp/load.pl"
	start php php "$tmp/load.php"
	start ruby ruby "$tmp/load.rb"
	start node node "$tmp/load.js"
}
