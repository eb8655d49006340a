#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An empty report, and one that lacks a part, says why and what to do: empty_test.sh BUILD
# Reports of this kind: "0 samples", and no more.
# timeout: 120
# kind: silence
. "$(dirname "$0")/../harness.bash" "$1"

# explains NAME REGEX ARGUMENT...: profile's report is empty, and one line on stderr matches
explains() {
	measure -f "${@:3}"
	[ "$status" -eq 0 ] && [ ! -s "$out" ] && [ "$(grep -Ec -- "$2" "$err")" -eq 1 ]
	check $? "$1" "status $status: $(cat "$err")"
}
sleep 300 &
sleeper=$!
started+=("$sleeper")
# A master whose worker sleeps, too.
bash -c 'sleep 300 & echo $! >"$1"; wait' bash "$tmp/worker" &
master=$!
started+=("$master")
await 10 test -s "$tmp/worker"
started+=("$(cat "$tmp/worker")")
asleep() { grep -q '^State:	S' "/proc/$1/status"; }
await 10 asleep "$sleeper"
await 10 asleep "$master"

# ---- samples
explains "a process that sleeps" \
	"^process $sleeper did not run, it sleeps: profile --off-cpu -p $sleeper" -p "$sleeper" 0.2
explains "a thread that sleeps" \
	"^thread $sleeper did not run, it sleeps: profile --off-cpu -L $sleeper" -L "$sleeper" 0.2
explains "the master of workers" \
	"^process $master did not run, but it has children \(1\): --children" -p "$master" 0.2
measure --off-cpu -p "$sleeper" -f 0.2
has "and what the message advises answers" '^sleep;.*\[blocked\]'
kill -STOP "$sleeper"
explains "a process that is stopped" \
	"^process $sleeper is stopped, by a signal or a debugger" -p "$sleeper" 0.2
kill -CONT "$sleeper"
sample -p "$master,$sleeper"
kill -KILL "$master"
{ wait "$master"; } 2>>"$fate"
sampled
says "a process that ends meanwhile" "^process $master has ended: profile --name NAME finds its successor"
explains "lists add up" "^process $sleeper did not run" -p "$sleeper" -p "$(cat "$tmp/worker")" 0.2
"$programs/ratio" 60000 >"$fate" &
started+=("$!")
busy=$!
measure -f -p "$sleeper" -p "$!" 0.5
has "the last list is measured, as well as the first" '^ratio;'
measure -f -p "$!" -p "$sleeper" 0.5
has "and the first as well as the last" '^ratio;'
if [ "$(nproc)" -gt 1 ]; then
	taskset -cp 0 "$!" >>"$fate"
	explains "a process that runs on another CPU is not said to sleep" \
		'^nothing that was asked for ran on CPU 1; without -C' -p "$!" -C 1 0.5
else
	skip "a process that runs on another CPU" "there is one CPU"
fi
"$programs/lives" leader >"$fate" 2>&1 &
started+=("$!")
await 10 grep -q '^State:	Z' "/proc/$!/status"
kill -STOP "$!"
explains "a process whose first thread has ended, and others not" \
	"^process $! is stopped, by a signal or a debugger" -p "$!" 0.2
explains "a name that nobody has" "no thread named ngnix was seen; seen most: " --name ngnix 1s
(exec -a x bash -c 'printf %s waits_long >/proc/self/comm; read -r <>"$1"' bash <(sleep 300)) &
started+=("$!")
await 10 grep -qx waits_long "/proc/$!/comm"
await 10 asleep "$!"
explains "a name whose threads sleep" \
	"^1 thread named waits_lon\* did not run, but sleeps: profile --off-cpu --name 'waits_lon\*' shows what for" --name 'waits_lon*' 0.2
explains "a process that runs, in less time than a sample takes" \
	"^process $busy runs, but no sample met it: measure for longer" -F 1 -p "$busy" 0.1
explains "a node of memory" '^nothing that was asked for ran on NUMA node 0; without --node' \
	--node 0 -p "$sleeper" 0.2
explains "less time than from one sample to the next" '^no sample was due in that time: ' -F 1 0.1
explains "the same on one CPU" '^no sample was due in that time: ' -F 1 -C 0 0.1
explains "an event that does not occur" '^the event did not occur: -e cpu-clock' -e emulation-faults 0.2
explains "nor with idle CPUs" '^the event did not occur: -e cpu-clock' -I -e emulation-faults 0.2
measure_command -F 1 -- true
says "a command of a moment" '^the command ended before it was sampled'
explains "absences that are longer than the measurement" \
	'^no thread left a CPU that was asked for' --off-cpu -p "$sleeper" --min-block 90000000 0.2
explains "the idle tasks" '^the idle tasks have the id 0, and are left out without -I' -p 0 0.2
! grep -q 'has ended' "$err"
check $? "and they have not ended" "$(cat "$err")"
"$profile" -q -o "$tmp/all.stacktally" --per-thread --show-cgroup -F 199 -- "$programs/ratio" 300 >"$fate"
explains "a process that is not in a recording" \
	'^no samples of process 1 are in what --from reads; without -p' --from "$tmp/all.stacktally" -p 1
explains "a thread that is not in a recording" \
	'^no samples of thread 1 are in what --from reads; without -L' --from "$tmp/all.stacktally" -L 1
explains "a cgroup that is not in a recording" \
	'^no samples of the cgroup /nobody are in what --from reads; --show-cgroup' \
	--from "$tmp/all.stacktally" --cgroup /nobody
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$group" ] && mkdir "$group/stacktally-empty.$$" 2>>"$fate"; then
	group=$group/stacktally-empty.$$
	explains "a cgroup without processes" 'has no processes of its own now' --cgroup "$group" 0.2
	sleep 300 &
	started+=("$!")
	echo "$!" >"$group/cgroup.procs"
	await 10 asleep "$!"
	explains "a cgroup that sleeps" '^no process of the cgroup' --cgroup "$group" 0.2
	kill -KILL "$!"
	{ wait "$!"; } 2>>"$fate"
	rmdir "$group"
else
	skip "a cgroup without processes" "no cgroup2 can be written"
fi
PATH=$PATH:/usr/sbin
mkdir "$tmp/bpf"
if mount -t bpf none "$tmp/bpf" 2>>"$fate" &&
	bpftool map create "$tmp/bpf/set" type hash key 8 value 4 entries 8 name set 2>>"$fate"; then
	explains "an empty map" "^nothing ran that is in the map $tmp/bpf/set" --mntnsmap "$tmp/bpf/set" 0.2
else
	skip "an empty map" "bpftool cannot pin one"
fi
umount "$tmp/bpf" 2>>"$fate"

# ---- events
counts() { # NAME REGEX ARGUMENT...
	"$stackcount" -f "${@:3}" >"$out" 2>"$err"
	[ ! -s "$out" ] && [ "$(grep -Ec -- "$2" "$err")" -eq 1 ]
	check $? "$1" "$(cat "$err")"
}
counts "a process that does not call it" \
	"did not occur in process $sleeper; without -p and -L, all processes count" \
	-p "$sleeper" -D 0.2 c:malloc
counts "a function that nobody calls" 'did not occur in any process' -D 0.2 "$programs/nested:outer"
counts "a filter that nobody meets" 'did not occur where the filters want it' \
	--name nobody-has-this -D 0.2 "$programs/nested:outer"
sleep 300 &
brief=$!
started+=("$brief")
"$stackcount" -p "$brief" c:malloc >"$out" 2>"$err" &
run=$!
started+=("$run")
await 60 grep -q '^Tracing' "$out"
kill -KILL "$brief"
{ wait "$brief"; } 2>>"$fate"
kill -INT "$run"
wait "$run"
says "a process that ends meanwhile" "did not occur in process $brief, which has ended"

# ---- parts
strip -o "$tmp/stripped" "$programs/ratio"
# where no package has debug information for the C library
unshare -m sh -c 'if [ -d /usr/lib/debug ]; then mount -t tmpfs none /usr/lib/debug; fi; exec "$@"' sh \
	"$tmp/stripped" 60000 >"$fate" &
started+=("$!")
await 10 grep -qx stripped "/proc/$!/comm"
# without_debug ARGUMENT...: profile, which has none either
without_debug() {
	nsenter -m -t "${started[-1]}" env -u DEBUGINFOD_URLS "$profile" -f -U -F 199 "$@" 1 >"$out" 2>"$err"
}
without_debug --lines -p "$!"
says "no lines" '^no source lines: .*--symbols lists packages'
without_debug --inlines -p "$!"
says "no inlined functions" '^no inlined functions: .*--symbols lists packages'
unshare -pf --mount-proc "$profile" -F 99 -f 1 >"$out" 2>"$err"
says "other processes of a container's host" \
	'^[0-9]+ % of the samples are of processes outside of this PID namespace, .*hostPID'
unshare -pf --mount-proc "$profile" -F 99 -i 0.5 --push http://127.0.0.1:9 2 >"$out" 2>"$err"
[ "$(grep -c 'are of processes outside of this PID namespace, .*hostPID' "$err")" = 1 ]
check $? "once also where intervals are only pushed" "$(cat "$err")"
mkdir "$tmp/sys"
unshare -m sh -c 'mount --bind "$1" /sys && exec "$2" -f 0.2' sh "$tmp/sys" "$profile" >"$out" 2>"$err"
says "no /sys" '/sys is not mounted: mount -t sysfs sysfs /sys|there is no /sys/kernel/btf'

# ---- the same filter is not another one
measure -F 199 -U --name ratio -o "$tmp/base.stacktally" 0.5
measure -F 199 -U --name ratio --diff "$tmp/base.stacktally" -f 0.5
! grep -q 'which is of something else' "$err"
check $? "a comparison with the same --name is no warning" "$(cat "$err")"
measure -F 199 -U --name stripped --diff "$tmp/base.stacktally" -f 0.5
says "one with another name is" '^WARNING: compared with .*which is of something else: the filter is threads named ratio'
finish
