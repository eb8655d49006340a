#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs on a FUSE file system whose server no longer answers: names_dead_mount_test.sh BUILD
# timeout: 180
# quiet: measurements of the whole machine wait for its dead mount
# kind: time
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
# bounded NAME ARGUMENT...: profile succeeds, in time
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

# ---- the server answers
measure -F 499 -f -U -p "$program" $slow
named_work ';main;outer;middle;inner;burn(;|$)'
check $? "a program on a file system in user space has its names" "$(tail -n 2 "$out")"

# ---- the server does not answer: opening or reading a file there blocks for ever
kill -STOP "$server"
timeout 2 cat "$tmp/mount/program" >"$fate" 2>&1
[ $? -eq 124 ]
check $? "(the server does not answer)" "it answers"
bounded "a program on the dead mount does not delay the report" -F 499 -f -U -p "$program,$other" $slow
says "the file that was waited for is told" \
	"^a file system does not respond: [0-9]+ files? w(as|ere) waited for in vain, such as $tmp/mount/program$"
has "it is counted" '^program;'
has "and other programs have their names" '^recursion;(.*;)?main;descend;'
bounded "nor when all processes are measured" -F 499 -f $slow
has "where it is counted, too" '^program;'
bounded "nor when those are that execute a file" --exe "$programs/recursion" -F 499 -f $slow
has "... of which there is one" '^recursion;(.*;)?main;descend;'
objcopy --only-keep-debug "$programs/nested" "$tmp/linked.debug"
objcopy --strip-all --add-gnu-debuglink="$tmp/linked.debug" "$programs/nested" "$tmp/linked"
rm "$tmp/linked.debug" # ln -f would look at what the link leads to
ln -s "$tmp/mount/program" "$tmp/linked.debug"
begin "$tmp/linked" || finish
bounded "a link to it in place of a debug file does not delay the report" -F 499 -f -U -p "$pid,$other" $slow
has "... its program is counted" '^linked;'
links=
for ((i = 0; i < 16; i++)); do
	mkdir "$tmp/many.$i"
	cp -P "$tmp/linked" "$tmp/linked.debug" "$tmp/many.$i"
	chown 1001 "$tmp/many.$i/linked" # copies of root's would count as one file
	begin "$tmp/many.$i/linked" || finish
	links+=$pid,
done
bounded "nor do many links" -F 499 -f -U -p "${links%,}" $slow
has "... their programs are counted" '^linked;'
says "... and that names take long is told" '^looking up names: [0-9]+ of [0-9]+ files done$'

kill -CONT "$server"
kill -KILL "$program_child" "$server"

# ---- the server stops while the program is sampled, before its names are read
begin "$programs/dead_mount" "$tmp/later" "$programs/nested" || finish
server=$pid
begin "$tmp/later/program" || finish
program=$pid program_child=$child
sample -F 499 -U -p "$program,$other"
kill -STOP "$server"
works "$program" 20
start=$SECONDS
sampled
[ "$status" -eq 0 ] && [ $((SECONDS - start)) -lt $((15 * slow)) ]
check $? "a mount that dies during the measurement does not delay the report" \
	"status $status after $((SECONDS - start)) s"
has "its program is counted" '^program;'
has "and another one has its names" '^recursion;(.*;)?main;descend;'
kill -CONT "$server"
kill -KILL "$program_child" "$server"

# ---- the server stops at the 25th of the sixty requests that it takes to read the file
cp "$programs/nested" "$tmp/large"
truncate -s 8M "$tmp/large"
begin "$programs/dead_mount" "$tmp/midway" "$tmp/large" 25 || finish
server=$pid
begin "$tmp/midway/program" || finish
program=$pid program_child=$child
bounded "nor does a mount that dies while the file is read" -F 499 -f -U -p "$program,$other" $slow
grep -q '^State:.*stopped' "/proc/$server/status"
check $? "(it did)" "it had too few requests"
# The child that is left behind waits in a read for as long as the server is stopped.
left=$(cat /proc/[0-9]*/status 2>>"$fate" |
	awk '/^(Name|Uid|CapEff|NoNewPrivs):/ { is[$1] = $2 }
		/^Seccomp:/ && is["Name:"] ~ /^(profile|stacktally-read)$/ { print is["Uid:"], is["CapEff:"], is["NoNewPrivs:"], $2 }')
grep -qx '65534 0* 1 2' <<<"$left"
check $? "the child that reads the file has no privileges" "user, capabilities, no_new_privs, seccomp: $left"
has "that program is counted" '^program;'
has "and another one has its names there, too" '^recursion;(.*;)?main;descend;'
kill -CONT "$server"
kill -KILL "$program_child" "$server"

# ---- an overlay whose layer is such a mount, in a mount namespace where its path is another one's
mkdir "$tmp/layer" "$tmp/below" "$tmp/over"
if ! unshare -m mount -t overlay none -o "lowerdir=$tmp/layer:$tmp/below" "$tmp/over" 2>"$err"; then
	skip "an overlay of a dead mount" "$(cat "$err")"
	finish
fi
# shellcheck disable=SC2016 # the inner shell expands these
begin unshare -m --propagation private bash -c '"$1/dead_mount" "$2/layer" "$1/nested" >"$2/served" &
	until [ -s "$2/served" ]; do sleep 0.05; done
	mount -t overlay none -o "lowerdir=$2/layer:$2/below" "$2/over" && exec "$2/over/program"' \
	- "$programs" "$tmp" || finish
server=$(sed 's/^ready //' "$tmp/served")
program=$pid program_child=$child
kill -STOP "$server"
bounded "nor does an overlay of a dead mount" -F 499 -f -U -p "$program,$other" $slow
has "the program on it is counted" '^program;'
has "and another one has its names all the same" '^recursion;(.*;)?main;descend;'
kill -CONT "$server"
kill -KILL "$program_child" "$server"
finish
