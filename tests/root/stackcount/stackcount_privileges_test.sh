#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The capabilities that the man page names suffice: stackcount_privileges_test.sh BUILD
# kind: refusals
. "$(dirname "$0")/../harness.bash" "$1"
for tool in setpriv setcap unshare; do
	command -v $tool >"$fate" || { skip "capabilities in place of root" "$tool is not installed" && finish; }
done
chmod 755 "$tmp"
[ -z "${TMPDIR-}" ] || chmod 711 "$TMPDIR"
mapfile -t lines < <("$stackcount" --print-man | sed -n 's/\\-/-/g; s/^setcap \(.*\) FILE$/\1/p')
[ ${#lines[@]} -eq 2 ]
check $? "the man page has two lines of setcap" "${lines[*]}"
paranoid=/proc/sys/kernel/perf_event_paranoid
level=$(cat $paranoid)
give_back() { echo "$level" >$paranoid; }
at_exit=give_back
[ "$level" -le 2 ] || echo 2 >$paranoid
ulimit -l unlimited 2>>"$fate" # before Linux 5.11 maps are locked memory

# as_nobody CAPABILITIES COMMAND ARGUMENT...: with these file capabilities, tracefs mounted or not
as_nobody() {
	local program=$tmp/$2
	cp "$1/$2" "$program" && chmod 755 "$program" && setcap "$3" "$program" 2>"$err" || return
	shift 3
	unshare -m sh -c '[ -z "$0" ] || mount -t tracefs nodev /sys/kernel/tracing; exec "$@"' "$mounted" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$program" "$@" >"$out" 2>"$err"
	status=$?
}
build=$(dirname "$stackcount")
if ! cp "$stackcount" "$tmp/probe" || ! setcap "${lines[0]}" "$tmp/probe" 2>"$err"; then
	skip "file capabilities" "$(cat "$err")"
	finish
fi
tracepoint=t:sched:sched_switch
mounted=yes
for line in "${lines[@]}"; do
	as_nobody "$build" profile "$line" -F 99 -f 1
	exits "profile, with $line" 0
	as_nobody "$build" stackcount "$line" -D 1 c:malloc
	exits "a user function, with $line" 0
	as_nobody "$build" stackcount "$line" -D 1 -f $tracepoint
	if [[ $line == *dac_read_search* ]]; then
		exits "a tracepoint, with $line" 0
		calculates "$(total) > 0"
		check $? "... is counted" "$(cat "$err")"
	else
		exits "a tracepoint, with $line" 3
		says "... and the message names what is missing" \
			'^stackcount: cannot read tracefs at .*; it takes root, or CAP_DAC_READ_SEARCH$'
	fi
done
# What each is for.
as_nobody "$build" stackcount cap_bpf,cap_perfmon+ep -D 1 c:malloc
exits "a user function takes CAP_BPF and CAP_PERFMON only" 0
as_nobody "$build" stackcount cap_bpf,cap_perfmon,cap_dac_read_search+ep -D 1 $tracepoint
exits "a tracepoint takes CAP_DAC_READ_SEARCH, too" 0
as_nobody "$build" stackcount cap_bpf,cap_perfmon,cap_sys_admin+ep -D 1 $tracepoint
exits "... and CAP_SYS_ADMIN is no substitute" 3
if mountpoint -q /sys/kernel/tracing || mountpoint -q /sys/kernel/debug; then
	skip "tracefs that is not mounted" "it is mounted here"
	finish
fi
mounted=
as_nobody "$build" stackcount "${lines[1]}" -D 1 $tracepoint
exits "tracefs that is not mounted" 3
says "... and the message says how to mount it" \
	'^stackcount: tracefs is not mounted: mount it as root \(mount -t tracefs nodev /sys/kernel/tracing\); to read it then takes root or CAP_DAC_READ_SEARCH$'
as_nobody "$build" stackcount "${lines[1]%+ep},cap_sys_admin+ep" -D 1 $tracepoint
exits "with CAP_SYS_ADMIN it is mounted privately" 0
finish
