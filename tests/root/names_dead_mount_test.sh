#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs on a file system whose server is gone: names_dead_mount_test.sh BUILD
# timeout: 180
. "$(dirname "$0")/harness.bash" "$1"

mkdir "$tmp/mount"
if [ ! -c /dev/fuse ] || ! grep -qw fuse /proc/filesystems; then
	skip "a dead mount" "this kernel has no FUSE"
	finish
fi
begin "$programs/dead_mount" "$tmp/mount" "$programs/nested" || finish
server=$pid
unmount() { umount -l "$tmp/mount" 2>>"$fate"; }
at_exit=unmount
begin "$tmp/mount/program" || finish
program=$pid program_child=$child
begin "$programs/recursion" 3 0 || finish
other=$pid

# ---- as long as it answers, its files are files
measure -F 499 -f -U -p "$program" $slow
named_work ';main;outer;middle;inner;burn(;|$)'
check $? "a program on a file system in user space has its names" "$(tail -n 2 "$out")"

# ---- when it does not, whoever asks it anything waits
kill -STOP "$server"
timeout 2 cat "$tmp/mount/program" >"$fate" 2>&1
[ $? -eq 124 ]
check $? "(the server is gone)" "it answers"
# bounded NAME ARGUMENT...: the run ends in time, with samples
bounded() {
	local start=$SECONDS
	timeout -k 1 $((30 * slow)) "$profile" "${@:2}" >"$out" 2>"$err"
	status=$?
	[ "$status" -eq 0 ] && [ $((SECONDS - start)) -lt $((15 * slow)) ]
	check $? "$1" "status $status after $((SECONDS - start)) s: $(tail -n 2 "$err")"
}
bounded "a process of a dead mount does not hold us up" -F 499 -f -U -p "$program,$other" $slow
has "what it does is counted" '^program;'
has "and others have their names" '^recursion;(.*;)?main;descend;'
bounded "nor does it among all processes" -F 499 -f $slow
has "what it does is counted among all, too" '^program;'

kill -CONT "$server"
kill -KILL "$program_child" "$server"
finish
