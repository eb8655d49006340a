# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole of a measurement, beside the OpenTelemetry profiler: its start, its memory, and its work
while programs begin and end. To be mixed into cases.Cases, whose tools and rounds it uses.
"""
import contextlib
import time

from measure import BpfStatistics, process_cpu_ms
from otel import SAMPLING, Otel
from process_cases import EXECS, Machine, rss_mb
from row import Row

HZ = 99


class OtelCases:
    def exec_storm(self):
        seconds = self.sizes.storm_seconds
        start = Row("exec to the first sample", "ms", note="one run, which the rows below continue")
        begun = Row(f"CPU time of the {self.sizes.settle_seconds:.0f} s from exec on, {EXECS:,} execs a second", "ms")
        storm = Row(f"CPU time and BPF run time at {HZ} Hz, {EXECS:,} execs a second", "% of a core", ratio=(0.4, "otel"),
                    note=f"of the {seconds} s after these")
        rss = Row("RSS after them", "MB")

        def measure(tool):
            begin = time.monotonic()
            with self.sampling(tool) as (pid, bpf):
                start.add(tool, (time.monotonic() - begin) * 1e3)
                time.sleep(max(0, self.sizes.settle_seconds - (time.monotonic() - begin)))
                cpu, in_kernel = process_cpu_ms(pid), bpf()[0]
                begun.add(tool, cpu)
                time.sleep(seconds)
                used = process_cpu_ms(pid) - cpu + (bpf()[0] - in_kernel) / 1e6
                storm.add(tool, used / (seconds * 1000) * 100)
                rss.add(tool, rss_mb(pid))

        rounds, self.rounds = self.rounds, min(self.rounds, 3)
        with BpfStatistics(), Machine(self.bench.build, processes=0):
            self.alternate(self.tools("otel"), measure)
        self.rounds = rounds
        return [start, begun, storm, rss]

    @contextlib.contextmanager
    def sampling(self, tool):
        """(pid, what reads the ns and runs of its BPF programs) of a run that samples already."""
        if tool == "otel":
            with Otel(self.bench, self.otel, HZ) as otel:
                while not otel.bpf(SAMPLING)[1]:
                    time.sleep(0.005)
                yield otel.run.pid(), lambda: otel.bpf("")
            return
        run = self.bench.start([self.profile, "-q", "-f", "-F", str(HZ)], self.out)
        run.wait_for_bpf()
        try:
            yield run.pid(), run.bpf
        finally:
            run.stop()
