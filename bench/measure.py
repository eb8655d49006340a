# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs commands and reads their costs: wall and CPU time, peak RSS, BPF run time.

Must not know which commands are compared, nor how results are shown.
"""
import ctypes
import glob
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time


START_SECONDS = 120   # to the first event, on a busy machine
FINISH_SECONDS = 120  # from the end of the measured time, or the start of a command that ends by itself


class Failed(Exception):
    """A command that failed to do the measured work; the text has its output."""


def median(values):
    return statistics.median(values)


class Bench:
    """The programs of one run, and a directory for their output."""

    def __init__(self, build):
        self.build = build
        self.directory = tempfile.mkdtemp(prefix="stacktally-bench-")
        self.workload = os.path.join(build, "bench", "workload")
        self.timed = os.path.join(build, "bench", "timed")
        self.number = 0

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, command, out=None):
        """Starts a command in its own process group; wait for it with finish()."""
        self.number += 1
        run = Run(command, self.path(f"result.{self.number}"), self.path(f"err.{self.number}"))
        with open(out or os.devnull, "w") as stdout, open(run.errors, "w") as stderr:
            run.process = subprocess.Popen(
                [self.timed, run.result] + command, stdin=subprocess.DEVNULL,
                stdout=stdout, stderr=stderr, start_new_session=True)
        return run

    def run(self, command, out=None):
        return self.start(command, out).finish()

    def busy(self, kind):
        """Keeps the CPUs busy until stop()."""
        return Busy([self.workload, kind], 1)

    def beside(self, command, times):
        """Runs `times` copies until the block is left; returns when they have started."""
        busy = Busy(command, times)
        time.sleep(1)
        return busy

    def repeat(self, kind, times, depth=0):
        """ns per call, system call or switch."""
        out = subprocess.run([self.workload, kind, str(times), str(depth)], capture_output=True, text=True,
                             check=True)
        return float(out.stdout)


class Busy:
    def __init__(self, command, times):
        self.processes = [subprocess.Popen(command, start_new_session=True) for _ in range(times)]

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for process in self.processes:
            process.kill()
            process.wait()


class Run:
    def __init__(self, command, result, errors):
        self.command, self.result, self.errors = command, result, errors
        self.process = None

    def pid(self):
        """The pid of the command, the only child of the program that times it."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with open(path) as children:
                found = children.read().split()
            if found:
                return int(found[0])
            time.sleep(0.001)
        raise self.failed()

    def said(self):
        with open(self.errors, errors="replace") as errors:
            return errors.read()

    def failed(self):
        return Failed(f"{' '.join(self.command)}: {self.said().strip()[-400:]}")

    def interrupt(self):
        os.kill(self.pid(), signal.SIGINT)

    def stop(self):
        """Kills it before its report: a peer may take minutes to name the frames of a busy machine."""
        os.kill(self.pid(), signal.SIGKILL)
        self.process.wait()

    def finish(self, good=(0,)):
        try:
            self.process.wait(FINISH_SECONDS)
        except subprocess.TimeoutExpired:
            self.stop()
            raise Failed(f"{' '.join(self.command)}: no end in {FINISH_SECONDS} s") from None
        try:
            with open(self.result) as result:
                measured = json.load(result)
        except (OSError, ValueError):
            raise self.failed() from None
        if measured["status"] not in good:
            raise self.failed()
        measured["said"] = self.said()
        return measured

    def bpf_programs(self):
        """{id: (ns, runs)} of the BPF programs that the command holds."""
        programs = {}
        for path in glob.glob(f"/proc/{self.pid()}/fdinfo/*"):
            try:
                with open(path) as info:
                    text = info.read()
            except OSError:
                continue
            field = dict(re.findall(r"^(\w+):\t(\S+)$", text, re.M))
            if "prog_id" in field and "run_time_ns" in field:
                programs[field["prog_id"]] = (int(field["run_time_ns"]), int(field["run_cnt"]))
        return programs

    def bpf(self, prefix=""):
        """(ns, runs) of the BPF programs of the command whose names begin so."""
        return sum_of(self.bpf_programs(), prefix)

    def wait_for_bpf(self, seconds=START_SECONDS):
        """Waits until the command's BPF programs run: they are attached."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.bpf()[1]:
                return
            time.sleep(0.01)
        raise self.failed()

    def wait_for_words(self, path, words, seconds=START_SECONDS):
        """Waits until the command has printed these words."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            with open(path, errors="replace") as out:
                if words in out.read():
                    return
            time.sleep(0.01)
        raise self.failed()


def process_cpu_ms(pid):
    """The CPU time of a process and of its children, also of those that it has waited for."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return 0
    return sum(map(int, fields[11:15])) * 1000 / os.sysconf("SC_CLK_TCK") + sum(map(process_cpu_ms, children))


def sum_of(programs, prefix):
    """(ns, runs) of the programs {id: (ns, runs)} whose names begin so."""
    found = [figures for number, figures in programs.items() if not prefix or program_name(number).startswith(prefix)]
    return tuple(map(sum, zip(*found))) if found else (0, 0)


def program_name(number):
    """The name of the BPF program with that id."""
    said = subprocess.run(["bpftool", "-j", "prog", "show", "id", number], capture_output=True,
                          text=True, check=True, env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin"))
    return json.loads(said.stdout).get("name", number)


BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
BPF_ENABLE_STATS, BPF_STATS_RUN_TIME = 32, 0


class BpfStatistics:
    """Has the kernel measure BPF programs within the block; others who ask for it do not matter."""

    def __enter__(self):
        kind = ctypes.c_uint32(BPF_STATS_RUN_TIME)
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.syscall(BPF_SYSCALL, BPF_ENABLE_STATS, ctypes.byref(kind), ctypes.sizeof(kind))
        if self.fd < 0:
            raise Failed(f"BPF_ENABLE_STATS: {os.strerror(ctypes.get_errno())}")

    def __exit__(self, *unused):
        os.close(self.fd)
