#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The share of user frames with a symbol that are named, on a machine that compiles.

  bench/names_share.py BUILD [FILES]

Compiles FILES (300) small C files with `make -j2` under `profile -F 999 -A -U`: some thousand
processes of 5 to 50 ms. None of our code decides which frames have a symbol: `perf record -e dummy`
logs every mapping, exec and fork meanwhile. A frame has a symbol if its address lies in a mapping
that perf saw in that process while it had that name, and `readelf -s` of the mapped file or of its
debug file shows a sized function there. Frames outside of all mappings are no code: values that a
walk along frame pointers found in compilers built without.

Prints the shares, and the worst of what failed. Exit status: 1 below 99.5 %, 2 where perf is not
there or lost events.
"""

import bisect
import collections
import os
import re
import struct
import subprocess
import sys
import tempfile

LIMIT = 0.995


class Symbols:
    """The sized functions of a file and its debug file, by offset in the file."""

    def __init__(self, path):
        self.starts, self.ends = [], []
        found = set()
        table, notes = self.read(path), self.read(path, "-nW")
        loads = [tuple(int(n, 16) for n in m) for m in re.findall(
            r"^ +LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) ", table, re.M)]
        build_id = re.search(r"Build ID: (..)(\w+)", notes)
        if build_id:
            table += self.read(f"/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug")
        for value, size in re.findall(
                r"^ +\d+: ([0-9a-f]+) +(\w+) (?:FUNC|IFUNC|<OS specific>: 10) +\w+ +\w+"
                r"(?: +\[[^]]*\])? +(?!UND)\S+ ", table, re.M):
            address, length = int(value, 16), int(size, 0)
            for offset, start, filled in loads:
                if length and start <= address < start + filled:
                    found.add((address - start + offset, length))
        end = 0
        for start, length in sorted(found):  # coverage matters, not which function covers
            end = max(end, start + length)
            self.starts.append(start)
            self.ends.append(end)

    @staticmethod
    def read(path, how="-lsW"):
        return subprocess.run(["readelf", how, path], capture_output=True, text=True,
                              errors="replace", check=False).stdout if os.path.isfile(path) else ""

    def cover(self, offset):
        i = bisect.bisect_right(self.starts, offset) - 1
        return i >= 0 and offset < self.ends[i]


TID, TIME, ID, CPU, STREAM_ID, IDENTIFIER = 1 << 1, 1 << 2, 1 << 6, 1 << 7, 1 << 9, 1 << 16
MMAP, LOST, COMM, FORK, MMAP2 = 1, 2, 3, 7, 10


def records(data):
    """(time, type, misc, bytes) of the records of perf.data; perf itself fails on some of them."""
    attr_size, attrs, _, begin, size = struct.unpack_from("<5Q", data, 16)
    del attr_size
    sample_type = struct.unpack_from("<Q", data, attrs + 24)[0]
    behind = sum(8 for bit in (ID, CPU, STREAM_ID, IDENTIFIER) if sample_type & bit)
    at = begin
    while at < begin + size:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        body = data[at + 8:at + length]
        if kind in (MMAP, LOST, COMM, FORK, MMAP2):
            time = struct.unpack_from("<Q", body, len(body) - behind - 8)[0]
            yield time, kind, misc, body
        at += length


def text(raw):
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def learn(path):
    """From perf's log: a list of [name, mappings] for each pid, one for each exec."""
    processes = collections.defaultdict(lambda: [["", []]])
    lost = 0
    with open(path, "rb") as f:
        log = sorted(records(f.read()), key=lambda record: record[0])
    for _, kind, misc, body in log:
        pid, tid = struct.unpack_from("<II", body)
        if kind == FORK:
            child, parent = struct.unpack_from("<II", body)
            if child != parent:  # else a thread
                # A copy: the child has none of the parent's later mappings.
                name, mappings = processes[parent][-1]
                processes[child] = [[name, list(mappings)]]
        elif kind == COMM and pid == tid:
            if misc & 0x2000:
                processes[pid].append([text(body[8:]), []])
            else:
                processes[pid][-1][0] = text(body[8:])
        elif kind == LOST:
            lost += struct.unpack_from("<Q", body, 8)[0]
        elif kind in (MMAP, MMAP2):
            start, size, offset = struct.unpack_from("<3Q", body, 8)
            if kind == MMAP or struct.unpack_from("<I", body, 56)[0] & 4:
                processes[pid][-1][1].append(
                    (start, start + size, offset, text(body[32 if kind == MMAP else 64:])))
    return processes, lost


def entries(report):
    """(comm, pid, count, [(address, named)]) of a text report, the leaf first."""
    frames = []
    who = None
    for line in report:
        m = re.match(r"    0x([0-9a-f]{16}) (.*)$", line)
        if m:
            frames.append((int(m[1], 16), not m[2].startswith("[unknown]")))
            continue
        m = re.match(r"    - +(.*) \((\d+)\)$", line)
        if m:
            who = m[1], m[2]
            continue
        m = re.match(r" +(\d+)$", line)
        if m and who:
            yield who[0], who[1], int(m[1]), frames
            frames, who = [], None


def compile_under(build, files, tmp):
    """Runs the build; returns (report, perf's log), or None if that does not work here."""
    for i in range(files):
        with open(f"{tmp}/f{i}.c", "w") as f:
            f.write(f"#include <stdio.h>\nint f{i}(int x) {{ int s = 0; for (int i = 0; i < x;"
                    f" i++) s += i * {i}; printf(\"%d\", s); return s; }}\n")
    with open(f"{tmp}/Makefile", "w") as f:
        f.write("libf.a: $(patsubst %.c,%.o,$(wildcard *.c))\n\tar rcs $@ $^\n"
                "%.o: %.c\n\tgcc -O1 -c $< -o $@\n")
    report, log = f"{tmp}/report.txt", f"{tmp}/perf.data"
    try:
        run = subprocess.run(
            ["perf", "record", "-q", "-B", "-N", "-o", log, "-k", "CLOCK_MONOTONIC", "-e",
             "dummy:u", "-a", "-m", "4M", "--", f"{build}/profile", "-F", "999", "-A", "-U", "--unknown",
             "-o", report, "--format", "text", "--", "make", "-C", tmp, "-s", "-j2"],
            capture_output=True, text=True, check=False)
    except FileNotFoundError:
        print("there is no perf")
        return None
    if run.returncode or not os.path.exists(report):
        print(run.stderr[-2000:])
        return None
    print(run.stderr.strip().splitlines()[-1])
    return report, log


def count_frames(report, processes):
    """Counts of (kind of frame, name), of failures, and of processes."""
    symbols, pids = {}, set()
    tally, failures = collections.Counter(), collections.Counter()
    for comm, pid, count, frames in entries(report):
        pids.add(pid)
        epochs = processes.get(int(pid), [])
        candidates = [e for e in epochs if e[0] == comm] or epochs
        for i, (address, named) in enumerate(frames):
            at = address - (i > 0)  # behind the call
            kind = "caller" if i else "leaf"
            where = [(path, at - start + offset) for _, mappings in candidates
                     for start, end, offset, path in mappings if start <= at < end]
            for path, _ in where:
                if path not in symbols:
                    symbols[path] = Symbols(path)
            has = [path for path, offset in where if symbols[path].cover(offset)]
            tally[kind, "all"] += count
            tally[kind, "in code"] += count * bool(where)
            tally[kind, "with a symbol"] += count * bool(has)
            tally[kind, "named of those"] += count * bool(has and named)
            tally[kind, "named without"] += count * bool(named and not has)
            if has and not named:
                failures[comm, kind, has[0]] += count
    return tally, failures, len(pids)


def main():
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    with tempfile.TemporaryDirectory() as tmp:
        made = compile_under(os.path.abspath(sys.argv[1]), files, tmp)
        if not made:
            return 2
        processes, lost = learn(made[1])
        if lost:
            print(f"perf lost {lost} events: the comparison would not be fair")
            return 2
        with open(made[0], errors="replace") as f:
            tally, failures, n_processes = count_frames(f, processes)
    columns = "all", "in code", "with a symbol", "named of those", "named without"
    for kind in ("leaf", "caller"):
        print(f"{kind} frames:", ", ".join(f"{c} {tally[kind, c]}" for c in columns))
    has = tally["leaf", "with a symbol"] + tally["caller", "with a symbol"]
    named = tally["leaf", "named of those"] + tally["caller", "named of those"]
    share = named / max(1, has)
    print(f"named {named} of {has} frames with a symbol in {n_processes} processes: {share:.3%}")
    for (comm, kind, where), count in failures.most_common(12):
        print(f"  not named: {count} {comm} {kind} {where}")
    return 0 if has and share >= LIMIT else 1


sys.exit(main())
