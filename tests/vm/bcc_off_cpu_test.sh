#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Time off the CPU, beside bcc's offcputime in the same seconds; needs its kernel's headers, kprobes and
# patience: bcc_off_cpu_test.sh BUILD
# timeout: 240
. "$(dirname "$0")/../root/harness.bash" "$1"

if [ -z "${STACKTALLY_VM-}" ]; then
	why="no test machine"
elif ! command -v offcputime-bpfcc >"$fate"; then
	why="there is no offcputime-bpfcc (package bpfcc-tools)"
elif [ -z "${BCC_KERNEL_SOURCE-}" ]; then
	why="no kernel headers: ${NO_KERNEL_HEADERS-bcc is compared on 6.1 only}"
fi
if [ -n "${why-}" ]; then
	skip "bcc's offcputime" "$why"
	finish
fi
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug

# Programs that sleep all the time; until some time in the measurement, and again; from some time on.
cp "$(command -v sleep)" "$tmp/throughout"
cp "$(command -v sleep)" "$tmp/since"
cp "$(command -v cat)" "$tmp/until"
"$tmp/throughout" 10000 &
started+=($!)
mkfifo "$tmp/fifo"
"$tmp/until" "$tmp/fifo" >>"$fate" &
started+=($!)
exec {fifo}<>"$tmp/fifo"

began=$SECONDS
# Background jobs of the shell ignore SIGINT, which ends offcputime.
env --default-signal=INT offcputime-bpfcc -f --stack-storage-size 16384 >"$tmp/bcc" 2>"$tmp/bcc.err" &
bcc=$!
started+=("$bcc")
# Looking more often would take CPU time from its compiler.
until grep -qs '^prog_type' "/proc/$bcc/fdinfo/"* || ! kill -0 "$bcc" 2>>"$fate"; do sleep 2; done
kill -0 "$bcc" 2>>"$fate"
check $? "bcc's offcputime runs" "$(tail -n 3 "$tmp/bcc.err")"
sleep 3 # from loading its program to attaching it
echo "offcputime took $((SECONDS - began)) s to start"
sample --off-cpu --budget 100 --unwind-memory 64

"$programs/waits" 3000 >"$tmp/said"
"$tmp/since" 10000 &
started+=($!)
sleep 1
echo >&"$fifo"
sleep 1

sampled
exits "profile --off-cpu beside it" 0
kill -INT "$bcc"
wait "$bcc"
check $? "offcputime ends" "$(tail -n 3 "$tmp/bcc.err")"
grep -q '^WARNING' "$err"
[ $? -ne 0 ]
check $? "profile loses nothing" "$(grep '^WARNING' "$err")"

# bcc sees a thread first when it leaves a CPU. It misses the time that a new thread waits for its
# first turn; its stack is empty then.
new='^[^;]*;\[waiting for a CPU\] '
echo "new threads waited $(grep "$new" "$out" | total /dev/stdin) us"
grep -v "$new" "$out" >"$tmp/ours"
# of NAME FILE: microseconds of the threads of that name
of() { awk -v name="$1" 'index($0, name ";") == 1 { sum += $NF } END { print sum + 0 }' "$2"; }
printf '%-11s %10s %10s\n' thread profile bcc
total=0 their_total=0 wrong=''
while read -r name _ _ _ _ turns; do
	us=$(of "$name" "$tmp/ours") theirs=$(of "$name" "$tmp/bcc")
	printf '%-11s %10d %10d\n' "$name" "$us" "$theirs"
	total=$((total + us)) their_total=$((their_total + theirs))
	# bcc counts whole microseconds.
	calculates "($us > $theirs ? $us - $theirs : $theirs - $us) <= $theirs / 50 + $turns + 1000" ||
		wrong+=" $name: $us, not $theirs;"
done <"$tmp/said"
for name in throughout until since; do
	printf '%-11s %10d %10d\n' "$name" "$(of "$name" "$out")" "$(of "$name" "$tmp/bcc")"
done
[ "$(grep -c . "$tmp/said")" -eq 14 ] && [ -z "$wrong" ]
check $? "14 threads were off the CPU as long as bcc says" "$wrong"
calculates "$their_total > 0 && ($total - $their_total) / $their_total < 0.02 &&
	($their_total - $total) / $their_total < 0.02"
check $? "and so was their process" "$total us, bcc $their_total us"
for name in throughout until since; do
	[ "$(of $name "$out")" -gt 900000 ] && [ "$(of $name "$tmp/bcc")" -lt 900000 ]
	check $? "an end of a sleep of \`$name' is outside: profile counts its part, bcc does not" \
		"$(of $name "$out") us, bcc $(of $name "$tmp/bcc") us"
done
finish
