# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run holds in memory: of one process, and on a machine that compiles. To be mixed into cases.Cases,
whose tools and rounds it uses.
"""
import os
import re
import subprocess
import time

from measure import Failed
from process_cases import rss_mb
from row import Row
from unwind_cases import DEBIANS_PYTHON, PYTHON

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Our own sources, one compiler after another.
COMPILE = """cd "$1" && shift && while :; do for file in src/show/view/*.c src/data/tally/*.c; do
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O2 -g "$@" -c "$file" -o /dev/null || exit
done; done"""


class FootprintCases:
    def footprint(self):
        seconds = self.sizes.compile_seconds
        one = Row("peak RSS of profile -p of one python3, 1 s, report included", "MB")
        held = Row(f"RSS after {seconds:.0f} s of a machine that compiles on two CPUs", "MB", 50)
        mapped = Row("... of these, of the kernel's maps", "MB")
        peak = Row("... and the peak, report included", "MB")

        def measure(_):
            with self.bench.beside([DEBIANS_PYTHON, "-c", PYTHON], 1) as python:
                pid = python.processes[0].pid
                one.add("ours", peak_mb(self.bench.run([self.profile, "-q", "-f", "-p", str(pid), "1"])))
            run = self.bench.start([self.profile, "-q", "-f"])
            run.wait_for_bpf()
            time.sleep(seconds)
            held.add("ours", rss_mb(run.pid()))
            mapped.add("ours", maps_mb(run.pid()))
            run.interrupt()
            peak.add("ours", peak_mb(run.finish()))

        rounds, self.rounds = self.rounds, min(self.rounds, 1)
        sources = subprocess.check_output([os.path.join(TOP, "scripts/rooms"), "flags"], text=True, cwd=TOP).split()
        with self.bench.beside(["sh", "-c", COMPILE, "sh", TOP, *sources], 2):
            self.alternate(["ours"], measure)
        self.rounds = rounds
        return [one, held, mapped, peak]


def peak_mb(result):
    return result["rss"] * 1024 / 1e6


def maps_mb(pid):
    """Pages of BPF maps that are mapped count as the process's own."""
    with open(f"/proc/{pid}/smaps") as smaps:
        sizes = re.findall(r"bpf-map\n(?:.*\n){2,4}?Rss: +(\d+)", smaps.read())
    if not sizes:
        raise Failed("no map is mapped")
    return sum(map(int, sizes)) * 1024 / 1e6
