# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by all root tests; sourced as: . harness.bash BUILD_DIR
# The measured programs are in tests/workloads.
# shellcheck shell=bash disable=SC2034 # the tests use the variables
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../check.bash"
profile=$1/profile
stackcount=$1/stackcount
programs=$1/tests/workloads
tmp=$(mktemp -d)
out=$tmp/out
err=$tmp/err
fate=$tmp/null # in place of /dev/null, which a report written by root might replace
started=()
# Factor on all times: emulated machines are slower.
slow=1
[ -n "${STACKTALLY_VM-}" ] && slow=4

# calculates EXPRESSION: succeeds if the awk expression is true
calculates() { awk "BEGIN { exit !($1) }"; }

# kernel_has VERSION: whether the kernel is that one or newer
kernel_has() { [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]; }
# stolen_ms: CPU time that the host took from this machine, as far as the kernel knows
stolen_ms() { awk -v hz="$(getconf CLK_TCK)" '/^cpu / { print $9 * 1000 / hz }' /proc/stat; }

# ---- running
# measure ARGUMENT...: runs profile; its report is in $out, its messages in $err, its status in
# $status
measure() {
	"$profile" "$@" >"$out" 2>"$err"
	status=$?
}
# measure_command [OPTION...] -- COMMAND...: the same for a command; the report has folded lines,
# and $said has what the command wrote to stdout
measure_command() {
	rm -f "$out" "$tmp/command.folded"
	"$profile" -o "$tmp/command.folded" "$@" >"$tmp/said" 2>"$err"
	status=$?
	said=$(cat "$tmp/said")
	mv "$tmp/command.folded" "$out" 2>>"$err"
}
# sample ARGUMENT...: starts profile and waits until it samples
# sampled: ends it as Ctrl-C does; $out has its report in folded lines
sample() {
	: >"$tmp/run.text"
	"$profile" -o - -o "$tmp/run.folded" --format text --format folded "$@" \
		>"$tmp/run.text" 2>"$err" &
	run=$!
	started+=("$run")
	await 60 samples_by_now
}
samples_by_now() { grep -qE '^(Sampling|Measuring)' "$tmp/run.text" || ! kill -0 "$run" 2>>"$fate"; }
sampled() {
	kill -INT "$run" 2>>"$fate"
	wait "$run"
	status=$?
	mv "$tmp/run.folded" "$out"
}
# begin PROGRAM [ARGUMENT...]: starts a program and waits until it prints `ready PID`. Sets $pid to
# that PID (in the program's own namespace), $child to the process started here (the program, or a
# wrapper around it), and $said to the lines it printed. end: kills it.
begin() {
	local line fifo=$tmp/fifo.${#started[@]}
	mkfifo "$fifo"
	"$@" >"$fifo" 2>>"$tmp/workload.err" &
	child=$!
	started+=("$child")
	said='' pid=
	exec {reading}<"$fifo"
	while read -r -t $((60 * slow)) line <&"$reading"; do
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
# cpu_ticks PID: the CPU time that a process has used
cpu_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
# works PID TICKS: waits until a process has used TICKS more CPU time, so that it was sampled
works() {
	local until
	until=$(($(cpu_ticks "$1") + $2))
	worked() { [ "$(cpu_ticks "$1")" -ge "$2" ]; }
	await 60 worked "$1" "$until" 2>>"$fate"
}
# await SECONDS COMMAND...: waits until the command succeeds
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

# ---- the results
# total [FILE]: the sum of all counts in a folded report
total() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "${1-$out}"; }
# counted REGEX [FILE]: the sum of the counts of the stacks that match
counted() { re=$1 awk '{ line = $0; sub(/ [0-9]+$/, "", line) } line ~ ENVIRON["re"] { sum += $NF }
	END { printf "%.0f\n", sum }' "${2-$out}"; }
# closing [FILE]: sets $samples, $stacks and $lost from the closing line
closing() {
	samples=-1 stacks=-1 lost=-1
	read -r samples stacks lost < <(sed -n \
		's/^\([0-9]*\) [a-z]*, \([0-9]*\) stacks\{0,1\}, \([0-9]*\) lost$/\1 \2 \3/p' "${1-$err}" |
		tail -n 1)
}
# named_work REGEX: in a report of user stacks (-U), most samples in burn() or in code without a name
# match. Other samples are of the start and the end of the program, a large share on a slow machine.
named_work() {
	local work least=0.9
	[ "$slow" -eq 1 ] || least=0.75
	work=$(counted ';burn(;|$)|;\[unknown\]$')
	calculates "$(counted "$1") > $least * $work && $(counted "$1") > 20"
}
hottest() { tail -n 1 "${1-$out}"; }
# says NAME REGEX [FILE]: the file ($err) has a line that matches
says() {
	grep -Eq -- "$2" "${3-$err}"
	check $? "$1" "$(head -n 5 "${3-$err}" | cut -c 1-300)"
}
# has NAME REGEX: the folded report in $out has a sample whose stack matches
has() {
	[ "$(counted "$2")" -gt 0 ]
	check $? "$1" "no /$2/ in: $(tail -n 3 "$out" | cut -c 1-300) $(tail -n 2 "$err")"
}
# lacks NAME REGEX: the folded report in $out has samples, and none of their stacks matches
lacks() {
	if [ "$(total)" -eq 0 ]; then
		fail "$1" "the report is empty: $(tail -n 2 "$err")"
		return
	fi
	[ "$(counted "$2")" -eq 0 ]
	check $? "$1" "$(grep -E -- "$2" "$out" | tail -n 3 | cut -c 1-300)"
}
# none NAME: the last measure() succeeded, and its folded report has neither a sample nor a loss
none() {
	[ "$status" -eq 0 ] && [ ! -s "$out" ] && grep -Eqx '0 (samples|events), 0 stacks, 0 lost' "$err"
	check $? "$1" "exit status $status: $(tail -n 2 "$out" | cut -c 1-300) $(tail -n 2 "$err")"
}
# exits NAME STATUS: the last measure() ended with this exit status
exits() {
	[ "$status" -eq "$2" ]
	check $? "$1" "exit status $status, not $2: $(head -n 3 "$err")"
}
# finish: the last line of each test
finish() { exit "$failed"; }
