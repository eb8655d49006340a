#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a measurement that is watched live.

  bench/live_cost.py BUILD [NODES [SECONDS]]

Runs `profile -F 99 --live` on a program whose stacks make NODES (10000) boxes, reads the event
stream until it has that many, and then measures for SECONDS (20) the CPU time of the threads that
serve pages, keep the model and read the activity (/proc/PID/task/*/schedstat). Clients are other
processes and not measured.

Prints per cent of one core. Exit status: 1 above 1 %.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request

LIMIT = 1.0


def threads(pid):
    """Nanoseconds on a CPU, by thread name."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as comm, \
                open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as stat:
            name = comm.read().strip()
            found[name] = found.get(name, 0) + int(stat.read().split()[0])
    return found


def events(url):
    name = None
    for line in urllib.request.urlopen(url + "events", timeout=60):
        if line.startswith(b"event: "):
            name = line[7:].strip().decode()
        elif line.startswith(b"data: "):
            yield name, line[6:]


def main():
    build = sys.argv[1]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    # Two boxes a level, and half as many paths as the last level has.
    levels = max(4, (wanted // 3).bit_length())
    busy = subprocess.Popen([f"{build}/tests/workloads/paths", "0", str(os.cpu_count()), str(levels)],
                            stdout=subprocess.PIPE)
    profile = subprocess.Popen([f"{build}/profile", "-F", "99", "--live", "-f", "-p", str(busy.pid)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = profile.stderr.readline()
        stream = events(line.split()[-1])
        nodes = boxes = size = ticks = samples = 0
        before = began = None
        for name, data in stream:
            told = json.loads(data)
            nodes += len(told["nodes"]) // 2
            if name != "tick":
                continue
            if before is None and nodes >= wanted:
                before, began, boxes = threads(profile.pid), time.monotonic(), nodes
            if before is not None:
                size += len(data)
                samples += told["samples"]
                ticks += 1
                if time.monotonic() - began >= seconds:
                    break
        after, lasted = threads(profile.pid), time.monotonic() - began
        spent = {name: (after[name] - before.get(name, 0)) / lasted / 1e7 for name in after}
        live = sum(share for name, share in spent.items() if name.startswith("live-"))
        print(f"{boxes} boxes at first, {nodes} at last; one viewer, {lasted:.1f} s, {samples} samples, "
              f"{size / ticks / 1000:.1f} kB a second")
        for name, share in sorted(spent.items(), key=lambda it: -it[1]):
            print(f"  {name:16} {share:.3f} %")
        print(f"serving: {live:.3f} % of one core")
        return 1 if live > LIMIT else 0
    finally:
        profile.terminate()
        busy.kill()
        profile.wait()


sys.exit(main())
