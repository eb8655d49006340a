# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark cases: each yields rows of numbers, ours beside the peers'.

Has the command lines; measure.py runs them, document.py shows the rows. In each round ours runs
first, then each peer.
"""
import os
import re
import shutil
import subprocess
import time

from container_cases import ContainerCases
from cost_cases import CostCases
from interpreter_cases import InterpreterCases
from closing import lost_of
from measure import BpfStatistics, Failed
from footprint_cases import FootprintCases
from memory_cases import MemoryCases
from off_cpu_cases import OffCpuCases
from otel_cases import OtelCases
from row import Row
from unwind_cases import DEBIANS_PYTHON, PYTHON, UnwindCases
from process_cases import ProcessCases

COUNT = "{ @[kstack, ustack] = count(); }"
EARLIER = "earlier"  # another build of ours
OF_EVENTS = ["tracepoints", "uprobes"]  # the cases that can be compared with it


class Cases(UnwindCases, InterpreterCases, ProcessCases, ContainerCases, OffCpuCases, MemoryCases, OtelCases,
            CostCases, FootprintCases):
    def __init__(self, bench, sizes, peers, otel=None, earlier=None):
        """`otel`: the path of the OpenTelemetry profiler, if it is one of the peers; `earlier`: that of a build."""
        self.bench, self.sizes, self.peers, self.otel, self.earlier = bench, sizes, peers, otel, earlier
        self.rounds = sizes.rounds
        self.failures = []
        self.profile = os.path.join(bench.build, "profile")
        self.stackcount = os.path.join(bench.build, "stackcount")
        self.out = bench.path("out")

    def tools(self, *wanted):
        return ["ours"] + [tool for tool in wanted if tool in self.peers]

    def alternate(self, tools, measure):
        """Calls measure(tool) for each tool in each round; notes failures and continues."""
        for _ in range(self.rounds):
            for tool in tools:
                try:
                    measure(tool)
                except Failed as failure:
                    self.failed(f"{tool}: {failure}")

    def failed(self, why):
        self.failures.append(why)
        print(f"    FAILED {why}", flush=True)

    # ---- one run of a second

    def second(self):
        wall = Row("wall time of a 1 s run of the whole machine, report included", "ms", 1060)
        rss = Row("peak RSS of that run", "MB", 15)
        cpu = Row("CPU time of that run", "ms")
        armed = Row("exec to the title, printed once the last event is enabled", "ms", 40)
        data = self.bench.path("perf.data")
        commands = {
            "ours": [self.profile, "1"],
            "bpftrace": ["bpftrace", "-e", "profile:hz:49 { @[kstack, ustack, comm] = count(); } "
                         "interval:s:1 { exit(); }"],
            "perf": ["sh", "-c", f"perf record -q -N -a -g -F 49 -o {data} sleep 1 && "
                     f"perf report -i {data} --stdio"],
        }

        def measure(tool):
            result = self.bench.run(commands[tool], self.out)
            wall.add(tool, result["wall"])
            cpu.add(tool, result["user"] + result["system"])
            rss.add(tool, result["rss"] * 1024 / 1e6)
            if tool == "ours":
                armed.add(tool, result["first"])

        self.alternate(self.tools("bpftrace", "perf"), measure)
        return [armed, wall, cpu, rss]

    def armed(self):
        """Exec to the last enabled event, as strace sees it; it stops only at the calls it is told."""
        row = Row("exec to the last PERF_EVENT_IOC_ENABLE, under strace --seccomp-bpf", "ms")
        commands = {
            "ours": [self.profile, "-q", "0.2"],
            "bpftrace": ["bpftrace", "-e", f"profile:hz:49 {COUNT} interval:ms:200 {{ exit(); }}"],
        }
        if not shutil.which("strace"):
            print("    MISSING: strace, so that this is not measured", flush=True)
            return []

        def measure(tool):
            trace = self.bench.path("strace")
            self.bench.run(["strace", "-f", "--seccomp-bpf", "-ttt", "-o", trace, "-e",
                            "trace=execve,ioctl"] + commands[tool], self.out)
            with open(trace, errors="replace") as lines:
                text = lines.read()
            started = re.search(r"([\d.]+) execve", text)
            enabled = re.findall(r"([\d.]+) ioctl\(\d+, PERF_EVENT_IOC_ENABLE", text)
            if started and enabled:
                # The clock's own events: bpftrace opens those of interval:ms after them.
                row.add(tool, (float(enabled[-1]) - float(started[1])) * 1e3)

        self.alternate(self.tools("bpftrace"), measure)
        return [row]

    # ---- what a sample costs

    def samples(self):
        """With frame pointers, as the peers, and with unwinding tables, the default."""
        return [self.sample(kind, what, mode) for kind, what in (
            ("deep", "60 calls deep, spinning"), ("syscalls", "system calls"),
            ("mixed", "spinning, system calls and page faults")) for mode in ("fp", "auto")]

    def sample(self, kind, what, mode):
        row = Row(f"BPF run time per sample at 997 Hz, --unwind={mode}: {what}", "ns",
                  ratio=(0.8, "bpftrace") if mode == "fp" else None)
        commands = {
            "ours": [self.profile, "-q", "-f", "-F", "997", f"--unwind={mode}"],
            "bpftrace": ["bpftrace", "-e", f"profile:hz:997 {COUNT}"],
        }

        def measure(tool):
            run = self.bench.start(commands[tool], self.out)
            run.wait_for_bpf()
            before = run.bpf()
            time.sleep(self.sizes.seconds)
            after = run.bpf()
            run.stop()
            if after[1] > before[1]:
                row.add(tool, (after[0] - before[0]) / (after[1] - before[1]))

        with BpfStatistics(), self.bench.busy(kind):
            self.alternate(self.tools("bpftrace"), measure)
        return row

    # ---- the report

    def report(self):
        total = Row(f"report of {self.sizes.stacks:,} stacks of 30 frames: profile --from FILE, folded, to "
                    "/dev/null", "ms", 1000)
        cpu = Row("CPU time of that report", "ms")
        rss = Row("peak RSS of that report", "MB", 300)
        recording = self.bench.path("big.stacktally")
        subprocess.run([os.path.join(self.bench.build, "bench", "report_speed"), "make",
                        recording, str(self.sizes.stacks)], check=True)
        fd = os.open(recording, os.O_RDONLY)
        os.fsync(fd)  # pending writes would disturb the measurement
        os.close(fd)

        def measure(tool):
            result = self.bench.run([self.profile, "--from", recording, "-q", "-o", os.devnull,
                                     "--format", "folded"])
            total.add(tool, result["wall"])
            cpu.add(tool, result["user"] + result["system"])
            rss.add(tool, result["rss"] * 1024 / 1e6)

        self.alternate(["ours"], measure)
        os.unlink(recording)
        return [total, cpu, rss]

    # ---- stackcount

    def tracepoints(self):
        rows = self.tracepoint("raw_syscalls", "sys_enter", "getppid", self.sizes.events)
        return rows + self.tracepoint("sched", "sched_switch", "switches", self.sizes.events)

    def tracer(self, tool, event, probe):
        if tool == "ours":
            return [self.stackcount, probe]
        if tool == EARLIER:
            return [os.path.join(self.earlier, "stackcount"), probe]
        if tool == "bpftrace":
            return ["bpftrace", "-e", f"{event} {COUNT}"]
        return ["perf", "record", "-q", "-a", "-g", "-e", event, "-o", os.devnull]

    def while_traced(self, tool, command, kind, times):
        """ns per event while traced, ns of BPF run time per event, and the tool's messages."""
        run = self.bench.start(command, self.out)
        if tool in ("ours", EARLIER):
            run.wait_for_words(self.out, "Hit Ctrl-C")
        else:
            time.sleep(3)  # neither says when it is ready; the runs counted below show it
        before = run.bpf()
        cost = self.bench.repeat(kind, times)
        after = run.bpf()
        said = ""
        if tool in ("ours", EARLIER):
            run.interrupt()
            said = run.finish()["said"]
        else:
            run.stop()
        runs = after[1] - before[1]
        if tool != "perf" and runs < times * 0.99:
            raise Failed(f"{' '.join(command)}: its program ran {runs} times, not {times}")
        return cost, (after[0] - before[0]) / runs if runs else None, said

    def tracepoint(self, category, name, kind, times):
        what = f"{category}:{name}, {times:,} events, both stacks"
        bpf = Row(f"BPF run time per event: {what}", "ns", ratio=(1.0, "bpftrace"))
        whole = Row(f"added time per event: {what}", "ns", ratio=(1.0, "the better"))
        lost = Row(f"events lost: {what}", "events", 0)
        events = {"ours": f"t:{category}:{name}", "bpftrace": f"tracepoint:{category}:{name}",
                  "perf": f"{category}:{name}", EARLIER: ""}

        def measure(tool):
            bare = self.bench.repeat(kind, times)
            cost, run_time, said = self.while_traced(
                tool, self.tracer(tool, events[tool], events["ours"]), kind, times)
            whole.add(tool, cost - bare)
            if run_time:
                bpf.add(tool, run_time)
            if tool == "ours":
                lost.add(tool, lost_of(said, times))

        with BpfStatistics():
            self.alternate(self.tools("bpftrace", "perf", EARLIER), measure)
        return [bpf, whole, lost]

    def uprobes(self):
        # A call takes 5 to 30 us by the machine: the loop is run in as many parts as there are rounds.
        calls = self.sizes.calls // self.rounds
        what = f"uprobe, a loop of {calls * self.rounds:,} calls in {self.rounds} parts, both stacks"
        bpf = Row(f"BPF run time per call: {what}", "ns", ratio=(1.0, "bpftrace"))
        whole = Row(f"added time per call: {what}", "ns", ratio=(1.0, "the better"))
        lost = Row(f"events lost: {what}", "events", 0)
        path = os.path.abspath(self.bench.workload)
        events = {"ours": f"{path}:measured_call", "bpftrace": f"uprobe:{path}:measured_call",
                  "perf": "probe_workload:measured_call", EARLIER: ""}
        tools = self.tools("bpftrace", "perf", EARLIER)
        if "perf" in tools and subprocess.run(["perf", "probe", "-q", "-x", path, "measured_call"],
                                              capture_output=True).returncode:
            print("    MISSING: perf cannot make a uprobe here", flush=True)
            tools.remove("perf")

        def measure(tool):
            bare = self.bench.repeat("calls", calls)
            cost, run_time, said = self.while_traced(
                tool, self.tracer(tool, events[tool], events["ours"]), "calls", calls)
            whole.add(tool, cost - bare)
            if run_time:
                bpf.add(tool, run_time)
            if tool == "ours":
                lost.add(tool, lost_of(said, calls))

        try:
            with BpfStatistics():
                self.alternate(tools, measure)
        finally:
            if "perf" in tools:
                subprocess.run(["perf", "probe", "-q", "-d", "probe_workload:measured_call"],
                               capture_output=True)
        return [bpf, whole, lost]

    def stackcount_second(self):
        wall = Row("wall time of stackcount -D 1 t:sched:sched_switch", "ms", 1060,
                   note="started half a second after the run before; the kernel detaches that "
                        "one for 0.1 s, and would delay the next")
        rss = Row("peak RSS of that run", "MB", 15)

        def measure(tool):
            time.sleep(0.5)
            result = self.bench.run([self.stackcount, "-D", "1", "t:sched:sched_switch"], self.out)
            wall.add(tool, result["wall"])
            rss.add(tool, result["rss"] * 1024 / 1e6)

        self.alternate(["ours"], measure)
        return [wall, rss]

    # ---- overhead

    def overhead(self):
        """With all CPUs busy in user and kernel code, and with one python3 running."""
        seconds = self.sizes.overhead_seconds
        row = Row(f"overhead of {seconds} s at 99 Hz on a busy machine: CPU time and BPF run time, "
                  "start and report included", "% of a core",
                  note="perf samples in the kernel, and no process's time has that part")
        busy = Row(f"kernel side of that, for each CPU: BPF run time of {seconds} s at 99 Hz",
                   "% of a core", 0.1, note="all CPUs are busy")
        one = Row(f"kernel side of {seconds} s at 99 Hz where one python3 runs", "% of a core", 0.1)
        data = self.bench.path("perf.data")
        commands = {
            "ours": [self.profile, "-q", "-F", "99", str(seconds)],
            "bpftrace": ["bpftrace", "-e", f"profile:hz:99 {COUNT} interval:s:{seconds} {{ exit(); }}"],
            "perf": ["sh", "-c", f"perf record -q -N -a -g -F 99 -o {data} sleep {seconds} && "
                     f"perf report -i {data} --stdio"],
        }

        def measure(tool, kernel):
            run = self.bench.start(commands[tool], self.out)
            in_kernel, deadline = 0, time.monotonic() + seconds - 1
            if tool != "perf":
                run.wait_for_bpf()
                time.sleep(max(0, deadline - time.monotonic()))
                in_kernel = run.bpf()[0] / 1e6
                cpus = os.cpu_count() if kernel is busy else 1
                kernel.add(tool, in_kernel / ((seconds - 1) * 1000 * cpus) * 100)
            result = run.finish()
            if kernel is busy:
                row.add(tool, (result["user"] + result["system"] + in_kernel) / (seconds * 1000) * 100)

        rounds, self.rounds = self.rounds, min(self.rounds, 3)
        with BpfStatistics():
            with self.bench.busy("mixed"):
                self.alternate(self.tools("bpftrace", "perf"), lambda tool: measure(tool, busy))
            with self.bench.beside([DEBIANS_PYTHON, "-c", PYTHON], 1):
                self.alternate(self.tools("bpftrace"), lambda tool: measure(tool, one))
        self.rounds = rounds
        return [row, busy, one]


# What --only takes, in the order they are run.
NAMES = ["second", "armed", "samples", "report", "tracepoints", "uprobes", "stackcount_second",
         "off_cpu", "memory", "overhead", "costs", "frames", "python_samples", "functions", "dwarf", "compile_rows", "processes",
         "many_processes", "exec_storm", "container_names", "growth", "footprint",
         "names", "names_share", "stock_names"]
