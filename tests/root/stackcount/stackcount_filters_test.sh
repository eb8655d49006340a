#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# -p, -L, -c, --name, --cgroup and --children, for each kind of probe. The test runs itself again in
# a pid namespace: stackcount_filters_test.sh BUILD [NAMESPACE_DIR]
# timeout: 240
# kind: whom
. "$(dirname "$0")/../stackcount.bash" "$1"

where=${2:+ in a pid namespace}
# On an emulated machine each start takes seconds: similar cases are left out.
all=$((slow == 1))
turns_each=$((1000 / slow))

# Three programs run at the same time. Arrays keep their ids and descriptors.
all_pids=() all_readings=() all_said=()
begin_three() {
	local i
	all_pids=() all_readings=() all_said=()
	for i in 0 1 2; do
		begin "$calls" wait "$1" "$turns_each" "$2"
		all_pids[i]=$pid all_readings[i]=$reading all_said[i]=$said
	done
}
turn_all() {
	local i
	for i in "${!all_pids[@]}"; do
		pid=${all_pids[i]} reading=${all_readings[i]}
		turn || return 1
	done
}
end_three() {
	kill -KILL "${all_pids[@]}"
	wait "${all_pids[@]}" 2>>"$fate"
	for reading in "${all_readings[@]}"; do exec {reading}<&-; done
}
tid() { sed -n "s/^caller-$2 //p" <<<"${all_said[$1]}"; }

# filtered NAME EXPECTED ARGUMENT...: counts EXPECTED events, in stacks that match $only, while all
# three programs do their turns
filtered() {
	local name=$1$where expected=$2 n
	shift 2
	if ! attach "$@"; then
		fail "$name" "does not start: $(head -n 3 "$err")"
		return
	fi
	turn_all || fail "$name" "the programs did not do their turns"
	detach
	n=$(counted "$only" "$folded")
	[ "$status" -eq 0 ] && [ "$n" -eq "$expected" ]
	check $? "$name" "$n counted, not $expected, status $status: $(tail -n 2 "$err") $(sort "$folded" | tail -n 4)"
}

# filters KIND WHAT ARGUMENT...: all filters, with programs of two threads each; caller-0 is on CPU
# 0
filters() {
	local kind=$1 n=$turns_each
	begin_three "$2" 2
	shift 2
	filtered "$kind: -p of one" $((2 * n)) -p "${all_pids[0]}" "$@"
	filtered "$kind: -p of two" $((4 * n)) -p "${all_pids[0]},${all_pids[2]}" "$@"
	filtered "$kind: -L of one" "$n" -L "$(tid 1 1)" "$@"
	((!all)) || filtered "$kind: -L of three" $((3 * n)) -L "$(tid 0 0),$(tid 0 1),$(tid 2 0)" "$@"
	if [ "$cpus" -gt 1 ]; then
		filtered "$kind: -c 0" "$n" -c 0 -p "${all_pids[1]}" "$@"
		((!all)) || filtered "$kind: -c 1" "$n" -c 1 -p "${all_pids[1]}" "$@"
		((!all)) || filtered "$kind: -c 0, three processes" $((3 * n)) -c 0 --name 'caller-*' "$@"
	else
		skip "$kind: -c$where" "there is only one CPU"
	fi
	((!all)) || filtered "$kind: --name" $((3 * n)) --name caller-1 "$@"
	((!all && ${#where})) || filtered "$kind: --name with a wildcard" $((6 * n)) --name 'caller-?' "$@"
	((!all)) || filtered "$kind: --name that no thread has" 0 --name 'caller' "$@"
	((!all && ${#where})) || in_cgroup "$kind" "$@"
	end_three
}
in_cgroup() {
	local kind=$1
	shift
	if ! grep -q cgroup2 /proc/mounts; then
		skip "$kind: --cgroup$where" "no cgroup v2 is mounted"
		return
	fi
	if ! mkdir -p "$cgroup/below" 2>"$tmp/cgroup.err"; then
		skip "$kind: --cgroup$where" "cannot make a cgroup: $(tail -n 1 "$tmp/cgroup.err")"
		return
	fi
	echo "${all_pids[0]}" >"$cgroup/cgroup.procs"
	echo "${all_pids[1]}" >"$cgroup/below/cgroup.procs"
	filtered "$kind: --cgroup and the cgroups below it" $((4 * turns_each)) --cgroup "$cgroup" "$@"
	((!all)) || filtered "$kind: --cgroup of the one below" $((2 * turns_each)) --cgroup "$cgroup/below" "$@"
	((!all)) || filtered "$kind: --cgroup with -p" $((2 * turns_each)) --cgroup "$cgroup" \
		-p "${all_pids[0]},${all_pids[2]}" "$@"
}
cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/stacktally-test.$$
leave_cgroup() {
	[ ! -d "$cgroup" ] || rmdir "$cgroup/below" "$cgroup" 2>>"$fate"
}
at_exit=leave_cgroup

only=';sc_counted$'
if have_uprobes; then filters "uprobe" function "$calls:sc_counted"; else skip uprobe "$no_uprobes"; fi
only=';syscall$'
filters "tracepoint" getpgid -U t:raw_syscalls:sys_enter
if have_kprobes; then
	filters "kprobe" getpgid -U '*_sys_getpgid'
else
	skip "kprobe$where" "$no_kprobes"
fi

# ---- USDT, with and without a semaphore
if have_uprobes; then
	only=';fire$'
	for program in sc_usdt:sc_two sc_usdt_semaphore:sc_guarded; do
		usdt=$programs/${program%:*} provider=${program#*:}
		all_pids=() all_readings=()
		for i in 0 1 2; do
			begin "$usdt" wait "$turns_each"
			all_pids[i]=$pid all_readings[i]=$reading
		done
		filtered "USDT: -p of one ($provider)" "$turns_each" -p "${all_pids[1]}" \
			-U "u:$usdt:$provider:hit"
		filtered "USDT: -p of two ($provider)" $((2 * turns_each)) \
			-p "${all_pids[1]},${all_pids[0]}" -U "u:$usdt:$provider:hit"
		((!all)) || filtered "USDT: -L ($provider)" "$turns_each" -L "${all_pids[2]}" \
			-U "u:$usdt:$provider:hit"
		((!all)) || filtered "USDT: every process ($provider)" $((3 * turns_each)) -U "u:$usdt:$provider:hit"
		end_three
	done
fi

# ---- --children
if have_uprobes; then
	coproc bash
	shell=$COPROC_PID
	started+=("$shell")
	if attach -p "$shell" --children "$programs/sc_children:sc_work"; then
		echo "'$programs/sc_children' 2 1000; ('$programs/sc_children' 1 10); echo done" >&"${COPROC[1]}"
		read -r -t 60 _ <&"${COPROC[0]}"
		detach
		is "--children: processes that a process starts from now on$where" "$(total "$folded")" 3020
	else
		fail "--children$where" "$(head -n 3 "$err")"
	fi
	rm -f "$folded"
	if attach -p "$shell" "$programs/sc_children:sc_work"; then
		echo "'$programs/sc_children' 2 1000; echo done" >&"${COPROC[1]}"
		read -r -t 60 done <&"${COPROC[0]}"
		detach
		[ "$status" -eq 0 ] && [ "$done" = done ] && [ -e "$folded" ] && [ "$(total "$folded")" -eq 0 ]
		check $? "without --children: none of them$where" "status $status: $(cat "$folded" "$err")"
	else
		fail "without --children$where" "$(head -n 3 "$err")"
	fi
	eval "exec ${COPROC[1]}>&-"
fi

# ---- processes and CPUs that do not exist
fails 1 "-p of no process$where" 'no process 99999999: it has ended, or never was' -D 1 -p 99999999 \
	t:sched:sched_switch
fails 1 "-L of no thread$where" 'no thread 99999999' -D 1 -L 99999999 t:sched:sched_switch
fails 1 "-c of a CPU that does not exist$where" 'CPU 9999 is not online' -D 1 -c 9999 t:sched:sched_switch

# ---- again in a pid namespace, where ids differ from those outside
if [ $# -gt 1 ]; then
	# The program gets the same PID as a process outside. It is the second process from here on,
	# because begin() runs mkfifo first.
	number=$(cat "$2/number")
	if echo $((number - 2)) 2>>"$fate" >/proc/sys/kernel/ns_last_pid &&
		begin "$calls" wait function 10 && [ "$pid" -eq "$number" ]; then
		only=';sc_counted$'
		attach -p "$pid" "$calls:sc_counted"
		: >"$2/turn"
		await 60 test -e "$2/turned"
		turn
		detach
		is "a PID means the process in here, not the one outside" "$(total "$folded")" 10
		end
	else
		skip "a PID means the process in here" \
			"this kernel cannot set the next pid (CONFIG_CHECKPOINT_RESTORE)"
	fi
	finish
fi
if ! unshare --pid --fork --mount-proc true 2>"$tmp/unshare.err"; then
	skip "in a pid namespace" "$(tail -n 1 "$tmp/unshare.err")"
	finish
fi
mkdir "$tmp/space"
begin "$calls" wait function 5000
echo "$pid" >"$tmp/space/number"
unshare --pid --fork --mount-proc bash "$0" "$1" "$tmp/space" &
space=$!
while kill -0 "$space" 2>>"$fate" && [ ! -e "$tmp/space/turn" ]; do sleep 0.05; done
if [ -e "$tmp/space/turn" ]; then
	turn
	: >"$tmp/space/turned"
fi
wait "$space" || failed=1
# From outside, -p means the PID outside, also for a process in a namespace.
unshare --pid --fork --mount-proc "$calls" wait function 5000 >"$tmp/inside" &
started+=($!)
inside() { grep -q ready "$tmp/inside"; }
await 60 inside
inner=$(pgrep -P "$!")
attach -p "$inner" "$calls:sc_counted"
kill -USR1 "$inner"
was_done() { grep -q done "$tmp/inside"; }
await 60 was_done
detach
is "-p means the PID outside for a process in a pid namespace" \
	"$(counted ';sc_outer;sc_middle;sc_counted$' "$folded")" 5000
finish
