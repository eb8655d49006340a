#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measurements that are not possible end with one line on stderr, before sampling if that is known
# by then: profile_refusals_test.sh BUILD
# timeout: 180
# kind: refusals
. "$(dirname "$0")/../harness.bash" "$1"
# refuses NAME STATUS REGEX ARGUMENT...: profile, asked to run for a minute, ends at once with that
# status and one line on stderr, which matches, besides how to get help
refuses() {
	local name=$1 expected=$2 regex=$3 start=$SECONDS
	shift 3
	timeout 50 "$profile" "$@" 60 >"$out" 2>"$err"
	status=$?
	exits "$name: exit status $expected" "$expected"
	says "$name: said" "$regex"
	[ "$(grep -vc '^Try ' "$err")" -eq 1 ] && [ ! -s "$out" ]
	check $? "$name: in one line on stderr" "$(cat "$err" "$out")"
	calculates "$((SECONDS - start)) < 30"
	check $? "$name: before sampling" "after $((SECONDS - start)) s"
}
none=3999999
refuses "no such process" 1 "^profile: no process $none" -p $none
refuses "no such thread" 1 "^profile: no thread $none" -L $none
refuses "no such cgroup" 1 '^profile: no cgroup /sys/fs/cgroup/nosuch: ' --cgroup /sys/fs/cgroup/nosuch
refuses "a directory that is no cgroup" 1 "^profile: $tmp is not a directory of cgroup v2" --cgroup "$tmp"
refuses "a missing directory" 1 "^profile: cannot write $tmp/no/x.folded: No such file or directory" -o "$tmp/no/x.folded"
mkdir "$tmp/dir.folded"
refuses "a directory as output" 1 "^profile: cannot write $tmp/dir.folded: Is a directory" -o "$tmp/dir.folded"
refuses "an unknown extension" 2 "x\\.nosuch'" -o "$tmp/x.nosuch"
refuses "an unknown format" 2 "nosuch" --format nosuch
refuses "a CPU that does not exist" 1 '^profile: CPU 9999 ' -C 9999
refuses "an unknown event" 1 "^profile: unknown event 'nosuch'" -e nosuch
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
refuses "a rate above the kernel's" 1 "^profile: $((rate + 1)) Hertz is more than .*perf_event_max_sample_rate is $rate" -F $((rate + 1))
if "$profile" -q -f -e cycles 0.1 >"$fate" 2>&1; then
	skip "an event that this machine does not have" "it has a PMU"
else
	refuses "an event that this machine does not have" 1 '^profile: this machine has no event cycles .*cpu-clock' -e cycles
fi
refuses "--children without -p" 2 'children' --children
[ -z "$(find "$tmp" -name 'x*')" ]
check $? "no file is left half written" "$(find "$tmp" -name 'x*')"
# A refusal leaves the outputs that could be written untouched.
refuses "a second output that cannot be written" 1 "^profile: cannot write $tmp/no/x.folded" \
	-o "$tmp/x1.folded" -o "$tmp/no/x.folded"
[ ! -e "$tmp/x1.folded" ]
check $? "leaves the first unwritten" "it is there"
echo precious >"$tmp/x1.folded"
refuses "an event that is refused" 1 "nosuch" -e nosuch -o "$tmp/x1.folded"
[ "$(cat "$tmp/x1.folded")" = precious ]
check $? "leaves a file that was there as it was" "$(head -n 1 "$tmp/x1.folded")"
rm "$tmp/x1.folded"

# ---- full disks, closed pipes
"$profile" -F 99 -f -I 0.5 >/dev/full 2>"$err"
status=$?
exits "a full disk under stdout: exit status 1" 1
# kept_elsewhere: the first of two lines of messages says where the measurement is kept
kept_elsewhere() { [ "$(wc -l <"$err")" -eq 2 ] && head -n 1 "$err" | grep -q '^The measurement is kept in '; }
[ "$(tail -n 1 "$err")" = "profile: cannot write standard output: No space left on device" ] && kept_elsewhere
check $? "a full disk under stdout: said in one line, and where the measurement is" "$(cat "$err")"
mkdir "$tmp/small"
if mount -t tmpfs -o size=16k none "$tmp/small" 2>"$err"; then
	at_exit="umount $tmp/small"
	measure -F 1999 -q -o "$tmp/small/x.folded" -- "$programs/paths" 300 2
	exits "a full disk under a file: exit status 1" 1
	[ "$(tail -n 1 "$err")" = "profile: cannot write $tmp/small/x.folded: No space left on device" ] && kept_elsewhere
	check $? "a full disk under a file: the same" "$(cat "$err")"
	[ -z "$(ls -A "$tmp/small")" ]
	check $? "a full disk under a file: nothing half-written is left" "$(ls -l "$tmp/small")"
	mount -o remount,size=8k "$tmp/small" # recordings are small
	measure -F 1999 -q -o "$tmp/small/x.stacktally" -- "$programs/paths" 300 2
	[ "$status" -eq 1 ] && [ -z "$(ls -A "$tmp/small")" ] && grep -q 'No space left on device$' "$err"
	check $? "the same for a recording" "$status: $(cat "$err"; ls -l "$tmp/small")"
	umount "$tmp/small"
	at_exit=
else
	skip "a full disk under a file" "$(cat "$err")"
fi
"$programs/paths" 0 2 >"$fate" &
started+=("$!")
# The report is much larger than a pipe, so part of it is written after the reader closed its end.
"$profile" -F 1999 1 2>"$err" | head -n 1 >"$out"
status=${PIPESTATUS[0]}
kill -KILL "${started[0]}"
[ "$(cat "$out")" = "Sampling at 1999 Hertz of all threads by user + kernel stack for 1 secs." ]
check $? "a program that reads the first line only gets it" "$(cat "$out")"
exits "a closed pipe: exit status 1" 1
# A slow machine may begin late, and say so.
[ -z "$(grep -v '^began [0-9.]* s late' "$err")" ]
check $? "a closed pipe: nothing is said" "$(cat "$err")"
"$profile" -F 99 -f 30 >&- 2>"$err"
status=$?
exits "a closed stdout: exit status 1" 1
[ "$(cat "$err")" = "profile: cannot write standard output: Bad file descriptor" ]
check $? "a closed stdout: said in one line" "$(cat "$err")"
"$profile" -q -F 99 -o "$tmp/x2.folded" -- "$programs/nested" 50 >&- 2>"$err"
check $? "a closed stdout does not matter to a report in a file" "$(cat "$err")"
grep -q '^nested;' "$tmp/x2.folded"
check $? "and the file has the report" "$(head -n 2 "$tmp/x2.folded")"
finish
