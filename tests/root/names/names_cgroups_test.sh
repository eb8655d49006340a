#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --show-cgroup: the cgroup, and so the container, of each stack: names_cgroups_test.sh BUILD
# timeout: 120
# kind: roots
. "$(dirname "$0")/../harness.bash" "$1"

mount=$(awk '{ for (i = 7; i <= NF; i++) if ($i == "-" && $(i + 1) == "cgroup2" && $4 == "/") {
	print $5; exit } }' /proc/self/mountinfo)
if [ -z "$mount" ] && mkdir "$tmp/cgroup2" && mount -t cgroup2 none "$tmp/cgroup2" 2>"$err"; then
	mount=$tmp/cgroup2
fi
top=$mount/stacktally-test.$$
if [ -z "$mount" ] || ! mkdir "$top" "$top/with space" "$top/with space/inner" "$top/short" 2>"$err"; then
	skip "--show-cgroup" "cgroup v2 cannot be used: $(cat "$err")"
	finish
fi
leave() {
	local each
	for each in "$top/with space/inner" "$top/with space" "$top/short" "$top"; do
		[ ! -d "$each" ] || await 5 rmdir "$each" 2>>"$fate"
	done
	[ "$mount" != "$tmp/cgroup2" ] || umount "$mount"
}
at_exit=leave
# within CGROUP PROGRAM...: runs the program in the cgroup
within() {
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$@"
}
below=/stacktally-test.$$

begin within "$top/with space/inner" "$programs/nested" || finish
inner=$pid
begin within "$top" "$programs/recursion" 3 0 || finish
outer=$pid
measure -F 499 -f --show-cgroup -p "$inner,$outer" $slow
[ "$(counted "^$below/with space/inner;nested;")" -gt 3 ] &&
	[ "$(counted "^$below;recursion;")" -gt 3 ] &&
	[ "$(counted "^$below")" -eq "$(total)" ]
check $? "--show-cgroup shows the path of each stack's cgroup" "$(cut -c 1-100 "$out" | tail -n 2)"
measure -F 499 --show-cgroup -p "$inner" $slow
grep -q "$below/with space/inner" "$out"
check $? "in text too" "$(tail -n 3 "$out")"
measure -F 499 -o "$tmp/saved.stacktally" --show-cgroup -p "$inner" $slow
"$profile" --from "$tmp/saved.stacktally" -f --show-cgroup >"$out" 2>"$err"
has "and from a recording" "^$below/with space/inner;nested;"
if command -v capsh >"$fate"; then
	capsh --drop=cap_dac_read_search -- -c \
		'"$1" -F 499 -f --show-cgroup -p "$2" "$3" >"$4" 2>"$5"' sh \
		"$profile" "$inner" "$slow" "$out" "$err"
	has "the same without the capability for file handles" "^$below/with space/inner;nested;"
else
	skip "the same without the capability for file handles" "there is no capsh"
fi
measure -F 499 -f --show-cgroup --cgroup "$top/with space" $slow
[ "$(total)" -gt 3 ] && [ "$(counted "^$below/with space/inner;nested;")" -eq "$(total)" ]
check $? "--cgroup selects the cgroups below it and nothing else" "$(total): $(cut -c 1-100 "$out" | tail -n 2)"
measure -F 499 -f --show-cgroup --cgroup "$top/short" $slow
none "a cgroup in which nothing runs has no samples"
{ kill -KILL "$inner" "$outer" && wait; } 2>>"$fate"

# ---- a container that is gone before the report
cat >"$tmp/container.sh" <<'S'
sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" 1500' sh "$1" "$2" >"$3"
i=0
until rmdir "$1" 2>"$3"; do i=$((i + 1)); [ $i -lt 1000 ] || exit 1; sleep 0.01; done
S
measure_command -F 499 --show-cgroup -- sh "$tmp/container.sh" "$top/short" "$programs/nested" "$tmp/log"
[ "$status" -eq 0 ] && [ ! -d "$top/short" ]
check $? "a cgroup is removed while it is measured" "exit status $status $(cat "$err")"
has "and its path is shown all the same" "^$below/short;nested;"
finish
