#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# User stacks are complete in many programs: unwind_workloads_test.sh BUILD [WORKLOAD...]
# Each workload is measured twice: launched by profile, and running already. Each is sampled for
# STACKTALLY_SECONDS (2). Complete means that the walk reached the start of the thread;
# unwind_peers_test.sh and tests/cli/unwind_oracle_test.sh show that frames are right.
# timeout: 900
# kind: callers
. "$(dirname "$0")/../harness.bash" "$1"
. "$(dirname "$0")/unwind_workloads.bash"
seconds=${STACKTALLY_SECONDS-$((slow > 1 ? 4 : 2))}
work=$tmp/work
mkdir "$work"
# Some servers run as the user nobody.
chmod 711 "$tmp" "$work"
[ -z "${TMPDIR-}" ] || chmod 711 "$TMPDIR"
export -f forever forever_into run_sqlite run_git_gc run_postgresql run_nginx
export work fate programs

# Autogroups share CPU time by session: other sessions must not take most of it.
[ ! -e /proc/$$/autogroup ] || echo -15 >/proc/$$/autogroup

# contained COMMAND...: in a pid namespace, so that all processes of a workload end with the first.
contained() { exec unshare --pid --fork --kill-child=KILL --mount-proc "$@"; }

# members COMMAND_PID: the processes in the pid namespace of a contained command
members() {
	local first
	first=$(pgrep -P "$1") || return
	ps -eo pidns=,pid= | awk -v of="$(readlink "/proc/$first/ns/pid" | tr -dc 0-9)" '
		$1 == of { print $2 }' | paste -sd,
}

# judge NAME MINIMUM [LESS]: the report in $err and $tmp/report.folded has MINIMUM - LESS per cent
# of complete stacks. MINIMUM ends in `-no-row` for code without CFI: stacks that end there count,
# too.
judge() {
	local all share gaps=0 least=$((seconds * 50)) minimum=$((${2%-no-row} - ${3-0})) reasons
	read -r all share < <(sed -n \
		's/^user stacks: \([0-9]*\), \([0-9.]*\) % complete.*/\1 \2/p' "$err")
	reasons=$(sed -n 's/^ *\([0-9]* ended for: .*\)/\1/p' "$err" | head -n 3 | paste -sd';')
	[[ $2 != *-no-row ]] || gaps=$(counted '\[unwind: no row\]' "$tmp/report.folded")
	if ! calculates "${all:-0} >= $least"; then
		fail "$1" "only ${all:-no} user stacks: $(tail -n 5 "$err")"
	elif ! calculates "$share + 100 * $gaps / $all >= $minimum"; then
		fail "$1" "$share % of $all user stacks are complete: $reasons"
	else
		ok "$1: $share % of $all user stacks are complete${reasons:+ ($reasons)}"
	fi
}

options=(-F 499 -U -f -v --max-depth 1024)
run_workload() { # NAME MINIMUM COMMAND
	local pids child
	measure "${options[@]}" -o "$tmp/report.folded" -- timeout -s KILL "$seconds" \
		unshare --pid --fork --kill-child=KILL --mount-proc bash -c "$3"
	# An emulated machine takes seconds to make the tables of a new program.
	judge "$1, launched" "$2" $((slow > 1 ? 20 : 0))
	contained bash -c "$3" >>"$fate" 2>"$tmp/workload.err" &
	child=$!
	started+=("$child")
	await 30 busy "$child"
	check $? "$1 runs" "$(tail -n 3 "$tmp/workload.err")"
	pids=$(members "$child")
	measure "${options[@]}" -o "$tmp/report.folded" -p "$pids" --children "$seconds"
	judge "$1, running" "$2"
	kill -KILL "$child"
	{ wait "$child"; } 2>>"$fate"
}
# busy PID: the processes of a contained command have used 0.3 s of CPU time: their start is over
busy() {
	local pids files
	pids=$(members "$1")
	[ -n "$pids" ] || return
	mapfile -t files < <(printf '/proc/%s/stat\n' ${pids//,/ })
	cat "${files[@]}" 2>>"$fate" | awk '{ sub(/.*\) /, ""); ticks += $12 + $13 + $14 + $15 }
		END { exit ticks < 30 }'
}

# Debian installs the programs of PostgreSQL outside of PATH.
for directory in /usr/lib/postgresql/*/bin; do PATH=$PATH:$directory; done
wanted=" ${*:2} "
# The code of programs is the same on all kernels. Entries to the kernel and its limits differ.
if [ "$slow" -gt 1 ] && [ $# -eq 1 ]; then
	wanted=' python_json threaded_cplusplus static_kernel realigned signals other_stack kernel_entries fibers '
	skip "the other workloads" "an emulated machine would take half an hour, for the same code"
fi
while read -r name minimum needs command; do
	[ "$wanted" = "  " ] || [[ $wanted = *" $name "* ]] || continue
	[ "$needs" = - ] || missing=$(for c in ${needs//,/ }; do type -P "$c" >>"$fate" || echo "$c"; done)
	if [ "$needs" != - ] && [ -n "$missing" ]; then
		skip "$name" "no ${missing//$'\n'/, }"
		continue
	fi
	if [ "$name" = realigned ] && ! grep -qw avx /proc/cpuinfo; then
		skip "$name" "this CPU has no AVX"
		continue
	fi
	if ! prepare "$name" </dev/null >"$tmp/prepare" 2>&1; then
		fail "$name" "cannot be prepared"
		continue
	fi
	run_workload "$name" "$minimum" "$command" </dev/null
done < <(workloads)
finish
