#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --service and --cgroup with wildcards: what is there, what comes later, what restarts, and what is
# made below: groups_test.sh BUILD
# timeout: 240
# kind: whom
. "$(dirname "$0")/../stackcount.bash" "$1"

mount=$(awk '{ for (i = 7; i <= NF; i++) if ($i == "-" && $(i + 1) == "cgroup2" && $4 == "/") {
	print $5; exit } }' /proc/self/mountinfo)
if [ -z "$mount" ] && mkdir "$tmp/cgroup2" && mount -t cgroup2 none "$tmp/cgroup2" 2>"$err"; then
	mount=$tmp/cgroup2
fi
slice=stacktally$$.slice top=$mount/stacktally$$.slice
if [ -z "$mount" ] || ! mkdir "$top" 2>"$err"; then
	skip "chosen cgroups" "cgroup v2 cannot be used: $(cat "$err")"
	finish
fi
leave() {
	{ kill -KILL "${started[@]}" && wait; } 2>>"$fate"
	find "$top" -depth -type d | while read -r each; do await 5 rmdir "$each" 2>>"$fate"; done
	[ "$mount" != "$tmp/cgroup2" ] || umount "$mount"
}
at_exit=leave
# within CGROUP PROGRAM...: starts a program in that cgroup and sets $! to it
within() {
	mkdir -p "$top/$1"
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$top/$1" "${@:2}" >"$fate" &
	started+=($!)
}
# only NAME PROGRAM: all samples, and there are some, are of that program
only() {
	[ "$(total)" -gt 5 ] && [ "$(counted "^$2;")" -eq "$(total)" ]
	check $? "$1" "$(total): $(cut -d';' -f1 "$out" | sort | uniq -c | tr '\n' ' ') $(tail -n 2 "$err")"
}

web=web$$.service db=db$$.service
within $web "$programs/nested"
web_pid=$!
within $db "$programs/recursion" 3 0
for choice in "--service $web" "--service web$$" "--service web$$*" "--cgroup $slice/$web" "--cgroup /$slice/web*" \
	"--cgroup stacktally$$.*/w[de]b*" "--cgroup $top/$web"; do
	# shellcheck disable=SC2086 # words
	measure -U -f -F 499 $choice $slow
	only "${choice//$$/N} chooses it" nested
done
# A unit of a user's service manager is one, too; and the manager has what its units have.
session=user.slice/user-4321.slice/user@4321.service
within "$session/app.slice/mail$$.service" "$programs/nested_static"
for choice in "--service mail$$" "--service mail$$.service" "--service user@4321" "--cgroup $slice/user.slice/*/*/*/mail*"; do
	# shellcheck disable=SC2086 # words
	measure -U -f -F 499 $choice $slow
	only "${choice//$$/N} chooses a user's unit" nested_static
done
measure -U -f -F 499 --service "web$$" --cgroup "/$slice/$db" 1
exits "all conditions must hold" 1
measure -U -f -F 499 --service "nginx$$" 1
exits "a service that does not run is an error" 1
says "that lists those that do" "^profile: nothing runs that is service nginx$$; there are: .*\\.service"
measure -f --container "none$$" 1
says "so is a container" "^profile: nothing runs that is container none$$; there are: "
measure -f --pod "prod/none$$" 1
says "so is a pod" "^profile: nothing runs that is pod prod/none$$; there are: "
measure -U -f -F 499 --service "nginx$$*" $slow
exits "with wildcards it may come later" 0
says "and if it does not, that is said" "^nothing ran that is service nginx$$\\*"

# ---- later
sample -U -F 499 --service "[wn]*$$"
within new$$.service "$programs/nested_static"
works $! 30
sampled
has "a service that comes later is taken in" '^nested_static;.*burn'
has "with those that were there" '^nested;.*burn'
lacks "and no others" '^recursion;'
says "which the message says" "^1 more of service .* came during the measurement"
sample -U -F 499 --service "web$$"
works "$web_pid" 30
{ kill -KILL "$web_pid" && wait "$web_pid"; } 2>>"$fate"
await 5 rmdir "$top/$web" 2>>"$fate"
within $web "$programs/nested_static"
web_pid=$!
works "$web_pid" 30
sampled
has "a service that restarts is measured before" '^nested;.*burn'
has "and after" '^nested_static;.*burn'
says "which the message says, too" "^the service web$$ was removed and made again \\(1 times\\)"

sample -U -F 499 --cgroup "/$slice/$web"
works "$web_pid" 30
{ kill -KILL "$web_pid" && wait "$web_pid"; } 2>>"$fate"
await 5 rmdir "$top/$web" 2>>"$fate"
within $web "$programs/nested"
web_pid=$!
works "$web_pid" 30
sampled
has "a path is the same before it is removed" '^nested_static;.*burn'
has "and when it is made again" '^nested;.*burn'
lacks "without its neighbours" '^recursion;'

# ---- below a chosen one: nothing may be missed, however short it lives
sample -U -F 999 --name nested --service "web$$"
for each in 1 2 3 4; do
	within $web/short$each "$programs/nested" 50
	wait $! 2>>"$fate"
	await 5 rmdir "$top/$web/short$each" 2>>"$fate"
done
sampled
calculates "$(counted '^nested;.*burn') > 100 / $slow"
check $? "a cgroup that is made below counts from its beginning" "$(counted '^nested;.*burn') of 200 ms"

# ---- what sleeps in it, and the other command
within $web sleep 1000
measure -f --off-cpu --service "web$$" $slow
has "a thread that sleeps since before is found" '^sleep;'
lacks "and no others" '^(recursion|bash);'
within idle$$.service sleep 1000
measure -f --service "idle$$" $slow
says "a service in which nothing runs is told" "^no process of the service idle$$ ran"
count -f -D $slow --service "db$$" t:raw_syscalls:sys_enter >"$fate"
exits "stackcount has the same filters" 0

# ---- recordings
measure -F 499 -o "$tmp/all.stacktally" --show-cgroup --cgroup "$slice" $slow
"$profile" --from "$tmp/all.stacktally" -U -f --service "db$$" >"$out" 2>"$err"
only "a recording answers --service" recursion
measure -F 499 -o "$tmp/none.stacktally" --cgroup "$slice" 1
"$profile" --from "$tmp/none.stacktally" -U -f --service "db$$" >"$out" 2>"$err"
status=$?
exits "unless cgroups were not kept apart" 2
says "which it says" '^profile: --service cannot be used with .*: it was recorded without --show-cgroup'
finish
