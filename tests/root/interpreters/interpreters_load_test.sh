#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# This kernel's verifier takes the programs that walk interpreters, all of them at once, by each kind of
# trigger, and they show functions: interpreters_load_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
. "$(dirname "$0")/busy_programs.bash"

at_exit=end_all
end_all() { kill -KILL "${pids[@]}" 2>>"$fate"; }
start_all
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
