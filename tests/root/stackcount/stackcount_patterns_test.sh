#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What patterns match, and the messages if nothing matches: stackcount_patterns_test.sh BUILD
# timeout: 180
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

# matches NAME FUNCTIONS EVENTS ARGUMENT...: the title has that number of functions, the report that
# number of events
matches() {
	count -q -o - -o "$folded" --format text --format folded "${@:4}"
	local n
	n=$(sed -n 's/^Tracing \([0-9]*\) functions for .*/\1/p' "$out")
	[ "$status" -eq 0 ] && [ "$n" = "$2" ] && [ "$(total "$folded")" -eq "$3" ]
	check $? "$1" "$n functions, $(total "$folded") counted, status $status: $(tail -n 2 "$err")"
}

# ---- user functions
if have_uprobes; then
	command=("$calls" now globs 200)
	matches "a name is itself" 1 200 "$calls:sc_glob_one" -- "${command[@]}"
	matches "* is any text" 3 600 "$calls:sc_glob_*" -- "${command[@]}"
	matches "* in the middle" 2 400 "$calls:sc_*_t*" -- "${command[@]}"
	matches "? is one character" 2 400 "$calls:sc_glob_???" -- "${command[@]}"
	matches "-r is a regular expression" 2 400 -r "$calls:sc_glob_(one|two)" -- "${command[@]}"
	matches "-r matches the whole name" 1 200 -r "$calls:sc_glob_one" -- "${command[@]}"
	matches "-r with anchors" 3 600 -r "$calls:^sc_glob_.*\$" -- "${command[@]}"
	matches "-r with a class that has colons" 3 600 -r "$calls:sc_glob_[[:alpha:]]+" -- "${command[@]}"
	fails 1 "without -r a dot is a dot" 'No functions matched by pattern \^sc.glob_one\$' \
		-D 1 "$calls:sc.glob_one"
	matches "two names at one address are one function" 1 200 -r "$calls:sc_(counted|alias)" \
		-- "$calls" now alias 200
	cplusplus=$programs/sc_cplusplus
	command=("$cplusplus" 150)
	matches "a C++ name, of all its overloads" 2 300 "$cplusplus:sc::Meter::count" -- "${command[@]}"
	matches "a C++ name with its parameters" 1 150 "$cplusplus:sc::Meter::count(int)" -- "${command[@]}"
	matches "a C++ name with a wildcard" 3 450 "$cplusplus:sc::Meter::*" -- "${command[@]}"
	matches "a C++ name after p:" 1 150 "p:$cplusplus:sc::Meter::other" -- "${command[@]}"
	matches "a mangled name" 1 150 "$cplusplus:_ZN2sc5Meter5otherEv" -- "${command[@]}"
	matches "USDT probes by a wildcard" 2 200 "u:$programs/sc_usdt:h*" -- "$programs/sc_usdt" now 100
	matches "USDT probes by -r" 3 300 -r "u:$programs/sc_usdt:(hit|other)" -- "$programs/sc_usdt" now 100
	matches "USDT providers by a wildcard" 1 100 "u:$programs/sc_usdt:*two:*" -- "$programs/sc_usdt" now 100
	matches "a library by the linker's name" 1 200 c:a64l -- "$calls" now a64l 200
	matches "a library by its file's name" 1 200 libc:a64l -- "$calls" now a64l 200
	for limit in 3 x; do
		BCC_PROBE_LIMIT=$limit count -q -D 0.1 "$calls:sc_glob_*"
		is "BCC_PROBE_LIMIT=$limit for three" "$status" "$([ "$limit" = 3 ] && echo 0 || echo 1)"
	done
	BCC_PROBE_LIMIT=2 fails 1 "BCC_PROBE_LIMIT=2 for three" \
		'Number of open probes would exceed global quota: 3 match, 2 are allowed' -D 1 "$calls:sc_glob_*"
	fails 1 "no such function; similar ones are named" \
		'No functions matched by pattern \^sc_countid\$ in .*; did you mean sc_counted\?$' -D 1 "$calls:sc_countid"
	fails 1 "no such function, and none is similar" 'No functions matched by pattern \^nosuch_xyz\$ in [^;]*$' \
		-D 1 "$calls:nosuch_xyz"
	fails 1 "no such function of a library" 'did you mean .*malloc' -D 1 c:malloq
	fails 1 "no such library" 'unable to find library nosuchlib$' -D 1 nosuchlib:foo
	fails 1 "a tracepoint without its t:" \
		'unable to find library sched; did you mean t:sched:sched_switch\?$' -D 1 sched:sched_switch
	fails 1 "no such path" 'unable to find library /nowhere/lib: No such file' -D 1 /nowhere/lib:foo
	fails 1 "a library that is a directory" 'unable to find library /tmp: ' -D 1 /tmp:foo
	mkfifo "$tmp/pipe"
	fails 1 "a library that is a pipe" 'not a regular file' -D 1 "$tmp/pipe:foo"
	echo text >"$tmp/text"
	fails 1 "a library that is a text" 'is not an ELF file' -D 1 "$tmp/text:foo"
	head -c 200 "$calls" >"$tmp/cut"
	fails 1 "a library that is cut off" "$tmp/cut" -D 1 "$tmp/cut:foo"
	cp "$calls" "$tmp/stripped" && strip "$tmp/stripped"
	fails 1 "a library without symbols" 'has no function symbols; install its debug symbols' \
		-D 1 "$tmp/stripped:sc_counted"
	fails 1 "no such USDT probe" 'No functions matched by pattern \^hot\$ in the USDT probes of .*; did you mean hit\?$' \
		-D 1 "u:$programs/sc_usdt:hot"
	fails 1 "no such USDT provider" 'No functions matched' -D 1 "u:$programs/sc_usdt:sc_three:hit"
	fails 1 "no USDT probes at all" 'has no USDT probes' -D 1 "u:$calls:hit"
	fails 1 "no USDT probes at all, of a provider" 'by pattern u:[^:]*sc_calls:some:hit: .* has no USDT probes' \
		-D 1 "u:$calls:some:hit"
	fails 1 "a regular expression that is none" 'cannot be used: Unmatched' -r -D 1 'c:(malloc'
else
	skip "user functions" "$no_uprobes"
fi

# ---- tracepoints
count -q -D 0.1 't:sched:sched_w*'
[ "$status" -eq 0 ] && [ "$(sed -n 's/^Tracing \([0-9]*\) .*/\1/p' "$out")" -ge 3 ]
check $? "tracepoints by a wildcard" "$(head -n 1 "$out") $(cat "$err")"
count -q -D 0.1 -r 't:sched:sched_(switch|wakeup)'
is "tracepoints by -r" "$status $(head -n 1 "$out")" \
	'0 Tracing 2 functions for "t:sched:sched_(switch|wakeup)"... Hit Ctrl-C to end.'
fails 1 "no such tracepoint" 'No functions matched by pattern \^nosuch:event\$' -D 1 t:nosuch:event
fails 1 "a tracepoint without its category" \
	'^stackcount: t:sched_switch: tracepoints are t:CATEGORY:EVENT; did you mean t:sched:sched_switch\?$' -D 1 t:sched_switch
fails 1 "no such tracepoint without a category" '^stackcount: t:sched_swidch: tracepoints are t:CATEGORY:EVENT$' -D 1 t:sched_swidch
fails 1 "no such tracepoint; a similar one is named" 'did you mean sched:sched_switch\?$' -D 1 t:sched:sched_swich

# ---- invalid patterns, in bcc's words
fails 1 "too many parts" "Too many ':'-separated components in pattern a:b:c:d\$" -D 1 a:b:c:d
fails 1 "a type that does not exist" "Type must be 'p', 't', or 'u', but got x\$" -D 1 x:y:z

# ---- kernel functions
if ! have_kprobes; then
	fails 3 "a kernel function without kprobes" 'this kernel has no kprobes' -D 1 vfs_read
	skip "kernel functions" "$no_kprobes"
	finish
fi
tracing=$tmp/tracing
mkdir "$tracing" && mount -t tracefs none "$tracing"
debug=$tmp/debug
mkdir "$debug" && mount -t debugfs none "$debug"
at_exit_unmount() { umount "$tracing" "$debug"; }
at_exit=at_exit_unmount
names() { sed -n 's/^Tracing \([0-9]*\) functions.*/\1/p' "$out"; }
count -q -D 0.1 -r 'vfs_(read|write)'
is "two kernel functions by -r" "$(names)" 2
count -q -D 0.1 vfs_read
is "one kernel function" "$(names)" 1
count -q -D 0.1 -K 'vfs_rea*'
n=$(names) known=$(grep -c '^vfs_rea' "$tracing/available_filter_functions")
[ "$n" -ge 1 ] && [ "$n" -le "$known" ]
check $? "kernel functions by a wildcard" "$n of $known: $(tail -n 2 "$err")"
fails 1 "no such kernel function; similar ones are named" \
	'No functions matched by pattern \^vfs_raed\$.*; did you mean .*vfs_read' -D 1 vfs_raed
fails 1 "no such kernel function, and none is similar" \
	'No functions matched by pattern \^qqqqqq_nosuch\$: it does not exist or was inlined$' -D 1 qqqqqq_nosuch
blacklisted=$(awk '{ print $2 }' "$debug/kprobes/blacklist" | sort -u |
	comm -12 - <(awk '$2 ~ /^[tT]$/ && NF == 3 { print $3 }' /proc/kallsyms | sort -u) | grep -m 1 exc_)
fails 1 "a blacklisted kernel function" 'on the kernel.s blacklist of what must not be probed' \
	-D 1 "$blacklisted"
notrace=$(awk '$2 == "T" && NF == 3 { print $3 }' /proc/kallsyms | sort -u |
	comm -23 - <(cut -d ' ' -f 1 "$tracing/available_filter_functions" | sort -u) |
	comm -23 - <(awk '{ print $2 }' "$debug/kprobes/blacklist" | sort -u) | grep -m 1 '^sched_clock\|^ftrace_')
fails 1 "a notrace kernel function ($notrace)" 'it is marked notrace or built without ftrace|it is the cold part of a function' \
	-D 1 "$notrace"
# Some matches of a wildcard cannot be probed: they are left out, and the others count.
count -q -D 0.1 -K 'sched_clock*'
[ "$status" -eq 0 ] || grep -q 'No functions matched\|none of the' "$err"
check $? "a wildcard that matches untraceable ones too" "status $status: $(tail -n 2 "$err")"
finish
