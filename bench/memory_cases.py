# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of an allocation and its end, while memory that is not freed is looked for. To be mixed into
cases.Cases, whose tools and rounds it uses.
"""
import os
import re
import signal
import subprocess
import time

from measure import Failed
from row import Row

DEPTH = 20
SECONDS = 60  # at most, of the program
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"
# What is outstanding, by block; its stacks are added up at the end.
OUTSTANDING = f"""
uprobe:{LIBC}:malloc /comm == "workload"/ {{ @size[tid] = arg0; }}
uretprobe:{LIBC}:malloc /@size[tid]/ {{
	@bytes[retval] = @size[tid];
	@stack[retval] = ustack;
	delete(@size[tid]);
}}
uprobe:{LIBC}:free /comm == "workload" && @bytes[arg0]/ {{ delete(@bytes[arg0]); delete(@stack[arg0]); }}
BEGIN {{ printf("Tracing\\n"); }}
"""


class MemoryCases:
    def memory(self):
        """Blocks of which one in a thousand is not freed. memleak of libbpf-tools, of which Debian 12 has no
        package, takes part if MEMLEAK has its command."""
        outstanding = Row(f"added time per block, --outstanding c:malloc c:free: malloc and free, {DEPTH} calls deep",
                          "ns", ratio=(0.5, "bpftrace"),
                          note="probes at the entry and the return of malloc, and in free; CPU time of the program")
        memleak = Row("... of memleak (Debian 13's libbpf-tools), which is not ours", "ns")
        others = [(Row(f"... of {' '.join(options)}", "ns"), options) for options in
                  (["--leaks"], ["--time", "c:malloc"], ["--sum", "arg1", "c:malloc"], ["c:malloc"])]
        missed = Row("blocks not found of those that are not freed", "blocks", 0)
        program = [self.bench.workload, "blocks", str(self.sizes.blocks), str(DEPTH)]

        def alone():
            return self.bench.repeat(*program[1:])

        def time_told(run):
            """The time of a block that the program prints, into the output of the tool that started it."""
            deadline = time.monotonic() + SECONDS
            while time.monotonic() < deadline:
                found = re.search(r"^([0-9]+\.[0-9]{2})$", self.printed(), re.M)
                if found:
                    return float(found[1])
                time.sleep(0.1)
            raise Failed(f"{' '.join(run.command)}: the program did not end")

        def ours(options):
            run = self.bench.start([self.stackcount, *options, "--", *program], self.out)
            each = time_told(run)
            run.finish()
            return each

        def found(blocks):
            return max(0, self.sizes.blocks // 1000 - blocks)

        def measure(tool):
            base = alone()
            if tool == "bpftrace":
                run = self.bench.start(["bpftrace", "-e", OUTSTANDING], self.out)
                run.wait_for_words(self.out, "Tracing")
                outstanding.add(tool, alone() - base)
                run.interrupt()
                run.finish()
                missed.add(tool, found(len(re.findall(r"^@bytes", self.printed(), re.M))))
                return
            outstanding.add(tool, ours(["--outstanding", "c:malloc", "c:free"]) - base)
            missed.add(tool, found(max(map(int, re.findall(r"in ([0-9]+) blocks", self.printed())), default=0)))
            for row, options in others:
                row.add(tool, ours(options) - base)
            if "MEMLEAK" in os.environ:
                # It cannot start a program with arguments: one waits to be continued.
                waits = subprocess.Popen(["sh", "-c", 'kill -STOP $$; exec "$@"', "sh", *program],
                                         stdout=subprocess.PIPE, text=True)
                run = self.bench.start([*os.environ["MEMLEAK"].split(), "-p", str(waits.pid), "600"], self.out)
                time.sleep(3)  # it does not say when it is ready
                os.kill(waits.pid, signal.SIGCONT)
                memleak.add(tool, float(waits.communicate(timeout=SECONDS)[0]) - base)
                run.stop()

        self.alternate(self.tools("bpftrace"), measure)
        return [outstanding, *([memleak] if memleak.values else []), *(row for row, _ in others), missed]

    def printed(self):
        with open(self.out, errors="replace") as out:
            return out.read()
