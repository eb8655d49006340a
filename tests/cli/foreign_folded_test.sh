#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Folded stacks as other programs write them, packed and from pipes: foreign_folded_test.sh BUILD
# kind: foreign files
set -u
export LC_ALL=C
profile=$1/profile
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1

# read_as NAME LINES OPTION...: the lines of stdin, folded again with these options, are LINES
read_as() {
	cat >in
	"$profile" -q --from in -f "${@:3}" >out 2>err
	[ "$(sort out)" = "$(sort <<<"$2")" ]
	check $? "$1" "$(cat out err)"
}
# refused NAME WORDS FILE OPTION...
refused() {
	"$profile" --from "$3" "${@:4}" >out 2>err
	[ $? -ne 0 ] && [ ! -s out ] && grep -qF -- "$2" err
	check $? "$1 is refused" "$(cat out err)"
}
# frames NAME COMMS FUNCTIONS: what the lines of stdin are read as
frames() {
	cat >in
	"$profile" --from in --format json >out 2>err
	[ "$(grep -o '"comm":"[^"]*"' out | sort -u | sed 's/.*:"//; s/"//' | paste -sd,)" = "$2" ] &&
		[ "$(grep -o '{"name":"[^"]*"' out | sed 's/.*:"//; s/"//; s/.u003c/</g' | sort | paste -sd,)" = "$3" ]
	check $? "$1" "$(cat out err)"
}

# ---- gzip of several members, as logs that are appended to; tapes fill up with zeros
printf 'x;main;f 100\n' >a
printf 'x;main;g 10\n' >b
(gzip -c a; gzip -c b; head -c 100 /dev/zero) >ab.gz
read_as "gzip: all members are read" $'x;main;f 100\nx;main;g 10' <ab.gz
head -c $(($(gzip -c a | wc -c) + 15)) ab.gz >cut.gz
refused "gzip whose second member is cut" 'not whole gzip' cut.gz
(gzip -c a; echo more) >more.gz
refused "gzip with something behind it" 'not whole gzip' more.gz
printf '\x28\xb5\x2f\xfd1234' >a.zst
refused "what another program packed" 'zstdcat' a.zst

# ---- pipes
cat a | "$profile" -q --from - -f >out 2>err && [ "$(cat out)" = 'x;main;f 100' ]
check $? "--from - reads a pipe" "$(cat err)"
cat a | "$profile" -q --from /dev/stdin -f >out 2>err && [ "$(cat out)" = 'x;main;f 100' ]
check $? "--from /dev/stdin does" "$(cat err)"
"$profile" -q --from a --diff <(cat a) --diff-raw -f >out 2>err && [ "$(cat out)" = 'x;main;f 100 100' ]
check $? "--diff <(...) does" "$(cat err)"
cat a | "$profile" -q --from b --diff - --diff-raw -f >out 2>err && [ "$(wc -l <out)" = 2 ]
check $? "--diff - does" "$(cat out err)"
(read -r _ && "$profile" -q --from - -f) <<<$'first\nx;main;f 3' >out 2>err && [ "$(cat out)" = 'x;main;f 3' ]
check $? "what a shell has read of a file is not read again" "$(cat out err)"
"$profile" -q --from a -o a.stacktally
cat a.stacktally | "$profile" -q --from - -f >out 2>err && [ "$(cat out)" = 'x;main;f 100' ]
check $? "a recording comes from a pipe" "$(cat err)"
gzip -k a.stacktally
refused "a packed recording" 'zcat' a.stacktally.gz
true | "$profile" --from - >out 2>err
[ $? -eq 1 ] && grep -qx 'profile: cannot read standard input: it is empty' err
check $? "an empty pipe says so" "$(cat err)"

# ---- the first piece: a thread or a function; both are shown
frames "bcc, perf: a thread's name" x,y f,main,start_thread <<<$'x;main;f 1\ny;start_thread;f 1\ny 2'
frames "async-profiler, py-spy: functions" '' 'f,g,main,start_thread' <<<$'main;f;g 5\nstart_thread;g 5'
frames "a long name is no thread's" '' 'g,h,java/lang/Thread.run,main' <<<$'main;g 5\njava/lang/Thread.run;h 5'
frames "py-spy's functions with files" '' '<module> (a.py:9),f (a.py:2),g (b.py:3)' \
	<<<$'<module> (a.py:9);f (a.py:2) 5\n<module> (a.py:9);g (b.py:3) 1'
frames "rbspy" '' '<main> - a.rb:9,run - a.rb:2' <<<$'<main> - a.rb:9;run - a.rb:2 5'
frames "async-profiler's threads" '' '[worker-1 tid=7],f,run' <<<$'[worker-1 tid=7];run;f 5'
frames "async-profiler's annotations" '' 'do_syscall_64,read,read,run' \
	<<<$'run_[0];read_[j];do_syscall_64_[k] 5\nrun_[1];read_[i] 5'
frames "Go" '' 'main.f,runtime.goexit,runtime.main' <<<$'runtime.goexit;runtime.main;main.f 5'
frames "DTrace" '' 'libc`_start,libc`main' <<<$'libc`_start;libc`main 5'
frames "a program called main" main '_start,f' <<<$'main;_start;f 5'
frames "nothing is known: all are functions" '' 'a,b' <<<$'a;b 5\na 3'
frames "bcc's stackcount has no threads" '' 'f,main' <<<$';main;f 5'
frames "Ruby's names begin with #" '' '#<Class:A>,f' <<<$'# comment\n#<Class:A>;f 5'
"$profile" --from <(printf 'java-123/456;start_thread;f 5\njava-?/457;start_thread;f 1\n') --format json >out
grep -q '"count":5,"comm":"java","pid":123,"tid":456' out && grep -q '"comm":"java","pid":0,"tid":457' out
check $? "perf's ids behind names" "$(cat out)"
"$profile" --from <(printf 'pool-1;start_thread;f 5\npool-2;start_thread;f 1\n') --format json >out
grep -q '"comm":"pool-1","pid":0' out
check $? "a thread's number is no process" "$(cat out)"

# ---- - is a function where it is not bcc's mark
frames "Scheme's -" scheme '+,-,deep,er,main' <<<$'scheme;main;- 5\nscheme;main;+ 5\nscheme;-;deep;er 7'
! grep -q '"mode":"kernel"' out
check $? "... with user functions behind it" "$(cat out)"
frames "bcc -d" x 'do_syscall_64,main,vfs_read' <<<$'x;main;-;do_syscall_64;vfs_read 5\nx;main 1'
[ "$(grep -c '"mode":"kernel"' out)" = 2 ]
check $? "... with kernel functions behind it" "$(cat out)"

# ---- two counts are a difference
printf 'x;main;f 100\nx;main;g 50\n' >before
printf 'x;main;f 200\nx;main;g 10\nx;main;h 5\n' >after
"$profile" -q --from after --diff-raw --diff before -f >two
read_as "a difference gives itself" "$(cat two)" <two
read_as "so does one of a stack whose name ends with a number" 'x;main;f 1 7 9' <<<'x;main;f 1 7 9'
"$profile" -q --from two >out && grep -qF '+100 (100 -> 200)' out && grep -q '^215 samples, 150 in the base' out
check $? "... and is shown as one" "$(cat out)"
"$profile" -q --from two --format svg >out && grep -q 'before: 150' out
check $? "... in a flame graph, too" "$(grep before out)"
refused "a difference as speedscope" 'cannot show differences' two --format speedscope
refused "a difference to something" 'it is a difference itself' two --diff a
refused "a difference as the base" 'it is a difference itself' a --diff two
printf 'x;main;f 1 2\nx;main;g 1 2\nx;main;h 1\n' >odd
refused "a line that lacks one of two counts" 'line 3: one count, where other lines have two' odd
read_as "one name may end with a number" $'x;main;op 5 2\nx;main;g 1\nx;main;h 1' \
	<<<$'x;main;op 5 2\nx;main;g 1\nx;main;h 1'

# ---- numbers
read_as "whole numbers, however written" $'x;main;f 300\nx;main;g 12\nx;main;h 15' \
	<<<$'x;main;f 3e2\nx;main;g 12.000000000000000000000000\nx;main;h\t1.50e1'
read_as "a byte order mark and lines of DOS" 'x;main;f 3' <<<$'\xef\xbb\xbfx;main;f 3\r'
printf 'x;main;g 7\nx;main;f 12.5\n' >fraction
refused "a fraction" 'line 2: 12.5 is not a whole number' fraction
printf 'x;main;f 0.25\n' >fraction
refused "a fraction in the first line" 'line 1: 0.25 is not a whole number' fraction
printf 'x;main;f -3\n' >negative
refused "a count below 0" 'line 1: -3: counts below 0' negative
printf 'x;main;f 9223372036854775807\n' >large
read_as "2^63 - 1" 'x;main;f 9223372036854775807' <large
printf 'x;main;f 9223372036854775807\nx;main;g 1\n' >large
refused "a sum of 2^63" 'line 2: the sum of the counts is too large' large
for n in 9223372036854775808 18446744073709551616 1e400; do
	echo "x;main;f $n" >large
	refused "a count of $n" "line 1: $n: the counts are too large" large
done

# ---- a stack that is deeper than ours may be
awk 'BEGIN { printf "x;main"; for (i = 1; i <= 2000; i++) printf ";f%d", i; print " 5" }' >in
"$profile" -q --from in -f >out 2>err
[ "$(sed 's/;f[0-9]*;.*;/ .. /' out)" = 'x;[truncated] .. f2000 5' ] && [ "$(tr ';' '\n' <out | wc -l)" = 1026 ]
check $? "keeps its leaf, and a mark for its root" "$(cut -c 1-60 out err)"
exit $failed
