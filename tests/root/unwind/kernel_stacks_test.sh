#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel stacks by the kernel's own tables, against its own walk of the same ones:
# kernel_stacks_test.sh BUILD
# timeout: 180
. "$(dirname "$0")/../harness.bash" "$1"
compare=$programs/../kernel_stacks/compare
seconds=$((2 * slow))

# Work of all kinds: system calls, files, processes, page faults, the network's loopback, timers.
cat >"$tmp/work" <<'WORK'
while :; do
	dd if=/dev/zero of="$1/file" bs=64k count=64 conv=fsync
	cat "$1/file" | gzip -1 | wc -c
	find /proc/self /usr/share/doc -maxdepth 2 | head -n 2000 | sort | tail -n 1
	(exec 3<>/dev/udp/127.0.0.1/9; echo hello >&3)
	sleep 0.01
done >"$1/null" 2>&1
WORK
# walks EVENT LEAST [SHARE]: as the kernel does, of at least so many that share without asking it
walks() {
	local event=$1 least=$2 share=${3-0.9} said status events walked
	said=$("$compare" "$seconds" "$event" bash "$tmp/work" "$tmp" 2>&1)
	status=$?
	if [ "$status" -eq 2 ]; then
		case $said in
		*"no tables"*) skip "$event" "this kernel has no ORC tables of a form that is known, or hides where they are" ;;
		*) skip "$event" "$said" ;;
		esac
		return
	fi
	echo "    $said"
	check "$status" "$event: no stack differs" "$said"
	events=$(sed -n 's/^.*: \([0-9]*\) events, .*/\1/p' <<<"$said")
	walked=$(sed -n 's/^.*, \([0-9]*\) walked, .*/\1/p' <<<"$said")
	calculates "${events:-0} >= $least && ${walked:-0} >= $share * ${events:-0}"
	check $? "$event: the kernel is asked for no more than $(awk "BEGIN { print 1 - $share }") of them" "$said"
}
walks clock 100 0.85
# Those have a caller's registers; of faults most are in user code, which has no kernel stack.
walks switches 100
walks faults 0
walks sched/sched_switch 100
# Before Linux 6.4 what goes on in interrupts is asked for.
walks sched/sched_wakeup 100 0
walks raw_syscalls/sys_enter 1000
# Until Linux 6.10 or so such an event has the registers of the system call.
walks syscalls/sys_enter_read 100 0
walks kmem/kmalloc 100
walks kmem/mm_page_alloc 100
walks irq/softirq_entry 20 0
walks timer/hrtimer_expire_entry 20 0
walks exceptions/page_fault_user 100
# While tasks are switched: the stack is not the one of the current task.
walks x86_fpu/x86_fpu_regs_deactivated 100 0
walks block/block_rq_complete 0
finish
