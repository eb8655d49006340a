#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --user: threads of one user, by name and id: users_test.sh BUILD
# kind: whom
. "$(dirname "$0")/../stackcount.bash" "$1"

"$programs/recursion" 3 0 >"$fate" &
started+=($!)
chmod 755 "$tmp"
begin setpriv --reuid 1 --clear-groups "$programs/nested" || finish
setpriv --reuid 1 --clear-groups sleep 1000 &
started+=($!)
await 10 grep -q sleep "/proc/$!/comm"
# only NAME PROGRAM: all samples, and there are some, are of that program
only() {
	[ "$(total)" -gt 5 ] && [ "$(counted "^$2;")" -eq "$(total)" ]
	check $? "$1" "$(total): $(cut -d';' -f1 "$out" | sort | uniq -c | tr '\n' ' ') $(tail -n 2 "$err")"
}
measure -U -f -F 499 --user 1 $slow
only "--user ID" nested
measure -U -f -F 499 --user "$(id -un 1)" $slow
only "--user NAME" nested
measure -U -f -F 499 --user root -p "$pid" $slow
none "another user's are left out"
measure -f --off-cpu --user 1 $slow
has "a thread that sleeps since before is found" '^sleep;'
lacks "and none of other users" '^(recursion|bash);'
count -f -P -D $slow --user 1 t:sched:sched_switch
only "stackcount has the same filter" '(nested|sleep)'
measure --user "nobody$$" 1
exits "a user that does not exist is an error" 1
says "which is told" "^profile: no user nobody$$ is in /etc/passwd; --user takes an id, too\$"
finish
