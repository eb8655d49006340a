# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of process images: many processes, many mappings, many execs; and of naming many
addresses. To be mixed into cases.Cases, whose tools and rounds it uses.
"""
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import time

import names_speed
import stock_names
from closing import closing
from measure import BpfStatistics, Failed
from row import Row

MAPPINGS, EXECS = 20, 1000
LIBRARIES = ("/usr/lib", "/lib")
MOST_FILES = 500


class ProcessCases:
    def many_processes(self):
        """The same run on a quiet machine, and with many processes."""
        processes, seconds = self.sizes.processes, self.sizes.process_seconds
        what = (f"{processes:,} processes with {processes * MAPPINGS:,} executable mappings, "
                f"{EXECS:,} execs a second")
        run = f"{seconds} s of the whole machine"
        much = {
            "first": Row(f"exec to the title; {what}", "ms"),
            "cpu": Row(f"CPU time of {run}, report included; {what}", "ms"),
            "rss": Row(f"peak RSS of that run; {what}", "MB", 100),
        }
        little = {
            "first": Row("exec to the title; without these processes", "ms"),
            "cpu": Row(f"CPU time of {run}, report included; without these processes", "ms"),
            "rss": Row("peak RSS of that run; without these processes", "MB"),
        }
        execs = Row("execs a second that the machine did meanwhile", "execs")
        lost = Row(f"samples and mapping records lost; {what}", "lost", 0)
        unnamed = Row(f"user frames of those programs without a name; {what}", "%", 0.5)
        data, folded = self.bench.path("perf.data"), self.bench.path("stacks.folded")
        commands = {
            "ours": [self.profile, "-v", "-d", "--unknown", "-o", "-", "--format", "text", "-o", folded,
                     "--format", "folded", str(seconds)],
            "perf": ["sh", "-c", f"perf record -q -N -a -g -F 49 -o {data} sleep {seconds} && "
                     f"perf report -i {data} --stdio"],
        }

        def measure(rows):
            def one(tool):
                result = self.bench.run(commands[tool], self.out)
                rows["cpu"].add(tool, result["user"] + result["system"])
                rows["rss"].add(tool, result["rss"] * 1024 / 1e6)
                if tool != "ours":
                    return
                rows["first"].add(tool, result["first"])
                if rows is much:
                    lost.add(tool, lost_in(result["said"]))
                    unnamed.add(tool, unnamed_in(folded))
            return one

        rounds, self.rounds = self.rounds, min(self.rounds, 3)
        self.alternate(self.tools("perf"), measure(little))
        with Machine(self.bench.build, processes) as machine:
            self.alternate(self.tools("perf"), measure(much))
        execs.add("ours", machine.rate)
        self.rounds = rounds
        return [row for name in much for row in (much[name], little[name])] + [
            execs, lost, unnamed]

    def growth(self):
        """One long run, in intervals: the memory of ended processes is freed."""
        begin, end = self.sizes.grown_from, self.sizes.grown_to
        row = Row(f"RSS gained from the {begin}th to the {end}th second of a run in "
                  f"intervals of 1 s, {EXECS:,} execs a second", "MB", 4)
        lost = Row("samples and mapping records lost in that run", "lost", 0)
        with Machine(self.bench.build, processes=0):
            run = self.bench.start([self.profile, "-v", "-U", "-f", "-F", "499", "-i", "1",
                                    str(end + 1)], self.out)
            with BpfStatistics():
                run.wait_for_bpf()
            time.sleep(begin)
            before = rss_mb(run.pid())
            time.sleep(end - begin)
            row.add("ours", rss_mb(run.pid()) - before)
            lost.add("ours", lost_in(run.finish()["said"]))
        return [row, lost]


    def names(self):
        """By symbols alone, of files that are made for it: names_speed.py."""
        files, large_functions = self.sizes.named_files, self.sizes.large_functions
        many = f"name {self.sizes.addresses:,} distinct addresses across {files} files of 5,000 functions"
        rows = {
            "many": Row(f"{many}: wall time of the program", "ms", ratio=(0.5, "perf"),
                        note="perf script -F ip,sym on a sample of each"),
            "many_rss": Row(f"{many}: peak RSS", "MB", 150),
        }
        program = names_speed.compile_program(self.bench.build, self.bench.directory)
        paths = names_speed.write_libraries(self.bench.directory, files)
        large = self.bench.path("large.so")
        size = names_speed.write_large(large, large_functions)
        what = f"name 1,000 addresses in one file of {size} MB with {large_functions:,} functions"
        rows["large"] = Row(f"{what}: wall time of the program", "ms", 1000)
        rows["large_rss"] = Row(f"{what}: peak RSS", "MB", 150)

        rounds, self.rounds = self.rounds, min(self.rounds, 3)
        for name, files, addresses in (("many", paths, self.sizes.addresses), ("large", [large], 1000)):
            listed, data = self.bench.path("list"), self.bench.path("perf.data")
            with open(listed, "w") as out:
                out.write("\n".join(files) + "\n")
            commands = {
                "ours": ["sh", "-c", f"{program} {addresses} - <{listed}"],
                "perf": ["perf", "script", "-i", data, "-F", "ip,sym"],
            }
            subprocess.run(["sh", "-c", f"{program} {addresses} {data} <{listed}"], check=True,
                           stdout=subprocess.DEVNULL)

            def measure(tool):
                result = self.bench.run(commands[tool], os.devnull)
                rows[name].add(tool, result["wall"])
                rows[name + "_rss"].add(tool, result["rss"] * 1024 / 1e6)

            with files_allowed():
                self.alternate(self.tools("perf"), measure)
        self.rounds = rounds
        return list(rows.values())

    def stock_names(self):
        """How the frames of stock programs are named: stock_names.py."""
        row = Row("user frames of stock programs of which not even the file is known", "%", 0.5)
        row.table = ["By bench/stock_names.py: how the user frames of this machine's programs are named, "
                     "without debug packages. Generated code is left out.", ""]
        measured = list(stock_names.measure(self.bench.build, self.sizes.programs, self.sizes.program_seconds,
                                            self.sizes.least_samples))
        for _, _, counts in measured:
            row.add("ours", stock_names.shares(counts)[-1])
        row.table += list(stock_names.table(measured))
        return [row]

    def names_share(self):
        """Judged without our code, by perf's log of mappings: names_share.py."""
        row = Row("user frames that have a symbol and no name, while a machine compiles", "%", 0.5)
        frames = Row("such frames, with a name or without", "frames")
        if "perf" not in self.peers:
            return []
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "names_share.py")
        said = subprocess.run([sys.executable, script, self.bench.build, str(self.sizes.compiled_files)], capture_output=True,
                              text=True, check=False).stdout
        found = re.search(r"named (\d+) of (\d+) frames with a symbol", said)
        if not found:
            raise Failed(f"names_share.py: {said[-400:]}")
        row.add("ours", (1 - int(found[1]) / int(found[2])) * 100)
        frames.add("ours", int(found[2]))
        return [row, frames]


class Machine:
    """Keeps bench/many_processes running."""

    def __init__(self, build, processes):
        directory = os.path.join(build, "bench")
        self.command = [os.path.join(directory, "many_processes"), str(processes), str(MAPPINGS),
                        str(EXECS), os.path.join(directory, "tiny")]
        self.rate = None

    def __enter__(self):
        with files_allowed():
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, start_new_session=True)
        self.process.stdin.write("\n".join(libraries()) + "\n")
        self.process.stdin.close()
        try:
            if self.process.stdout.readline() != "ready\n":
                raise Failed("bench/many_processes cannot start its processes")
            time.sleep(2)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        self.process.send_signal(signal.SIGTERM)
        self.rate = float(self.process.stdout.readline() or 0)
        self.process.wait()


@contextlib.contextmanager
def files_allowed():
    """What is started meanwhile may have many files open."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limit[1]), limit[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def libraries():
    """Files that code can be mapped from, as many as there are, up to 500."""
    found = {}
    for top in LIBRARIES:
        for directory, _, names in os.walk(top):
            for name in names:
                path = os.path.realpath(os.path.join(directory, name))
                if ".so" in name and os.path.isfile(path) and os.path.getsize(path) > 20000:
                    found[path] = True
                if len(found) == MOST_FILES:
                    return sorted(found)
    return sorted(found)


def lost_in(said):
    records = re.search(r"missed: \d+ processes, (\d+) records", said)
    if not records:
        raise Failed(f"no account in: {said[-400:]}")
    return closing(said)[1] + int(records[1])


def unnamed_in(path):
    """Of the programs that bench/many_processes is and starts; before "-" stand the user frames."""
    frames = unnamed = 0
    with open(path, errors="replace") as folded:
        for line in folded:
            process, *stack = line.rpartition(" ")[0].split(";")
            if process not in ("many_processes", "tiny") or not stack or stack[0] == "-":
                continue
            user = [frame for frame in stack[:stack.index("-") if "-" in stack else None]
                    if not frame.startswith("[unwind:")]
            frames += len(user)
            unnamed += user.count("[unknown]")
    if not frames:
        raise Failed("no sample hit the programs that should have run")
    return unnamed / frames * 100


def rss_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) * 1024 / 1e6
