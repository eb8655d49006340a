#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Options that select samples: profile_filters_test.sh BUILD
# timeout: 240
# kind: whom
. "$(dirname "$0")/../harness.bash" "$1"
# only NAME REGEX: there are samples, and the stacks of all of them match
only() {
	[ "$(total)" -gt 20 ] && [ "$(counted "$2")" -eq "$(total)" ]
	check $? "$1" "$(cut -d';' -f1 "$out" | sort | uniq -c | tr '\n' ' ') $(cat "$err")"
}

begin nice -n 10 "$programs/recursion" 3 0 || finish # no filter below selects it
begin "$programs/nested" || finish

# ---- ids and names
measure -F 499 -f -U -p "$pid" 2
only "-p selects one process" '^nested;'
measure -F 499 -f -U -L "$pid" 2
only "-L selects one thread" '^nested;'
measure -F 499 -f -U --name nested 2
only "--name selects threads of that name" '^nested;'
measure -F 499 -f -U --name 'ne?te*' 2
only "--name takes wildcards" '^nested;'
measure -F 499 -f -U --name 'neste' 0.5
none "--name matches whole names, and other threads are neither counted nor lost"
measure -F 499 -f -U --name 'recursion' -p "$pid" 0.5
none "of two filters both must match"

# ---- cgroups
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=$root/stacktally-test-$$
leave() {
	[ -d "$tmp/bpf" ] && umount "$tmp/bpf"
	echo "$child" >"$root/cgroup.procs"
	rmdir "$group/inner" "$group/other" "$group"
} 2>>"$fate"
if [ -z "$root" ] || ! mkdir -p "$group/inner" "$group/other" 2>>"$err"; then
	skip "--cgroup and --cgroupmap" "no cgroup v2 is mounted and writable"
else
	at_exit=leave
	echo "$pid" >"$group/inner/cgroup.procs"
	measure -F 499 -f -U --cgroup "$group/inner" 2
	only "--cgroup selects the processes in a cgroup" '^nested;'
	measure -F 499 -f -U --cgroup "$group" 2
	only "--cgroup selects the processes in the cgroups below it" '^nested;'
	measure -F 499 -f -U --cgroup "$group/other" 0.5
	none "--cgroup does not select processes in the cgroup beside it"

	mkdir "$tmp/bpf"
	if ! mount -t bpf bpf "$tmp/bpf" 2>"$err" ||
		! bpftool map create "$tmp/bpf/set" type hash key 8 value 8 entries 16 name set 2>"$err"; then
		skip "--cgroupmap" "$(cat "$err")"
	else
		key=$(stat -c %i "$group/inner")
		# shellcheck disable=SC2046 # bpftool takes one word for each byte
		bpftool map update pinned "$tmp/bpf/set" key $(printf '%016x' "$key" | sed 's/../& /g' |
			awk '{ for (i = 8; i; i--) printf "0x%s ", $i }') value 0 0 0 0 0 0 0 0
		# While an interpreter runs, other programs capture events, with the same maps.
		python3 -c 'import time; print("runs", flush=True); time.sleep(60)' >"$tmp/python" 2>>"$fate" &
		started+=("$!")
		await 10 test -s "$tmp/python"
		measure -F 499 -f -U --cgroupmap "$tmp/bpf/set" 2
		only "--cgroupmap selects the cgroups in the map" '^nested;'
		[ "$(total)" -gt 100 ]
		check $? "... until the end" "$(total) samples"
		bpftool map create "$tmp/bpf/empty" type hash key 8 value 8 entries 16 name set
		measure -F 499 -f -U --cgroupmap "$tmp/bpf/empty" 0.5
		none "an empty map selects none"
		bpftool map create "$tmp/bpf/wrong" type hash key 4 value 8 entries 16 name wrong
		measure -f --cgroupmap "$tmp/bpf/wrong" 1
		exits "a map of another key size is an error" 1
		says "the message says what the map must be" '^profile: --cgroupmap .*/wrong: not a BPF hash map with keys of 8 '
		measure -f --cgroupmap "$tmp/bpf/nosuch" 1
		exits "a map that does not exist is an error" 1
		measure -f --cgroupmap /etc/passwd 1
		exits "a file that is no map is an error" 1
		says "the message names it" '^profile: --cgroupmap /etc/passwd: no pinned BPF map there'
		[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ]
		check $? "in one line" "$(cat "$err" "$out")"
	fi
	measure -F 499 --show-cgroup -p "$pid" $slow
	says "--show-cgroup shows the cgroup" "stacktally-test-$$/inner" "$out"
fi

end
kill -KILL "${started[0]}"

# ---- kernel and user stacks
measure_command -F 499 -- "$programs/system_calls" 300
has "a stack has its user and its kernel part" ';main;.*;(ksys_read|vfs_read)(;|$)'
measure_command -F 499 -d -- "$programs/system_calls" 300
has "-d puts a delimiter between them" ';main;(read_zeros;)?read;-;[^-]*;(ksys_read|vfs_read)(;|$)'
measure_command -F 499 -a -- "$programs/system_calls" 300
has "-a marks the kernel's frames" ';main;.*;(ksys_read|vfs_read)_\[k\](;|$)'
lacks "and no user frame" ';main_\[k\]'
measure_command -F 499 -U -- "$programs/system_calls" 300
has "-U shows the user's frames" ';main;'
lacks "and none of the kernel's" ';(ksys_read|vfs_read|entry_SYSCALL_64_after_hwframe)(;|$)'
measure_command -F 499 -K -- "$programs/system_calls" 300
has "-K shows the kernel's frames" ';(ksys_read|vfs_read)(;|$)'
lacks "and none of the user's with -K" ';main(;|$)'

# ---- children
begin "$programs/forks" 1000000 3000 || finish
measure -F 499 -f -U -p "$pid" 2
has "-p selects the process" '^forks;'
lacks "and not its children" ';child_work(;|$)'
measure -F 499 -f -U -p "$pid" --children 2
has "--children selects them, too" ';child_work(;|$)'
only "and nothing else" '^forks(;|$)'
end
finish
