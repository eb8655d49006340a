#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tracepoints, raw and through perf events: stackcount_tracepoints_test.sh BUILD
# timeout: 180
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

# Kernel functions that deliver an event to its listeners: never part of a stack.
delivery='(^|;)(___?bpf_prog_run[^;]*|bpf_prog_[^;]*|bpf_trace_run[^;]*|__bpf_trace_[^;]*|__traceiter_[^;]*|perf_trace_[^;]*|perf_syscall_[^;]*)(;|$)'
entry=t:raw_syscalls:sys_enter
path=';main;once;turns;sc_getpgid;syscall'
# is_raw EVENT: whether the stackcount that `attach` started has a raw tracepoint for it, and no
# program for perf's (type 5, BPF_PROG_TYPE_TRACEPOINT), whose refused events a raw one may count
is_raw() {
	grep -qs "^tp_name:.$1\$" "/proc/$counter"/fdinfo/* &&
		! grep -Eqs "^prog_type:.5\$" "/proc/$counter"/fdinfo/*
}

# ---- the leaf is the function with the tracepoint
count -K -f t:sched:sched_switch -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done'
exits "sched_switch is counted" 0
has "... where tasks sleep" ';schedule;__schedule$'
is "... which is the leaf of all stacks" "$(counted ';__schedule$')" "$(total)"
lacks "... without functions that deliver events" "$delivery"

# Few tracepoints are attached through perf; many are attached raw, except where the kernel preempts
# raw programs. The events of cgroups do not occur in the program; those of interrupts would, now
# and then.
cgroup_events='cgroup_([^r]|rm|ren|rel).*'
many=(-r "t:(raw_syscalls|cgroup):(sys_enter\$|$cgroup_events)")
calls_made=$((5000 / slow))
preempted() {
	grep -q tracepoint_srcu_srcu_data /sys/kernel/btf/vmlinux && grep -q tracepoint_ext /sys/kernel/btf/vmlinux
}
# counts_calls NAME: the stackcount that is attached counts each call, with its callers
counts_calls() {
	local name=$1
	turn
	detach
	is "$name: each call is counted" "$(counted "$path;" "$folded")" "$calls_made"
	kernel=$(grep -o "$path;.*" "$folded")
	leaf=${kernel##*;}
	[[ $leaf == *syscall* ]] && ! grep -Eq "$delivery" "$folded"
	check $? "... the leaf is the function that enters system calls" "$kernel"
}
# frames [FILE]: the frames of the hottest stack, one on a line
frames() { hottest "${1-$out}" | sed 's/ [0-9]*$//' | tr ';' '\n' | sed '1d; /^\[truncated\]$/d'; }
# keeps_it_whole PATTERN...: the same stack in a recording, with --max-depth and with --unwind
keeps_it_whole() {
	local n depth unwind
	count --from "$tmp/alone.stacktally" -f
	is "... and in a recording the stacks are the same" "$(sed 's/^[^;]*//' "$out" | sort)" \
		"$(sed 's/^[^;]*//' "$folded" | sort)"
	lacks "... and no others" "$delivery"
	sed "s/.*$path;/;/" <<<"$kernel" >"$tmp/kernel"
	n=$(frames "$tmp/kernel" | wc -l)
	for depth in 1 $((n - 1)) "$n"; do
		attach -K -p "$pid" --max-depth "$depth" "$@"
		turn
		detach
		is "--max-depth $depth keeps $depth frames of it" "$(frames "$folded")" \
			"$(frames "$tmp/kernel" | tail -n "$depth")"
	done
	for unwind in fp none; do
		attach -U --unwind="$unwind" -p "$pid" "$@"
		turn
		detach
		case $unwind in
		fp) is "--unwind=fp" "$(counted ';main;once;turns;(sc_getpgid;)?syscall$' "$folded")" "$calls_made" ;;
		none) is "--unwind=none" "$(counted '^[^;]*;syscall$' "$folded")" "$calls_made" ;;
		esac
	done
}
# counts_beside_others PATTERN...: the same counts while another stackcount counts these events
counts_beside_others() {
	local other n
	"$stackcount" -K -p "$pid" -o - -o "$tmp/other.folded" --format text --format folded "$@" \
		>"$tmp/other" 2>&1 &
	other=$!
	started+=("$other")
	await 60 grep -q '^Tracing' "$tmp/other"
	attach -p "$pid" "$@"
	turn
	kill -INT "$other"
	wait "$other"
	turn
	detach
	is "the same is counted while another one counts" "$(counted "$path;" "$folded")" $((2 * calls_made))
	is "... as the same stack" "$(grep -o "$path;.*" "$folded" | sed 's/ [0-9]*$//')" \
		"$(sed 's/ [0-9]*$//' <<<"$kernel")"
	n=$(counted "^[^;]*$(sed 's/ [0-9]*$//' <<<"${kernel#"$path"}")\$" "$tmp/other.folded")
	[ "$n" -ge "$calls_made" ]
	check $? "... by the other one, too" "$n of $calls_made: $(tail -n 3 "$tmp/other.folded")"
	is "... with the same leaf" "$(counted ";$(sed 's/ [0-9]*$//' <<<"$leaf")\$" "$tmp/other.folded")" \
		"$(total "$tmp/other.folded")"
	[ "$(counted ';' "$tmp/other.folded")" -ge "$calls_made" ] && ! grep -Eq "$delivery" "$tmp/other.folded" "$folded"
	check $? "... and without functions that deliver events" "$(cat "$tmp/other.folded")"
}
# counts_threads PATTERN...: on a kernel that preempts its tasks, some are preempted while they are
# counted
counts_threads() {
	begin "$calls" wait getpgid "$calls_made" $((cpus * 8))
	attach -U -p "$pid" "$@"
	turn
	detach
	is "eight threads on each CPU" "$(counted ';turns;sc_getpgid;syscall$' "$folded")" \
		$((calls_made * cpus * 8))
	end
}

begin "$calls" wait getpgid "$calls_made"
attach -p "$pid" -o "$tmp/alone.stacktally" "$entry"
! is_raw sys_enter
check $? "one tracepoint is attached through perf" "$(grep -hs tp_name "/proc/$counter"/fdinfo/*)"
counts_calls "through perf"
keeps_it_whole "$entry"
counts_beside_others "$entry"
end
counts_threads "$entry"

begin "$calls" wait getpgid "$calls_made"
attach -p "$pid" -o "$tmp/alone.stacktally" "${many[@]}"
if preempted; then
	! is_raw sys_enter
	check $? "many are, too, where raw programs are preempted" "$(grep -hs tp_name "/proc/$counter"/fdinfo/*)"
else
	is_raw sys_enter
	check $? "many are attached raw" "$(head -n 2 "$out" "$err"; grep -hs tp_name "/proc/$counter"/fdinfo/*)"
fi
counts_calls "many"
keeps_it_whole "${many[@]}"
counts_beside_others "${many[@]}"
end
counts_threads "${many[@]}"

# ---- the kernel shows no event to a program while another BPF program runs on that CPU
if kernel_has 6.7; then
	dd if=/dev/zero of=/dev/null bs=1 2>>"$fate" &
	started+=("$!")
	"$stackcount" -K -D 60 t:raw_syscalls:sys_enter >"$tmp/other" 2>&1 &
	started+=("$!")
	await 60 grep -q '^Tracing' "$tmp/other"
	count -K -D $((2 * slow)) -o "$tmp/unseen.stacktally" t:timer:hrtimer_expire_entry
	says "events that were not seen are reported" '^WARNING: [1-9][0-9]* events, of any process, were not seen'
	kill -KILL "${started[@]: -2}"
	count --from "$tmp/unseen.stacktally" --format json
	says "... and in the recording" '^WARNING: [1-9][0-9]* events, of any process, were not seen'
	says "... and in JSON" '"unseen":[1-9]' "$out"
else
	skip "events that were not seen are reported" "this kernel does not count them"
fi

# ---- kernel stacks that are deeper than most
# keeps_roots NAME PATTERN...: the stack of a wakeup through five nested epolls is whole
keeps_roots() {
	local deepest
	count -f -K "${@:2}" -- "$programs/sc_deep_kernel" 200
	grep -E '(;ep_poll_callback.*){5}' "$out" >"$tmp/deep"
	deepest=$(awk -F';' 'NF - 1 > most { most = NF - 1 } END { print most + 0 }' "$tmp/deep")
	calculates "$deepest > 48"
	check $? "$1: a stack of more than 48 frames" "$deepest; $(tail -n 2 "$err" "$tmp/deep")"
	! grep -Ev '^[^;]*;(entry_SYSCALL_64|asm_)' "$tmp/deep" >"$tmp/cut"
	check $? "... begins where the kernel was entered" "$(head -n 3 "$tmp/cut")"
}
keeps_roots "through perf" t:sched:sched_waking
keeps_roots "many" -r 't:sched:.*'
if have_kprobes; then
	keeps_roots "a function" try_to_wake_up
else
	skip "deep stacks of a function" "$no_kprobes"
fi

# ---- events that have no raw form
begin "$calls" wait getpgid "$calls_made"
count -q -D 0.1 t:syscalls:sys_enter_getpgid
if [ "$status" -eq 0 ]; then
	attach -p "$pid" t:syscalls:sys_enter_getpgid
	! is_raw sys_enter_getpgid
	check $? "a single system call's event is attached through perf" "$(cat "/proc/$counter/fdinfo/"*)"
	turn
	detach
	is "... and counts each call" "$(counted "$path(;|\$)" "$folded")" "$calls_made"
	! grep -Eq "$delivery" "$folded"
	check $? "... without functions that deliver events" "$(tail -n 2 "$folded")"
	attach -p "$pid" -r "t:((raw_)?syscalls|cgroup):(sys_enter(_getpgid)?\$|$cgroup_events)"
	! is_raw sys_enter
	check $? "with such an event among many, all are attached through perf" "$(cat "/proc/$counter/fdinfo/"*)"
	turn
	detach
	is "... and each call is counted twice" "$(counted "$path(;|\$)" "$folded")" $((2 * calls_made))
	! grep -Eq "$delivery" "$folded"
	check $? "... without functions that deliver events" "$(tail -n 2 "$folded")"
else
	skip "events of single system calls" "this kernel has none (CONFIG_FTRACE_SYSCALLS)"
fi
end

# ---- of an interpreted program: what walks it is loaded once one is met, if the kernel takes it
python=/usr/bin/python3
if [ -x "$python" ]; then
	count -f t:sched:sched_switch -- "$python" -c 'import time
def naps():
    for i in range(400):
        time.sleep(0.01)
naps()'
	has "the functions of a Python program that is put to sleep" ';naps \(<string>\);.*schedule'
	[ "$(grep -c 'interpreted programs' "$err")" -eq 0 ]
	check $? "... without a warning" "$(grep 'interpreted programs' "$err")"
else
	skip "functions of a Python program" "there is no $python"
fi

# ---- a dynamic event with the name of a tracepoint
tracing=$tmp/tracing
mkdir "$tracing" && mount -t tracefs none "$tracing"
unmake() {
	echo '-:stacktally_test/sys_enter' >>"$tracing/uprobe_events"
	umount "$tracing"
} 2>>"$fate"
at_exit=unmake
# From the address of a function to its offset in the file.
read -r place _ < <(nm "$calls" 2>>"$fate" | grep ' sc_counted$')
offset=
while read -r _ from at _ size _; do
	((0x${place:-0} >= at && 0x${place:-0} < at + size)) && offset=$((0x$place - at + from))
done < <(readelf -lW "$calls" 2>>"$fate" | grep '^ *LOAD')
if [ ! -e "$tracing/uprobe_events" ]; then
	skip "dynamic events" "this kernel has no user probes in tracefs"
elif [ -z "$offset" ]; then
	skip "dynamic events" "there are no nm and readelf"
elif echo "p:stacktally_test/sys_enter $(readlink -f "$calls"):$(printf %#x "$offset")" >>"$tracing/uprobe_events"; then
	# The kernel attaches no BPF program of this type to it, and it is not the tracepoint of the
	# same name.
	count -D 0.1 t:stacktally_test:sys_enter
	[ "$status" -eq 1 ] && grep -q 'none of the 1 matches can be traced: stacktally_test:sys_enter' "$err"
	check $? "a dynamic event is not the tracepoint of the same name" \
		"exit status $status: $(cat "$err")"
	begin "$calls" wait getpgid 700
	attach -U -p "$pid" 't:*:sys_enter'
	turn
	detach
	is "both by one pattern: the tracepoint is counted" "$(counted "$path\$" "$folded")" 700
	says "... and the dynamic event is left out" '1 match left out: stacktally_test:sys_enter'
	end
else
	fail "a dynamic event can be made" "$offset of $calls"
fi
finish
