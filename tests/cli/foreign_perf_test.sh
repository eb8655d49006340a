#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The text of perf script, and formats that are not read: foreign_perf_test.sh BUILD
# kind: foreign files
set -u
export LC_ALL=C
profile=$1/profile
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1

# reads NAME LINES: the text of stdin, folded
reads() {
	cat >in
	"$profile" -q --from in -f -a >out 2>err
	[ "$(sort out)" = "$(sort <<<"$2")" ]
	check $? "$1" "$(cat out err)"
}
# refused NAME WORDS: the text of stdin
refused() {
	cat >in
	"$profile" --from in >out 2>err
	[ $? -eq 1 ] && [ ! -s out ] && grep -qF -- "$2" err
	check $? "$1 is refused" "$(cat out err)"
}

reads "samples with kernel and user frames" $'my app 2;main;read;vfs_read_[k] 2\nother;[unknown] 1' <<'END_PERF'
# cmdline : /usr/bin/perf record -g
my app 2 17/18 [001] 3511.25: 1000 cycles:u:
	ffffffff81000010 vfs_read+0x10 ([kernel.kallsyms])
	    7f0000001234 read+0x4 (/usr/lib/libc.so.6)
	    000000401234 main+0x12 (/usr/bin/my app (deleted))

my app 2 17/18 [001] 3511.35: 1001 cycles:u:
	ffffffff81000020 vfs_read+0x20 ([kernel.kallsyms])
	    7f0000001234 read+0x4 (/usr/lib/libc.so.6)
	    000000401234 main+0x12 (/usr/bin/my app (deleted))

other 19 3511.45: cycles:u:

	    7f0000001234 [unknown] ([unknown])
END_PERF
"$profile" -q --from in --format json >out
grep -q '"comm":"my app 2","pid":17,"tid":18' out && grep -q '"comm":"other","pid":0,"tid":19' out &&
	grep -q '"event":"cycles:u"' out && grep -q '"module":"libc.so.6"' out
check $? "ids, event and files are kept" "$(cat out)"
reads "names, generated and inlined code" $'java;[libjvm.so];A::run;B::get_[i];C::at_[i] 1\nx;main;f(int)_[i];operator->  1' < <(
	printf 'java 5 1.0: 1 cpu-clock:\n\t7f01 A::run->B::get->C::at+0x3 (/tmp/perf-5.map)\n\t7f02 [unknown] (/opt/libjvm.so)\n\n'
	printf 'x 6 1.0: 1 cpu-clock:\n\t4010 operator-> +0x3 (/usr/bin/x)\n\t4020 f(int) (inlined)\n\t4020 main+0x9 (/usr/bin/x)\n\n'
) 2>/dev/null
refused "a second event" 'line 4: samples of a second event' < <(
	printf 'x 6 1.0: 1 cycles:\n\t4010 f (/usr/bin/x)\n\nx 6 1.0: 1 instructions:\n\t4010 f (/usr/bin/x)\n'
)
# Fields as perf script -F has them
reads "no file" $'x;main;f(int) 1' <<<$'x 6/7 [000] 1.5: cpu-clock:ppp: \n\t  4010 f(int)+0x3\n\t  4020 main+0x9\n'
reads "no event" $'x;f 2' <<<$'x 6 1.5: 1000 \n\t4010 f+0x3 (/x)\n\nx 6 2.5: \n\t4010 f+0x3 (/x)\n'
reads "no id" $'x y;f 1' <<<$'x y 1.5: cycles:\n\t4010 f+0x3 (/x)\n'
reads "no comm" $'6/7;f 1' <<<$' 6/7 1.5: cycles:\n\t4010 f+0x3 (/x)\n'
reads "an unknown thread" $':-1;f 1' <<<$':-1    -1 [000] 1.5: cycles:\n\t4010 f+0x3 (/x)\n'
reads "lines of source" $'x;g;f 1' <<<$'x 6 1.5: cycles:\n\t4010 f+0x3 (/x)\n  f.c:12\n\t4020 g+0x3 (/x)\n  [x][4020]\n'
reads "no call graphs" $'x;f 1\nlonger name;schedule_[k] 1' \
	<<<$'           x 6 [000] 1.5: 1000 cycles:  4010 f+0x3 (/x)\n longer name 7 [001] 1.7: 1000 cycles:  ffffffff81000010 schedule+0x10 ([kernel.kallsyms])'
reads "tracepoints" $'a b;g;schedule_[k] 1\nx;schedule_[k] 1' <<'END_PERF'
x 6 [000] 1.5: sched:sched_switch: prev_comm=x prev_pid=6 prev_state=S ==> next_comm=y z 1.5: next_pid=9
	ffffffff81000010 schedule+0x10 ([kernel.kallsyms])

a b 7 [000] 1.6: sched:sched_switch: prev_comm=a b prev_state=D ==> next_comm=x
	ffffffff81000010 schedule+0x10 ([kernel.kallsyms])
	    4020 g+0x3 (/x)
END_PERF
reads "tracepoints without stacks" $'x 2' <<<$' x 6 [000] 1.5: syscalls:sys_enter_write: fd: 0x3, buf: 0x55, count: 0x40\n x 6 [000] 1.6: syscalls:sys_enter_write: fd: 0x3 (x)'
reads "records of processes" $'x;f 1' <<'END_PERF'
perf-exec 6 0.000000: PERF_RECORD_COMM exec: x:6/6
x 6 1.100000: PERF_RECORD_MMAP2 6/6: [0x400000(0x1000) @ 0 08:01 12 0]: r-xp /x
x 6 1.500000: 1000 cycles:
	4010 f+0x3 (/x)

x 6 1.600000: PERF_RECORD_EXIT(6:6):(1:1)
END_PERF
reads "modules of the kernel" $'x;main;ioctl_[k];open_dev_[k];[drv]_[k] 1' <<'END_PERF'
x 6 1.500000: 1000 cycles:
	ffffffffc0200010 [unknown] ([drv])
	ffffffffc0100010 open_dev+0x10 (/lib/modules/6.1.0/kernel/drivers/drv.ko.xz)
	ffffffff81000010 ioctl+0x10 ([unknown])
	    4020 main+0x3 (/x)
END_PERF

events=$'x 6 1.0: 1 cycles:\n\t4010 f (/x)\n\nx 6 1.1: 1 page-faults:\n\t4020 g (/x)\n\nx 6 1.2: 1 cycles:\n\t4010 f (/x)\n'
refused "a second event, with the next command," '--value cycles or --value page-faults' <<<"$events"
cat >in <<<"$events"
"$profile" -q --from in --value cycles -f >out 2>err && [ "$(cat out)" = 'x;f 2' ]
check $? "--value chooses the event" "$(cat out err)"
"$profile" --from in --value nosuch -f >out 2>err
[ $? -eq 1 ] && grep -q 'no sample is of that event' err
check $? "an event that no sample has is refused" "$(cat out err)"

refused "what is no frame" 'line 3: not a frame' < <(printf 'x 6 1.0: 1 cycles:\n\t4010 f (/usr/bin/x)\n\tnonsense\n')
refused "a cut file" 'line 2: not a frame' < <(printf 'x 6 1.0: 1 cycles:\n\t4010 f (/usr/b')

# ---- our own text gives itself
for recording in profile threads stackcount; do
	"$profile" -q --from "$top/tests/golden/recordings/$recording.stacktally" -U --format perf-script >own
	"$profile" -q --from own -f >out 2>err
	[ "$(awk '{ n += $NF } END { print n }' out)" = "$(grep -c '^[^#[:blank:]]' own)" ] && [ -s out ]
	check $? "a sample for each record of our own, from $recording" "$(cat err)"
done

# ---- formats of others have the next command
refused "perf's data" 'perf script' <<<'PERFILE2 and more'
refused "our JSON" 'save a recording' < <("$profile" -q --from "$top/tests/golden/recordings/threads.stacktally" --format json)
refused "JSON" 'folded stacks or pprof' <<<'{"traceEvents":[]}'
refused "pprof's old text" 'go tool pprof -proto' <<<'heap profile:  3: 400 [ 3: 400] @ heapz/1'
refused "pprof's old CPU profile" 'go tool pprof -proto' < <(printf '\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1')
refused "a recording of Java's that is cut" 'this JFR file is damaged: no header' < <(printf 'FLR\0\0\2\0\1')
refused "our text" 'folded stacks' < <("$profile" --from "$top/tests/golden/recordings/profile.stacktally" --format text)
refused "bcc's text" 'folded stacks' <<<$'\n    main\n    _start\n    -                x (12)\n        5\n'
refused "bpftrace's text" 'stackcollapse-bpftrace' <<<$'@[\n    f+16\n    main+3\n, x]: 12'
refused "a dump of goroutines" 'debug=0' <<<$'goroutine 1 [running]:\nmain.main()\n\t/m.go:3 +0x1'
refused "stacks of a debugger" 'ends with no count' <<<$'Thread 1 (LWP 5):\n#0  0x1 in f ()\n#1  0x2 in main ()'
refused "what perf report prints" 'perf script' <<<$'# To display the perf.data header info, please use --header/--header-only options.\n#'
refused "UTF-16" 'iconv' < <(printf '\377\376a\0;\0')
reads "folded stacks that begin with a bracket" $';[main tid=7];run 5' <<<'[main tid=7];run 5'
exit $failed
