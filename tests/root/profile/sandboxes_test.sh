#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "Permission denied as root" in a container, and a sandbox in which no file can be read: the message
# names the filter of system calls, not a capability that root has: sandboxes_test.sh BUILD
# timeout: 60
# kind: refusals
. "$(dirname "$0")/../harness.bash" "$1"

# number NAME: of a system call on this machine
number() { echo "SYS_$1" | gcc -include sys/syscall.h -E -P - 2>>"$fate" | tail -n 1; }
if ! [[ $(number bpf) =~ ^[0-9]+$ ]]; then
	skip "filters of system calls" "no C compiler"
	finish
fi
# denied CALL ERRNO COMMAND...
denied() {
	"$programs/deny" "$(number "$1")" "$2" "${@:3}" >"$out" 2>"$err"
	status=$?
}
for call in perf_event_open bpf; do
	for code in 1 38; do # EPERM, ENOSYS
		denied $call $code "$profile" -f 1
		exits "$call refused with errno $code is a missing privilege" 3
		says "the message names the filter and the call" "Seccomp: 2 .*allow $call "
		[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ]
		check $? "in one line" "$(cat "$err" "$out")"
		denied $call $code "$stackcount" -f -D 1 t:sched:sched_switch
		exits "$call refused with errno $code: so it is with stackcount" 3
		says "which names the filter, too" 'Seccomp: 2 '
	done
done
for call in setrlimit prlimit64 capset; do
	rm -f "$tmp/report.folded"
	denied $call 1 "$profile" -U -o "$tmp/report.folded" -- "$programs/nested" $((100 * slow))
	[ -s "$tmp/report.folded" ]
	check $? "without $call there is a report" "$(cat "$err")"
	if grep -q ';burn' "$tmp/report.folded"; then
		ok "without $call functions have names"
		continue
	fi
	says "without $call the message says why names are missing" \
		'^names and callers are missing: .*Operation not permitted.*Seccomp: 2'
	! grep -q damaged "$err"
	check $? "and calls no file damaged" "$(cat "$err")"
done

# ---- limits of the process: the message names the one that is in the way
for files in 16 24 40; do
	(ulimit -n "$files" && "$profile" -f 0.1 2>&1 >"$fate") | cat >"$err"
	says "with $files files" '^profile: cannot .*: Too many open files; raise the limit \(ulimit -n\)$'
done
for blocks in 0 1; do
	(ulimit -f "$blocks" && "$profile" -f 0.1 2>&1) | cat >"$err"
	says "with files of $blocks KiB" '^profile: cannot .*: File too large; raise the limit \(ulimit -f\)$'
done
# A command gets the signals as they were.
measure_command -f -- sh -c 'grep SigIgn /proc/$$/status'
[ "$said" = "$(sh -c 'grep SigIgn /proc/$$/status')" ]
check $? "a command ignores no signal that was not ignored before" "$said"
finish
