#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a switch of threads costs under `profile --off-cpu`, beside bpftrace.

  bench/off_cpu_cost.py BUILD [ROUNDS]

Two threads of `perf bench sched pipe` take turns on one CPU, each switch with a user and a kernel
stack of some eight frames. In each round profile measures them with and without a budget, and then
bpftrace with a script of its own that takes both stacks at sched_switch and adds up times by stack.
The kernel counts the programs' time (kernel.bpf_stats_enabled). Prints medians in ns for each
switch, with wake-ups. Needs root, perf, bpftool and bpftrace.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SECONDS = 3
SCRIPT = """
tracepoint:sched:sched_switch
{
	if (args->prev_pid != 0) {
		@out[args->prev_pid] = nsecs;
		@kernel[args->prev_pid] = kstack;
		@user[args->prev_pid] = ustack;
	}
	if (@out[args->next_pid]) {
		@off[@kernel[args->next_pid], @user[args->next_pid], args->next_comm] =
			sum(nsecs - @out[args->next_pid]);
		delete(@out[args->next_pid]);
	}
}
"""
LOAD = ["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", "1000000000"]


def programs(names):
    """Runs and ns of each BPF program with one of these names."""
    shown = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, check=True)
    return {p["name"]: (p["run_cnt"], p["run_time_ns"]) for p in json.loads(shown.stdout)
            if p.get("name") in names and p.get("run_cnt")}


def cost(command, names):
    """ns for each switch of a command whose programs have these names, that of switches first."""
    with tempfile.TemporaryFile() as out, \
            subprocess.Popen(command, stdout=out, stderr=out) as running:
        time.sleep(SECONDS / 2)
        before = programs(names)
        time.sleep(SECONDS / 3)
        after = programs(names)
        running.terminate()
    runs, spent = (sum(after[n][i] - before.get(n, (0, 0))[i] for n in after
                       if i == 1 or n == names[0]) for i in (0, 1))
    return spent / runs


def main():
    build = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    profile = [f"{build}/profile", "--off-cpu", "-f"]
    ours = ("on_switch", "on_wakeup")
    commands = {
        "profile --off-cpu --budget 100": (profile + ["--budget", "100", str(SECONDS)], ours),
        "profile --off-cpu": (profile + [str(SECONDS)], ours),
        "bpftrace": (["bpftrace", "-e", SCRIPT], ("sched_switch",)),
    }
    found = {name: [] for name in commands}
    subprocess.run(["sysctl", "-q", "kernel.bpf_stats_enabled=1"], check=True)
    with subprocess.Popen(LOAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          process_group=0) as load:
        try:
            for _ in range(rounds):
                for name, (command, names) in commands.items():
                    found[name].append(cost(command, names))
        finally:
            os.killpg(load.pid, 15)
            subprocess.run(["sysctl", "-q", "kernel.bpf_stats_enabled=0"], check=True)
    for name, costs in found.items():
        median = statistics.median(costs)
        share = median / statistics.median(found["bpftrace"])
        print(f"{name}: {median:.0f} ns a switch, {share:.2f} of bpftrace's "
              f"({min(costs):.0f} to {max(costs):.0f})")


if __name__ == "__main__":
    main()
