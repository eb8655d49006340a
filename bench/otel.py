# SPDX-License-Identifier: GPL-2.0-or-later
"""The OpenTelemetry eBPF profiler, the strongest peer: `bench/run --peer PROGRAM` says where it is.

It is no package of the distribution, so without --peer its columns are empty.
"""
import glob
import json
import os
import re
import subprocess
import sys
import time

from measure import Failed, sum_of

HERE = os.path.dirname(os.path.abspath(__file__))
READY = "Attached sched monitor"
# Walks at a sample of the clock, and at a probe; what they call by tail calls is in their time.
SAMPLING, PROBING = "native_tracer", "kprobe__generic"


class Otel:
    """One run, beside a server that takes its profiles. Use it in a with block."""

    def __init__(self, bench, program, hz, probes=()):
        self.sink = subprocess.Popen([sys.executable, os.path.join(HERE, "grpc_sink.py")],
                                     stdout=subprocess.PIPE, text=True)
        port = self.sink.stdout.readline().strip()
        command = [program, "-collection-agent", f"127.0.0.1:{port}", "-disable-tls", "-samples-per-second",
                   str(hz), "-reporter-interval", "2s", "-reporter-jitter", "0"]
        for probe in probes:
            command += ["-probe-link", probe]
        try:
            self.run = bench.start(command)
            self.run.wait_for_words(self.run.errors, READY)
        except Failed:
            self.sink.kill()
            self.sink.wait()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.run.process.poll() is None:
            self.run.stop()
        self.sink.kill()
        self.sink.wait()

    def bpf(self, prefix):
        """(ns, runs) of its programs whose names begin so."""
        return sum_of(held_programs(self.run.pid()), prefix)


def held_programs(pid):
    """{id: (ns, runs)} of the BPF programs that a process holds, by themselves or by a link."""
    programs, linked = {}, set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path) as info:
                field = dict(re.findall(r"^(\w+):\t(\S+)$", info.read(), re.M))
        except OSError:
            continue
        if "run_time_ns" in field:
            programs[field["prog_id"]] = (int(field["run_time_ns"]), int(field["run_cnt"]))
        elif "prog_id" in field:
            linked.add(field["prog_id"])
    for number in linked - set(programs):
        said = subprocess.run(["bpftool", "-j", "prog", "show", "id", number], capture_output=True, text=True,
                              check=False, env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin"))
        if said.returncode == 0:
            facts = json.loads(said.stdout)
            programs[number] = (facts.get("run_time_ns", 0), facts.get("run_cnt", 0))
    return programs


def libc_of(pid):
    """The path of the C library that a process has mapped, as seen from here."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/maps") as maps:
            found = re.search(r"\s(/\S*/libc\.so\.6)$", maps.read(), re.M)
        if found:
            return found[1]
        time.sleep(0.05)
    raise Failed(f"process {pid} has no C library")
