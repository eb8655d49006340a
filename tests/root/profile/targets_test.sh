#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "No samples, no message": the id is that of a thread, the process has ended, its service restarted
# in a new cgroup, the path of the cgroup is as other tools print it: targets_test.sh BUILD
# timeout: 240
# kind: whom
. "$(dirname "$0")/../stackcount.bash" "$1"

# ---- the id of a thread where one of a process is asked for
begin "$programs/threads" 1 0 || finish
tid=$(sed -n 's/^worker-0 //p' <<<"$said")
told="$tid is a thread of process $pid: -L $tid measures the thread, -p $pid the whole process"
measure -f -p "$tid" 1
exits "profile -p TID is an error" 1
says "that says which process it is a thread of" "^profile: $told\$"
measure -f --off-cpu -p "$tid" 1
says "so does profile --off-cpu" "^profile: $told\$"
count -f -D 1 -p "$tid" c:malloc
says "and stackcount" "^stackcount: $told\$"
measure -U -f -F 499 -L "$tid" $slow
has "-L measures it" ';work;burn'
end

# ---- the process ends: so does the measurement
# ends_with NAME LINE OPTION...: a measurement that would last longer
ends_with() {
	measure -U -f -F 499 "${@:3}"
	exits "$1: the measurement ends well" 0
	says "$1: and says why" "^$2\$"
	has "$1: what was measured is reported" ';burn'
}
"$programs/nested" $((400 * slow)) >"$fate" &
ends_with "a process" "process $! ended, and with it the measurement" -p $!
"$programs/nested" $((400 * slow)) >"$fate" &
ends_with "with a duration" "process $! ended, and with it the measurement" -p $! 600
"$programs/nested" $((400 * slow)) >"$fate" &
one=$!
"$programs/nested" $((300 * slow)) >"$fate" &
ends_with "two processes" "all chosen processes ended, and with them the measurement" -p "$one,$!" 600
"$programs/threads" 1 $((400 * slow)) >"$tmp/threads" &
await 10 grep -q ready "$tmp/threads"
ends_with "a thread" "all chosen threads ended, and with them the measurement" \
	-L "$(sed -n 's/^worker-0 //p' "$tmp/threads")" 600
bash -c '"$1" "$2" & exec "$1" "$3"' sh "$programs/nested" $((500 * slow)) $((200 * slow)) >"$fate" &
ends_with "--children" "process $! and its children ended, and with it the measurement" -p $! --children 600
"$programs/nested" $((400 * slow)) >"$fate" &
measure -U -F 499 -o "$tmp/report.stacktally" -p $! 600
"$profile" --from "$tmp/report.stacktally" --format json >"$tmp/json" 2>>"$err"
ns=$(grep -o '"duration_ns":[0-9]*' "$tmp/json" | cut -d: -f2)
calculates "${ns:-0} > 0 && ${ns:-0} < 60e9 * $slow"
check $? "a recording knows how long the process was there" "${ns:-none} ns"
if have_uprobes; then
	"$programs/nested" $((400 * slow)) >"$fate" &
	await 10 grep -q /nested "/proc/$!/maps"
	count -f -p $! "$programs/nested:burn"
	says "stackcount ends with the process, too" "^process $! ended, and with it the measurement\$"
fi

# ---- cgroups
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=stacktally-test-$$
leave() {
	echo "$child" >"$root/cgroup.procs"
	rmdir "$root/$group/inner" "$root/$group"
} 2>>"$fate"
if [ -z "$root" ] || ! mkdir -p "$root/$group/inner" 2>>"$err"; then
	skip "the life of cgroups" "no cgroup v2 is mounted and writable"
	finish
fi
at_exit=leave
begin "$programs/nested" || finish
echo "$pid" >"$root/$group/inner/cgroup.procs"
for path in "$root/$group/inner" "/$group/inner" "$group/inner"; do
	measure -U -f -F 499 --cgroup "$path" $slow
	has "--cgroup ${path/$$/N} is that cgroup" '^nested;.*;burn'
done
measure -U -f -F 499 --cgroup / $slow
has "--cgroup / is all of them, though it is a directory, too" '^nested;.*;burn'
measure -f --cgroup "/$group/none" 1
exits "a cgroup that does not exist is an error" 1
says "with the next command" "^profile: no cgroup /$group/none: No such file .*--show-cgroup"
mkdir "$root/$group/inner/unit$$.service"
measure -f --cgroup "unit$$.service" 1
exits "a service that is not at the root is an error" 1
says "with its path" "^profile: no cgroup unit$$.service: No such file .*; 1 has such a name: /$group/inner/unit$$.service\$"
measure -f --cgroup "nit$$.s" 1
says "a part of a name, too" ": /$group/inner/unit$$.service\$"
rmdir "$root/$group/inner/unit$$.service"

# removed and made again, as a service that restarts
sample -U -F 499 --cgroup "/$group/inner"
works "$pid" 50
end
await 10 rmdir "$root/$group/inner" 2>>"$fate"
mkdir "$root/$group/inner"
begin "$programs/recursion" 3 0 || finish
echo "$pid" >"$root/$group/inner/cgroup.procs"
works "$pid" 50
sampled
has "a cgroup is measured before it is removed" '^nested;.*;burn'
has "and after it was made again" '^recursion;.*;burn'
says "which the message says" "^the cgroup /$group/inner was removed and made again \\(1 times\\)"
sample -U -F 499 --cgroup "/$group/inner"
end
await 10 rmdir "$root/$group/inner" 2>>"$fate"
sampled
says "one that stays away is told" "^the cgroup /$group/inner was removed during the measurement, and is not"
finish
