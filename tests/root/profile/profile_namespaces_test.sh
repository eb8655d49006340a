#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes in pid and mount namespaces, measured from outside and from inside:
# profile_namespaces_test.sh BUILD
# timeout: 180
# kind: roots
. "$(dirname "$0")/../harness.bash" "$1"
known=';main;outer;middle;inner;burn(;|$)'

if ! unshare -pfm --kill-child --mount-proc true 2>"$err"; then
	skip "processes in namespaces" "unshare: $(cat "$err")"
	finish
fi

# ---- from outside: the program is on a file system that only its namespace sees
mkdir "$tmp/inner"
begin unshare -pfm --kill-child --mount-proc sh -c 'mount -t tmpfs none "$1" && cp "$2" "$1/inside" &&
	exec "$1/inside"' sh "$tmp/inner" "$programs/nested" || finish
[ "$pid" = 1 ] && [ ! -e "$tmp/inner/inside" ]
check $? "(a process runs in its own namespaces)" "pid $pid"
outer_pid=$(ps -o pid= --ppid "$child" | tr -d ' ')
measure -F 499 -f -p "$outer_pid" $slow
calculates "$(counted "^inside;(.*;)?${known#;}") > 0.9 * $(total) && $(total) > 20"
check $? "names are found in the process's mount namespace" "$(tail -n 2 "$out") $(cat "$err")"
measure -F 499 -p "$outer_pid" $slow
says "its id is the one in our namespace" "^    - +inside \\($outer_pid\\)\$" "$out"
measure -F 499 -f --name inside $slow
has "it is measured with all other processes" "^inside;(.*;)?${known#;}"

# ---- by mount namespace
map=$tmp/bpf/set
mkdir "$tmp/bpf"
at_exit="umount $tmp/bpf"
if ! mount -t bpf bpf "$tmp/bpf" 2>"$err"; then
	skip "--mntnsmap" "$(cat "$err")"
	at_exit=
elif ! bpftool map create "$map" type hash key 8 value 4 entries 16 name set 2>"$err"; then
	skip "--mntnsmap" "$(cat "$err")"
else
	# bytes NUMBER: as eight bytes, the lowest first
	bytes() { printf '%016x' "$1" | sed 's/../& /g' | awk '{ for (i = 8; i; i--) printf "0x%s ", $i }'; }
	namespace=$(stat -Lc %i "/proc/$outer_pid/ns/mnt")
	# shellcheck disable=SC2046 # bpftool takes one word for each byte
	bpftool map update pinned "$map" key $(bytes "$namespace") value 0 0 0 0
	first_child=$child
	"$programs/recursion" 3 0 >"$fate" &
	started+=($!)
	measure -F 499 -f --mntnsmap "$map" $((2 * slow))
	[ "$(total)" -gt 20 ] && [ "$(counted '^inside;')" -eq "$(total)" ]
	check $? "--mntnsmap selects the processes in these namespaces only" "$(cut -d';' -f1 "$out" | sort | uniq -c)"
	child=$first_child
	bpftool map create "$tmp/bpf/wrong" type hash key 4 value 4 entries 16 name wrong
	measure -f --mntnsmap "$tmp/bpf/wrong" 1
	exits "a map of another key size is an error" 1
	says "the message says what the map must be" '^profile: --mntnsmap .*/wrong: not a BPF hash map with keys of 8 '
	[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ]
	check $? "in one line on stderr" "$(cat "$err" "$out")"
	bpftool map create "$tmp/bpf/array" type array key 4 value 8 entries 16 name wrong
	measure -f --mntnsmap "$tmp/bpf/array" 1
	exits "a map of another type is an error" 1
	measure -f --mntnsmap "$tmp/bpf" 1
	exits "a directory is no map" 1
	[ "$(wc -l <"$err")" -eq 1 ]
	check $? "it is said in one line" "$(cat "$err")"
fi
end

# ---- from inside: a process outside has the same PID as one inside
begin "$programs/recursion" 3 0 || finish
twin=$pid
cat >"$tmp/inside.sh" <<'S'
profile=$1 programs=$2 tmp=$3 twin=$4 seconds=$5
echo $((twin - 1)) >/proc/sys/kernel/ns_last_pid
"$programs/nested" >"$tmp/ready" &
inside=$!
echo "$inside" >"$tmp/inside"
until grep -q ready "$tmp/ready"; do sleep 0.02; done
"$profile" -F 499 -f -p "$inside" "$seconds" >"$tmp/inside.folded" 2>"$tmp/inside.err"
"$profile" -F 499 -p "$inside" "$seconds" >"$tmp/inside.text" 2>>"$tmp/inside.err"
"$profile" -F 499 -f -p 1 "$seconds" >"$tmp/one.folded" 2>>"$tmp/inside.err" &
while kill -0 $!; do :; done 2>>"$tmp/log" # process 1, this shell, burns CPU time meanwhile
"$profile" -F 499 -f --per-thread -L "$inside" "$seconds" >"$tmp/thread.folded" 2>>"$tmp/inside.err"
"$profile" -F 499 -U -o "$tmp/command.folded" -- "$programs/nested" 200 >"$tmp/ready" 2>>"$tmp/inside.err"
kill -KILL "$inside"
S
unshare -pfm --kill-child --mount-proc bash "$tmp/inside.sh" "$profile" "$programs" "$tmp" "$twin" "$slow" 2>"$tmp/log"
inside=$(cat "$tmp/inside")
[ "$inside" = "$twin" ]
check $? "(a process outside has the same number as one inside)" "$inside, $twin: $(cat "$tmp/log")"
out=$tmp/inside.folded err=$tmp/inside.err
calculates "$(counted "^nested;(.*;)?${known#;}") > 0.9 * $(total) && $(total) > 20"
check $? "inside, -p means the number inside, and names are found" "$(tail -n 2 "$out") $(cat "$err")"
lacks "it does not mean the process outside with that number" '^recursion;'
out=$tmp/inside.text
says "its number is the one inside" "^    - +nested \\($inside\\)\$" "$out"
out=$tmp/one.folded
[ "$(total)" -gt 20 ] && [ "$(counted '^bash(;|$)')" -eq "$(total)" ]
check $? "inside, -p 1 means process 1 inside, a shell" "$(cut -d';' -f1 "$out" | sort | uniq -c)"
out=$tmp/thread.folded
[ "$(total)" -gt 20 ] && [ "$(counted "^nested-$inside/$inside;")" -eq "$(total)" ]
check $? "inside, -L means the number inside" "$(tail -n 2 "$out")"
out=$tmp/command.folded
named_work "^nested;(.*;)?${known#;}"
check $? "inside, a command is measured" "$(tail -n 2 "$out")"
finish
