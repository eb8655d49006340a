#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# This kernel's verifier takes the programs that walk interpreters, all of them at once, by each kind of
# trigger, and they show functions: interpreters_load_test.sh BUILD
# timeout: 300
. "$(dirname "$0")/interpreters.bash" "$1"
cat >"$tmp/load.py" <<'S'
import os
def inner(n):
    for i in range(n): os.getppid()
def outer(): inner(1000)
print("ready", os.getpid(), flush=True)
while True: outer()
S
cat >"$tmp/load.pl" <<'S'
sub inner { getppid() for 1 .. $_[0] }
sub outer { inner(1000) }
$| = 1;
print "ready $$\n";
outer() while 1;
S
cat >"$tmp/load.php" <<'S'
<?php
function inner($n) { for ($i = 0; $i < $n; $i++) usleep(0); }
function outer() { inner(1000); }
echo "ready ", getmypid(), "\n";
while (true) outer();
S
cat >"$tmp/load.rb" <<'S'
def inner(n) = n.times { Process.ppid }
def outer = inner(1000)
$stdout.sync = true
puts "ready #{$$}"
outer while true
S
cat >"$tmp/load.js" <<'S'
function inner(n) { for (let i = 0; i < n; i++) process.ppid; }
function outer() { inner(1000); }
console.log(`ready ${process.pid}`);
while (true) outer();
S
cat >"$tmp/Load.java" <<'S'
public class Load {
	static long inner(int n) { long s = 0; for (int i = 0; i < n; i++) s += Integer.toString(i).hashCode(); return s; }
	static long outer() { return inner(1000); }
	public static void main(String[] arguments) {
		System.out.println("ready " + ProcessHandle.current().pid());
		for (long s = 0; ; s += outer()) if (s == 1) System.out.println(s);
	}
}
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
if command -v javac >>"$fate" && javac -d "$tmp" "$tmp/Load.java" 2>>"$fate"; then
	start java java -Xmx64m -cp "$tmp" Load
else
	skip "functions of java" "no javac"
fi
[ "${#pids[@]}" -gt 0 ] || finish
list=$(IFS=, && echo "${pids[*]}")

# by TRIGGER COMMAND...: the programs are loaded, and functions are shown
by() {
	"${@:2}" >"$out" 2>"$err"
	check $? "$1: measured" "$(tail -n 2 "$err")"
	! grep -q 'functions of interpreted programs are missing' "$err"
	check $? "$1: the kernel takes the programs" "$(grep missing "$err")"
}
by "the clock" "$profile" -f -F 199 -U -p "$list" 5
for i in "${!names[@]}"; do
	has "functions of ${names[i]}" "^[^;]*;.*outer[^;]*;.*inner.*$([ "${names[i]}" != java ] || echo '|Load.outer')"
done
by "time off the CPU" "$profile" -f --off-cpu -p "$list" 2
by "time on and off the CPU" "$profile" -f --wall -p "$list" 2
by "a tracepoint" "$stackcount" -f -p "${pids[0]}" -D 2 t:syscalls:sys_enter_getppid
can 'user probes' || have_uprobes && by "a function of a library" "$stackcount" -f -p "${pids[0]}" -D 2 c:getppid
finish
