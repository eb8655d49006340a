# SPDX-License-Identifier: GPL-2.0-or-later
# What the root tests share; sourced as: . harness.bash BUILD_DIR
# Programs to measure come from tests/workloads, as make built them.
# shellcheck shell=bash disable=SC2034 # variables are for those who source it
set -u
profile=$1/profile
stackcount=$1/stackcount
programs=$1/tests/workloads
tmp=$(mktemp -d)
out=$tmp/out
err=$tmp/err
fate=$tmp/null # not /dev/null, which a test of full disks might replace
started=()
failed=0
# Emulated machines are slower by so much that what is short here is not long enough there.
slow=1
[ -n "${STACKTALLY_VM-}" ] && slow=4

ok() { echo "ok $1"; }
skip() { echo "skip $1: $2"; }
fail() {
	echo "FAIL $1: $2"
	failed=1
}
# check STATUS NAME WHY
check() { if [ "$1" -eq 0 ]; then ok "$2"; else fail "$2" "$3"; fi; }
# calculates EXPRESSION: whether awk finds it true
calculates() { awk "BEGIN { exit !($1) }"; }

# ---- running
# measure ARGUMENT...: profile, its report in $out and the rest in $err; status in $status.
measure() {
	"$profile" "$@" >"$out" 2>"$err"
	status=$?
}
# measure_command [OPTION...] -- COMMAND...: the same with the report in folded lines, apart from
# what the command writes to stdout, which is in $said
measure_command() {
	rm -f "$out" "$tmp/command.folded"
	"$profile" -o "$tmp/command.folded" "$@" >"$tmp/said" 2>"$err"
	status=$?
	said=$(cat "$tmp/said")
	mv "$tmp/command.folded" "$out" 2>>"$err"
}
# sample ARGUMENT...: starts profile and waits until it samples; sampled: ends it as Ctrl-C does,
# its report in $out, folded
sample() {
	: >"$tmp/run.text"
	"$profile" -o - -o "$tmp/run.folded" --format text --format folded "$@" \
		>"$tmp/run.text" 2>"$err" &
	run=$!
	started+=("$run")
	await 60 samples_by_now
}
samples_by_now() { grep -q '^Sampling' "$tmp/run.text" || ! kill -0 "$run" 2>>"$fate"; }
sampled() {
	kill -INT "$run" 2>>"$fate"
	wait "$run"
	status=$?
	mv "$tmp/run.folded" "$out"
}
# begin PROGRAM [ARGUMENT...]: starts it, waits for its `ready PID`; sets $pid (as it sees it
# itself) and $child (the process started here, which a wrapper may be); $said has its lines.
begin() {
	local line fifo=$tmp/fifo.${#started[@]}
	mkfifo "$fifo"
	"$@" >"$fifo" 2>>"$tmp/workload.err" &
	child=$!
	started+=("$child")
	said='' pid=
	exec {reading}<"$fifo"
	while read -r -t 60 line <&"$reading"; do
		said+=$line$'\n'
		case $line in ready*) pid=${line#ready } && return 0 ;; esac
	done
	fail "${1##*/} starts" "$(tail -n 3 "$tmp/workload.err")"
	return 1
}
end() {
	kill -KILL "$child" 2>>"$fate"
	{ wait "$child"; } 2>>"$fate"
	exec {reading}<&-
}
# await SECONDS COMMAND...: until it succeeds
await() {
	local deadline=$((SECONDS + $1 * slow + 1))
	until "${@:2}"; do
		((SECONDS < deadline)) || {
			echo "not within $(($1 * slow)) s: ${*:2}" >&2
			return 1
		}
		sleep 0.02
	done
}
clean_up() {
	local p
	for p in "${started[@]}"; do kill -KILL "$p"; done 2>>"$fate"
	wait 2>>"$fate"
	[ -z "${at_exit-}" ] || $at_exit
	rm -rf "$tmp"
}
trap clean_up EXIT

# ---- what came of it
# total [FILE]: the sum of all counts of folded lines
total() { awk '{ sum += $NF } END { print sum + 0 }' "${1-$out}"; }
# counted REGEX [FILE]: the sum of the counts of those that match
counted() { re=$1 awk '{ line = $0; sub(/ [0-9]+$/, "", line) } line ~ ENVIRON["re"] { sum += $NF }
	END { print sum + 0 }' "${2-$out}"; }
# closing [FILE]: sets samples, stacks, lost from the closing line
closing() {
	samples=-1 stacks=-1 lost=-1
	read -r samples stacks lost < <(sed -n \
		's/^\([0-9]*\) samples, \([0-9]*\) stacks, \([0-9]*\) lost$/\1 \2 \3/p' "${1-$err}" |
		tail -n 1)
}
# named_work REGEX: of user stacks (-U): what was sampled in burn(), or in code without a name, is
# called so. Start-up and exit, a large share where a machine is slow, are in neither, but for what
# has no name in the dynamic linker.
named_work() {
	local work least=0.9
	[ "$slow" -eq 1 ] || least=0.75
	work=$(counted ';burn(;|$)|;\[unknown\]$')
	calculates "$(counted "$1") > $least * $work && $(counted "$1") > 20"
}
hottest() { tail -n 1 "${1-$out}"; }
# says NAME REGEX [FILE]: the file (stderr) has such a line
says() {
	grep -Eq -- "$2" "${3-$err}"
	check $? "$1" "$(head -n 5 "${3-$err}" | cut -c 1-300)"
}
# has NAME REGEX: the folded report has a sample whose stack matches
has() {
	[ "$(counted "$2")" -gt 0 ]
	check $? "$1" "no /$2/ in: $(tail -n 3 "$out" | cut -c 1-300) $(tail -n 2 "$err")"
}
# lacks NAME REGEX
lacks() {
	[ "$(counted "$2")" -eq 0 ]
	check $? "$1" "$(grep -E -- "$2" "$out" | tail -n 3 | cut -c 1-300)"
}
# exits NAME STATUS: the last measure() did
exits() {
	[ "$status" -eq "$2" ]
	check $? "$1" "exit status $status, not $2: $(head -n 3 "$err")"
}
# finish: the last line of each test
finish() { exit "$failed"; }
