# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a thread switch while the time off the CPU is measured. To be mixed into
cases.Cases, whose tools and rounds it uses.
"""
import time

from closing import closing
from measure import BpfStatistics, Failed, program_name
from row import Row

DEPTH = 20
# Keeps the stacks of each thread that leaves its CPU, and adds the time until it is back to them.
AWAY = """
tracepoint:sched:sched_switch {
	if (args->prev_pid) {
		@start[args->prev_pid] = nsecs;
		@kernel[args->prev_pid] = kstack;
		@user[args->prev_pid] = ustack;
	}
	$since = @start[args->next_pid];
	if ($since) {
		@off[@kernel[args->next_pid], @user[args->next_pid]] = sum(nsecs - $since);
		delete(@start[args->next_pid]);
	}
}
"""


class OffCpuCases:
    def off_cpu(self):
        """Two processes on one CPU that wait for each other in turn. Each switch runs the program for
        sched_switch, and ours for sched_wakeup, which bpftrace's script does not need."""
        what = f"two processes that take turns on a CPU, {DEPTH} calls deep"
        note = (f"BPF run time divided by the number of switches of the whole machine; {self.sizes.switches:,} are "
                "those of the two")
        every = Row(f"BPF run time per switch, time off the CPU, --budget=100: {what}", "ns",
                    ratio=(0.6, "bpftrace"), note=note)
        alone = Row("... of ours alone", "ns", 1600)
        frames = Row(f"... with --unwind=fp, as bpftrace: {what}", "ns", ratio=(1.0, "bpftrace"))
        budget = Row(f"... with the budget that is the default: {what}", "ns", ratio=(1.0, "bpftrace"))
        switch = Row("run time of the program for sched_switch, --budget=100", "ns")
        wakeup = Row("run time of the program for sched_wakeup", "ns")
        lost = Row("events lost, --budget=100", "events", 0)
        off_cpu = [self.profile, "-f", "--off-cpu"]

        def ours(row, options):
            run = self.bench.start(off_cpu + options, self.out)
            run.wait_for_bpf()
            time.sleep(1)  # it reads the stacks of sleeping threads
            programs, switches = while_switching(run)
            run.interrupt()
            said = run.finish()["said"]
            each = sum(ns for ns, _ in programs.values()) / switches
            row.add("ours", each)
            return programs, said, each

        def measure(tool):
            if tool == "ours":
                programs, said, each = ours(every, ["--budget", "100"])
                alone.add(tool, each)
                for row, name in ((switch, "on_switch"), (wakeup, "on_wakeup")):
                    ns, runs = programs[name]
                    row.add(tool, ns / runs)
                lost.add(tool, closing(said)[1])
                ours(frames, ["--budget", "100", "--unwind=fp"])
                ours(budget, [])
                return
            run = self.bench.start(["bpftrace", "-e", AWAY], self.out)
            time.sleep(3)  # it does not say when it is ready; the runs counted below show it
            programs, switches = while_switching(run)
            run.stop()
            for row in (every, frames, budget):
                row.add(tool, sum(ns for ns, _ in programs.values()) / switches)

        def while_switching(run):
            before = run.bpf_programs()
            self.bench.repeat("switches", self.sizes.switches, DEPTH)
            programs = {}
            for number, (ns, runs) in run.bpf_programs().items():
                ns_before, runs_before = before.get(number, (0, 0))
                if runs > runs_before:
                    programs[program_name(number)] = (ns - ns_before, runs - runs_before)
            switches = max((runs for _, runs in programs.values()), default=0)
            if switches < self.sizes.switches * 0.99:
                raise Failed(f"{' '.join(run.command)}: its programs ran {programs}, not {self.sizes.switches} times")
            return programs, switches

        with BpfStatistics():
            self.alternate(self.tools("bpftrace"), measure)
        return [every, alone, frames, budget, switch, wakeup, lost]
