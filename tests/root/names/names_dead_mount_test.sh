#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs on a file system whose server is gone: names_dead_mount_test.sh BUILD
# timeout: 180
. "$(dirname "$0")/../harness.bash" "$1"

mkdir "$tmp/mount" "$tmp/later" "$tmp/midway"
if [ ! -c /dev/fuse ] || ! grep -qw fuse /proc/filesystems; then
	skip "a dead mount" "this kernel has no FUSE"
	finish
fi
begin "$programs/dead_mount" "$tmp/mount" "$programs/nested" || finish
server=$pid
unmount() { umount -l "$tmp/mount" "$tmp/later" "$tmp/midway" 2>>"$fate"; }
at_exit=unmount
# bounded NAME ARGUMENT...: the run ends in time, with samples
bounded() {
	local start=$SECONDS
	timeout -k 1 $((30 * slow)) "$profile" "${@:2}" >"$out" 2>"$err"
	status=$?
	[ "$status" -eq 0 ] && [ $((SECONDS - start)) -lt $((15 * slow)) ]
	check $? "$1" "status $status after $((SECONDS - start)) s: $(tail -n 2 "$err")"
}
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
bounded "a process of a dead mount does not hold us up" -F 499 -f -U -p "$program,$other" $slow
has "what it does is counted" '^program;'
has "and others have their names" '^recursion;(.*;)?main;descend;'
bounded "nor does it among all processes" -F 499 -f $slow
has "what it does is counted among all, too" '^program;'

kill -CONT "$server"
kill -KILL "$program_child" "$server"

# ---- it goes while the program is sampled, before its names are read
begin "$programs/dead_mount" "$tmp/later" "$programs/nested" || finish
server=$pid
begin "$tmp/later/program" || finish
program=$pid program_child=$child
sample -F 499 -U -p "$program,$other"
kill -STOP "$server"
start=$SECONDS
sleep 2
sampled
[ "$status" -eq 0 ] && [ $((SECONDS - start)) -lt $((15 * slow)) ]
check $? "a mount that dies during the run does not hold us up" \
	"status $status after $((SECONDS - start)) s"
has "what its program did is counted" '^program;'
has "and the other has its names" '^recursion;(.*;)?main;descend;'
kill -CONT "$server"
kill -KILL "$program_child" "$server"

# ---- it goes while its file is read: sixty requests are needed for the whole of it
cp "$programs/nested" "$tmp/large"
truncate -s 8M "$tmp/large"
begin "$programs/dead_mount" "$tmp/midway" "$tmp/large" 25 || finish
server=$pid
begin "$tmp/midway/program" || finish
program=$pid program_child=$child
bounded "nor does one that dies while its file is read" -F 499 -f -U -p "$program,$other" $slow
grep -q '^State:.*stopped' "/proc/$server/status"
check $? "(that was what it did)" "it was not asked often enough"
has "what that program did is counted" '^program;'
has "and the other's names were read" '^recursion;(.*;)?main;descend;'
kill -CONT "$server"
kill -KILL "$program_child" "$server"
finish
