#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The BPF programs need no more stack than kernels before 6.2 give: bpf_stack_test.sh BUILD
. "$(dirname "$0")/../check.bash"
here=$(dirname "$0")
for object in stacktally interpreted; do
	chains=$(python3 "$here/bpf_stack.py" "$1/$object.bpf.o" | sort -rn)
	[ "$(wc -l <<<"$chains")" -gt 20 ]
	check $? "$object: the programs are found" "$(wc -l <<<"$chains") of them"
	read -r bytes _ <<<"$chains"
	[ "$bytes" -gt 256 ] && [ "$bytes" -le 512 ]
	check $? "$object: at most 512 bytes of stack" "$(head -n 1 <<<"$chains")"
	deepest=$(sort -rnk 2 <<<"$chains" | head -n 1)
	read -r _ functions _ <<<"$deepest"
	[ "$functions" -gt 4 ] && [ "$functions" -le 8 ]
	check $? "$object: at most 8 functions call each other" "$deepest"
done
exit $failed
