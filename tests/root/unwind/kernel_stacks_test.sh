#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel stacks: our walk by the kernel's ORC tables must equal the kernel's own walk of the same
# stack: kernel_stacks_test.sh BUILD
# timeout: 180
# quiet: allocations of other BPF programs have stacks that only the kernel walks
# kind: callers
. "$(dirname "$0")/../harness.bash" "$1"
compare=$programs/../walks/kernel/compare
seconds=$((2 * slow))

# A workload of many kinds: system calls, files, processes, page faults, the network's loopback,
# timers.
cat >"$tmp/work" <<'WORK'
while :; do
	dd if=/dev/zero of="$1/file" bs=64k count=64 conv=fsync
	cat "$1/file" | gzip -1 | wc -c
	find /proc/self /usr/share/doc -maxdepth 2 | head -n 2000 | sort | tail -n 1
	(exec 3<>/dev/udp/127.0.0.1/9; echo hello >&3)
	sleep 0.01
done >"$1/null" 2>&1
WORK
# since RELEASE SHARE: the share on this release of Linux and later, 0 on older ones
since() {
	if kernel_has "$1"; then echo "$2"; else echo 0; fi
}
# walks EVENT LEAST SHARE: in at least LEAST events (0: some machines have none of them) our walk
# equals the kernel's, and we walk at least SHARE of the stacks ourselves. A stack that we leave to
# the kernel is not compared: if all are, there is nothing to check.
walks() {
	local event=$1 least=$2 share=$3 said status events walked
	said=$("$compare" "$seconds" "$event" bash "$tmp/work" "$tmp" 2>&1)
	status=$?
	if [ "$status" -eq 2 ]; then
		case $said in
		*"no tables"*) skip "$event" "this kernel has no ORC tables in a known format, or hides their addresses" ;;
		*) skip "$event" "$said" ;;
		esac
		return
	fi
	echo "    $said"
	events=$(sed -n 's/^.*: \([0-9]*\) events, .*/\1/p' <<<"$said")
	walked=$(sed -n 's/^.*, \([0-9]*\) walked, .*/\1/p' <<<"$said")
	if [ "$status" -eq 0 ] && [ "$least" -eq 0 ] && [ "$events" = 0 ]; then
		skip "$event" "this machine had no such event during the test"
		return
	fi
	calculates "${events:-0} > 0 && ${events:-0} >= $least"
	check $? "$event: there are enough events" "$said"
	if [ "$status" -eq 0 ] && [ "$share" = 0 ] && [ "$walked" = 0 ]; then
		skip "$event: no stack differs" "all of these stacks are left to this kernel"
		return
	fi
	[ "$status" -eq 0 ] && [ "${walked:-0}" -gt 0 ]
	check $? "$event: no stack differs" "$said"
	[ "$share" = 0 ] && return
	calculates "${events:-0} > 0 && ${walked:-0} >= $share * ${events:-0}"
	check $? "$event: no more than $(awk "BEGIN { print 1 - $share }") of the stacks are left to the kernel" "$said"
}
# On Linux 6.18 all stacks but a few in a thousand are walked, in each of these events. The bound is
# lower for the clock, which interrupts code at any instruction, also where a stack is half changed.
walks clock 100 0.85
walks switches 100 0.9
walks faults 0 0.9 # most page faults are in user code, which has no kernel stack
walks sched/sched_switch 100 0.9
# Before Linux 6.4 stacks of interrupts are left to the kernel.
walks sched/sched_wakeup 100 "$(since 6.4 0.9)"
walks irq/softirq_entry 20 "$(since 6.4 0.9)"
walks timer/hrtimer_expire_entry 20 "$(since 6.4 0.9)"
walks raw_syscalls/sys_enter 1000 0.9
# Before Linux 6.10 or so the event has the registers of the system call, not those of its caller,
# and stacks are left to the kernel.
walks syscalls/sys_enter_read 100 "$(since 6.12 0.9)"
walks kmem/kmalloc 100 0.9
walks kmem/mm_page_alloc 100 0.9
walks exceptions/page_fault_user 100 0.9
# While the scheduler switches tasks, the stack is not the current task's: most of these are left to
# the kernel, but not those of other callers (3 % on Linux 6.18).
walks x86_fpu/x86_fpu_regs_deactivated 100 0
walks block/block_rq_complete 0 0.9 # none where all files are in memory
finish
