#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Options that select CPUs, and idle ones: profile_cpus_test.sh BUILD
# quiet: a CPU has to become idle, and another test's program of the same name may run on any
# kind: whom
. "$(dirname "$0")/../harness.bash" "$1"
begin "$programs/recursion" 3 0 || finish
unwanted=$pid
begin "$programs/nested" || finish

# ---- CPUs
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] && [[ $(cat /sys/devices/system/cpu/online) == 0-* ]]; then
	taskset -p -c 1 "$pid" >"$fate"
	taskset -p -c 0 "$unwanted" >"$fate"
	measure -F 499 -f -U -C 1 2
	has "-C selects what runs on one CPU" '^nested;'
	measure -F 499 -f -U -C 0 1
	has "-C 0 selects what runs there" '^recursion;'
	lacks "and nothing that runs on CPU 1" '^nested;'
	measure -F 499 -f -U -C -1 2
	has "a negative -C selects all CPUs" '^nested;'
	has "all of them" '^recursion;'
else
	skip "-C selects what runs on one CPU" "there is one CPU only"
fi

# ---- idle CPUs
measure -F 99 -f 1
lacks "idle CPUs are left out" '^swapper/[0-9]+;'
end
kill -KILL "$unwanted"
# Where other programs keep the machine busy, a CPU may take some time to become idle.
idle_seen() {
	measure -F 99 -f -I 1
	[ "$(counted '^swapper/[0-9]+;')" -gt 0 ]
}
await 20 idle_seen
check $? "-I shows them" "$(tail -n 3 "$out")"
[ "$(counted '^swapper/[0-9]+;')" -gt 0 ] && lacks "they have the kernel's frames" '^swapper/[0-9]+ '
finish
