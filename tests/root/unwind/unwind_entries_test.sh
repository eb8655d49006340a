#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# User stacks begin with the right registers, for each way into the kernel; and each --unwind mode:
# unwind_entries_test.sh BUILD
# timeout: 240
# kind: callers
. "$(dirname "$0")/../stackcount.bash" "$1"
probed=$programs/sampled/probed
odd=$programs/sampled/odd_stacks
base='_start;__libc_start_main;__libc_start_call_main;main;'
[ ! -e /proc/$$/autogroup ] || echo -15 >/proc/$$/autogroup

# whole NAME REGEX: nearly all samples in $out have that stack. A process that has just begun has no
# tables for an instant, in which some events may have thousands of samples.
whole() {
	local all of
	all=$(total)
	of=$(counted "$2")
	calculates "$all >= 50 && $of >= 0.97 * $all"
	check $? "$1" "$of of $all; $(sort -k2 -n -t' ' "$out" | tail -n 3 | cut -c 1-300) $(tail -n 3 "$err")"
}
# events NAME REGEX EVENT PROGRAM...: stackcount counts events of a program that runs already
events() {
	begin "${@:4}" || return
	count -U -f --debug -D 1 -p "$pid" "$3"
	end
	whole "$1" "$2"
}
events "tracepoint of a system call" "^[^;]*;${base}outer;middle;(__)?getppid$" \
	t:syscalls:sys_enter_getppid "$probed"
events "tracepoint at a system call's end" "^[^;]*;${base}outer;middle;(__)?getppid$" \
	t:syscalls:sys_exit_getppid "$probed"
# 900 frames of 7 words: in one of each 512 what it saves side by side lies in two pages.
count -U -f t:syscalls:sys_enter_getppid -- "$programs/unaligned_stack" 900 200
downs=$(printf 'down;%.0s' {1..901})
whole "a stack that is aligned to 8 bytes" "^[^;]*;${base}${downs}(__)?getppid$"
if have_uprobes; then
	events "user probe on a function" "^[^;]*;${base}outer;middle;target$" "$probed:target" "$probed"
	events "user probe on a library's function" "^[^;]*;${base}outer;middle;(__)?getppid$" \
		c:getppid "$probed"
	events "USDT" "^[^;]*;${base}outer;middle;target$" "u:$probed:target" "$probed"
else
	skip "user probes" "$no_uprobes"
fi
if have_kprobes; then
	events "kernel probe below page faults" "^[^;]*;${base}enter$" handle_mm_fault "$odd" kernel
else
	skip "kernel probe below page faults" "$no_kprobes"
fi
events "functions of makecontext() begin at its stub" "^odd_stacks;__start_context;fiber(;switch_to)?;swapcontext$" \
	t:syscalls:sys_enter_rt_sigprocmask "$odd" fibers
events "page faults" "^[^;]*;${base}enter$" t:exceptions:page_fault_user "$odd" kernel

# sampled NAME REGEX OPTION...: profile samples a program that runs already
sampled() {
	begin "$odd" kernel || return
	measure -U -f -v -p "$pid" "${@:3}" "$((slow > 1 ? 3 : 1))"
	end
	whole "$1" "$2"
}
sampled "the clock: user code, interrupts, system calls" "^odd_stacks;${base}enter(;|$)" -F 499
sampled "page faults as a sampled event" "^odd_stacks;${base}enter$" -e page-faults -c 20
sampled "--unwind=cfi" "^odd_stacks;${base}enter(;|$)" --unwind=cfi -F 499
sampled "--unwind=none: a frame each" '^odd_stacks;[^;]*$' --unwind=none -F 499
# This program spends most of its time in the copy of the instruction that the probe replaced.
if have_uprobes; then
	begin "$odd"
	attach -U -p "$pid" "$odd:compare"
	measure -F 499 -U -f -v -p "$pid" 1
	# Checked before stackcount's last messages, which go to the same file.
	says "in a copy of a probed instruction, stacks are complete" '^user stacks: [0-9]{3,}, (99|100)\.'
	detach
	end
else
	skip "in a copy of a probed instruction" "$no_uprobes"
fi
# This program keeps no frame pointers, and no stack may be called complete.
sampled "--unwind=fp samples a program without frame pointers" '^odd_stacks' --unwind=fp -F 499
calculates "$(counted "^odd_stacks;${base}enter") == 0"
check $? "--unwind=fp does not find the callers" "$(hottest)"
says "--unwind=fp calls no stack complete" '^user stacks: [0-9]{2,}, 0.00 % complete'

# Generated code, and the built-in functions of V8, are walked by frame pointer, but not with
# --unwind=cfi.
if type -P node >>"$fate"; then
	measure -F 499 -U -v --format json -o "$tmp/node.json" --format recording -o "$tmp/node.rec" \
		-- timeout -s KILL $((2 * slow)) node tests/workloads/sampled/kinds.js
	grep -q '"name":"Builtins_.*"frame_pointer":true' "$tmp/node.json"
	check $? "frames found by frame pointer are marked" "$(grep -c frame_pointer "$tmp/node.json")"
	grep -q '"module":"libc.so.6"' "$tmp/node.json" &&
		! grep -q '"module":"libc.so.6".*"frame_pointer":true' "$tmp/node.json"
	check $? "frames found by call frame information are not" \
		"$(grep '"module":"libc.so.6".*"frame_pointer":true' "$tmp/node.json" | head -n 3)"
	"$profile" --from "$tmp/node.rec" --format json 2>>"$fate" | grep -q '"frame_pointer":true'
	check $? "a recording keeps the marks" "none"
	measure -F 499 -U -f -v --unwind=cfi -- timeout -s KILL $((2 * slow)) node tests/workloads/sampled/kinds.js
	says "--unwind=cfi follows no frame pointer, and says so" ' ended for: no CFI, '
else
	skip "frames found by frame pointer" "no node"
fi
finish
