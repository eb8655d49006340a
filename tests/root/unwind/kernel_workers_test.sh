#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads that the kernel makes for a process, as io_uring's workers, have kernel frames only: a report
# of stacks that begin with an unknown frame of user space: kernel_workers_test.sh BUILD
# timeout: 60
# kind: callers
. "$(dirname "$0")/../harness.bash" "$1"

worker=$programs/kernel_worker
case $(timeout 2 "$worker") in
refused) skip "the kernel's workers" "io_uring is refused here" && finish ;;
esac
begin "$worker" || finish
# Before Linux 5.12 the worker is a thread of the kernel, not of the process.
if [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ]; then
	skip "the kernel's workers" "they are threads of the kernel here"
	end
	finish
fi
for mode in auto fp; do
	measure -f -F 499 --unwind=$mode -p "$pid" 1
	has "--unwind=$mode: the worker's kernel frames are there" "^iou-sqp-[0-9]*;io_sq_thread|^iou-sqp-[0-9]*;ret_from_fork"
	lacks "--unwind=$mode: it has no user stack" 'unwind:|unknown'
done
measure -U -f -v -F 499 -p "$pid" 1
[ "$(counted '^iou-sqp-[^;]*;')" -eq 0 ]
check $? "of user stacks it has none" "$(head -n 3 "$out")"
end
finish
