# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of walking stacks by unwinding tables, beside frame pointers and `perf record
--call-graph dwarf`. To be mixed into cases.Cases, whose tools and rounds it uses.
"""
import ctypes
import glob
import mmap
import os
import re
import shutil
import subprocess
import sys
import time

from measure import BpfStatistics, Failed
from row import Row

SHALLOW, DEEP = 20, 120
DEEP_SMALL = 97  # of 100 functions
DWARF_HZ = 997
BYTES_OF_A_COUNT = 24  # a key of 16 and its count, read from the table

DEBIANS_PYTHON = "/usr/bin/python3"
PYTHON = r"""
import hashlib, json, re, zlib
words = re.compile(r"(\w+)-(\d+)")
def visit(tree, depth):
    return depth and 1 + visit(tree, depth - 1) or sum(len(v) for v in tree.values())
while True:
    tree = {f"key-{i}": list(range(i % 20)) for i in range(200)}
    text = json.dumps(tree)
    visit(json.loads(text), 20)
    words.sub(lambda m: m[2], text)
    hashlib.sha256(zlib.compress(text.encode())).hexdigest()
"""


class UnwindCases:
    def frames(self):
        """The time of one frame, from runs at two depths."""
        calls = self.sizes.frame_calls
        what = f"BPF run time per frame, hot, between {SHALLOW} and {DEEP} calls deep"
        rows = {"cfi": Row(what, "ns", 110, note="the slope; bpftrace's frames are the kernel's, "
                           "by frame pointers"),
                "fp": Row(what + ", --unwind=fp", "ns")}
        small = Row(f"BPF run time per frame, hot, of 100 functions of some 50 bytes, between {SHALLOW} and "
                    f"{DEEP_SMALL} calls deep", "ns", 20, note="each has a rule of its own: the most "
                    "rules for so many bytes of code that programs have")
        event = "syscalls:sys_enter_getpgrp"
        commands = {mode: [self.stackcount, f"--unwind={mode}", f"t:{event}"]
                    for mode in ("cfi", "fp")}
        commands["bpftrace"] = ["bpftrace", "-e",
                                f"tracepoint:{event} {{ @[kstack, ustack] = count(); }}"]

        def one(tool, kind="getpgrp", deep=DEEP):
            run = self.bench.start(commands[tool], self.out)
            if tool == "bpftrace":
                time.sleep(3)
            else:
                run.wait_for_words(self.out, "Hit Ctrl-C")
            costs = []
            for depth in (SHALLOW, deep):
                before = run.bpf()
                self.bench.repeat(kind, calls, depth)
                after = run.bpf()
                if after[1] - before[1] < calls * 0.99:
                    raise Failed(f"{tool}: its program ran {after[1] - before[1]} times")
                costs.append((after[0] - before[0]) / (after[1] - before[1]))
            run.stop()
            return (costs[1] - costs[0]) / (deep - SHALLOW)

        def measure(tool):
            if tool == "ours":
                for mode, row in rows.items():
                    row.add("ours", one(mode))
                small.add("ours", one("cfi", "small", DEEP_SMALL))
            else:
                slope = one(tool)
                for row in rows.values():
                    row.add(tool, slope)

        with BpfStatistics():
            self.alternate(self.tools("bpftrace"), measure)
        return [*rows.values(), small]

    def python_samples(self):
        """One python3 at 499 Hz on a CPU of its own, as for the target; and one on each CPU at
        997 Hz, which compete for the caches.
        """
        alone = Row("BPF run time per sample at 499 Hz: one python3, --unwind=auto", "ns", 6000,
                    note="ours samples its CPU only. bpftrace's program runs on all CPUs, and its "
                    "time includes the runs that its filter ends at once; its user stacks have "
                    "two frames, because it follows frame pointers")
        rows = {mode: Row(f"BPF run time per sample at 997 Hz: python3 on all CPUs, --unwind={mode}",
                          "ns") for mode in ("auto", "fp")}

        def one(command, cpus=1):
            run = self.bench.start(command, self.out)
            run.wait_for_bpf()
            before = run.bpf()
            time.sleep(self.sizes.seconds)
            after = run.bpf()
            run.stop()
            return (after[0] - before[0]) / max(1, (after[1] - before[1]) / cpus)

        def measure(tool):
            for mode, row in rows.items():
                row.add(tool, one(
                    ["bpftrace", "-e", "profile:hz:997 { @[kstack, ustack] = count(); }"]
                    if tool == "bpftrace" else
                    [self.profile, "-q", "-f", "-F", "997", f"--unwind={mode}"]))

        def measure_alone(tool):
            alone.add(tool, one(["bpftrace", "-e", "profile:hz:499 /cpu == 0/ "
                                 "{ @[kstack, ustack] = count(); }"], os.cpu_count())
                      if tool == "bpftrace" else
                      one([self.profile, "-q", "-f", "-F", "499", "-C", "0"]))

        with BpfStatistics():
            with self.bench.beside(["taskset", "-c", "0", DEBIANS_PYTHON, "-c", PYTHON], 1):
                self.alternate(self.tools("bpftrace"), measure_alone)
            with self.bench.beside([DEBIANS_PYTHON, "-c", PYTHON], os.cpu_count()):
                self.alternate(self.tools("bpftrace"), measure)
        return [alone, *rows.values()]

    def dwarf(self):
        seconds = self.sizes.dwarf_seconds
        what = f"python3 on all CPUs, {seconds} s at {DWARF_HZ} Hz, record and report"
        cpu = Row(f"CPU time of the processes: {what}", "ms", ratio=(0.05, "perf"),
                  note="perf record --call-graph dwarf and perf script; sampling in the kernel, "
                  "which is in no process's time, is in neither number")
        kernel = Row(f"... and BPF run time: {what}", "ms",
                     note="there is no such number for perf, which copies stacks there")
        sent = Row(f"bytes from the kernel to user space: {what}", "KB", ratio=(0.01, "perf"),
                   note="perf's: the size of perf.data; ours: the bytes in the ring buffer, and the "
                   "counts")
        data = self.bench.path("perf.data")

        def ours():
            run = self.bench.start([self.profile, "-F", str(DWARF_HZ), "-f"], self.out)
            run.wait_for_bpf()
            time.sleep(seconds)
            in_kernel, ring = run.bpf()[0] / 1e6, ring_bytes(run.pid())
            run.interrupt()
            result = run.finish()
            stacks = int(re.search(r"(\d+) stacks", result["said"])[1])
            cpu.add("ours", result["user"] + result["system"])
            kernel.add("ours", result["user"] + result["system"] + in_kernel)
            sent.add("ours", (ring + stacks * BYTES_OF_A_COUNT) / 1e3)

        def perf():
            result = self.bench.run(
                ["sh", "-c", f"perf record -q -a -F {DWARF_HZ} --call-graph dwarf -o {data} "
                 f"sleep {seconds} && perf script -i {data}"], os.devnull)
            cpu.add("perf", result["user"] + result["system"])
            sent.add("perf", os.path.getsize(data) / 1e3)

        rounds, self.rounds = self.rounds, min(self.rounds, 3)
        with BpfStatistics(), self.bench.beside([DEBIANS_PYTHON, "-c", PYTHON], os.cpu_count()):
            self.alternate(self.tools("perf"), lambda tool: ours() if tool == "ours" else perf())
        self.rounds = rounds
        return [cpu, kernel, sent]

    def compile_rows(self):
        """Every ELF file of the machine, read before so that the disk is not measured."""
        seconds = Row("compile every ELF file of this machine to rows, one core", "s", 4)
        rows = Row("rows of all of them", "rows")
        size = Row("kernel memory of all of them", "MB")
        each = Row("kernel memory per row", "bytes", 5)

        def measure(_):
            said = subprocess.run(
                ["taskset", "-c", "0", os.path.join(self.bench.build, "bench", "unwind_rows"), *self.sizes.rows_of],
                capture_output=True, text=True, check=True).stdout
            facts = {name: float(value) for name, value in
                     re.findall(r"^(\w[\w ]*?)  +([\d.]+)", said, re.M)}
            seconds.add("ours", float(re.search(r"of CPU: ([\d.]+)", said)[1]))
            rows.add("ours", facts["rows"])
            size.add("ours", facts["bytes"] / 1e6)
            each.add("ours", facts["bytes"] / facts["rows"])

        rounds, self.rounds = self.rounds, min(self.rounds, 3)
        self.alternate(["ours"], measure)
        self.rounds = rounds
        return [seconds, rows, size, each]

    def processes(self):
        """Launch to armed among many processes: shells, interpreters, small programs that wait."""
        warm = Row(f"exec to the title, {self.sizes.waiting} processes running, tables in the disk cache",
                   "ms", 150)
        cold = Row(f"the same, no tables in the disk cache", "ms", 1000)
        programs = [["cat"], ["bash", "-c", "read x"], ["sh", "-c", "read x"], ["sort"],
                    [DEBIANS_PYTHON, "-c", "input()"], ["perl", "-e", "<STDIN>"], ["awk", "{}"],
                    ["gdb", "-q", "-batch", "-ex", "shell cat"], ["xz", "-c"], ["openssl"],
                    ["sed", "p"], ["bc"], ["sqlite3"], ["tee"], ["gzip", "-c"], ["git", "hash-object", "--stdin"]]
        programs = [program for program in programs if shutil.which(program[0])]
        cache = self.bench.path("cache")
        command = ["env", f"XDG_CACHE_HOME={cache}", self.profile, "-q", "0.2"]

        def measure(_):
            shutil.rmtree(cache, ignore_errors=True)
            os.mkdir(cache)
            for row in (cold, warm):
                row.add("ours", self.bench.run(command, self.out)["first"])
                # Once more: a short run may not have compiled all tables.
                self.bench.run(command[:-1] + ["1"], self.out)

        running = [subprocess.Popen(programs[i % len(programs)], stdin=subprocess.PIPE,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for i in range(self.sizes.waiting)]
        try:
            time.sleep(2)
            self.alternate(["ours"], measure)
        finally:
            for process in running:
                process.kill()
                process.wait()
        return [warm, cold]


PIDFD_GETFD = 438
RING_BUFFER = 27  # BPF_MAP_TYPE_RINGBUF


def ring_bytes(pid):
    """The bytes that its programs have put into its ring: the producer's position."""
    libc = ctypes.CDLL(None, use_errno=True)
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path) as info:
                if not re.search(rf"^map_type:\t{RING_BUFFER}$", info.read(), re.M):
                    continue
        except OSError:
            continue
        process = os.pidfd_open(pid)
        ring = libc.syscall(PIDFD_GETFD, process, int(os.path.basename(path)), 0)
        os.close(process)
        if ring < 0:
            break
        try:
            with mmap.mmap(ring, mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ,
                           offset=mmap.PAGESIZE) as page:
                return int.from_bytes(page[:8], sys.byteorder)
        finally:
            os.close(ring)
    raise Failed(f"process {pid} has no ring that can be read")
