# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the innermost methods of a program by two profilers: java_shares.py FOLDED COLLAPSED.

Prints its samples in both, how many points the twenty methods with most samples differ by at most, and which.
The other profiler has stacks that it could not follow to the program's main(), below `[unknown]`.
"""
import collections
import re
import sys

JAVA = re.compile(r"[\w$]+(\.[\w$<>-]+)+")


def plain(frame):
    frame = re.sub(r"_\[.\]$", "", frame).replace("/", ".")
    return re.sub(r"(\$\$Lambda|Form\$D?MH)[.+$]?(\d+\.)?(0x[0-9a-f]+)?", r"\1", frame)


def read(path, belongs):
    counts = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            frames = [plain(frame) for frame in stack.split(";")]
            if belongs(frames):
                methods = [frame for frame in frames if JAVA.fullmatch(frame)]
                counts[methods[-1] if methods else ""] += int(count)
    total = sum(counts.values())
    return total, {name: 100 * n / total for name, n in counts.items()}


n_ours, ours = read(sys.argv[1], lambda frames: "java_shares.main" in frames)
n_theirs, theirs = read(sys.argv[2], lambda frames: "java_shares.main" in frames or frames[0] == "[unknown]")
top = sorted(theirs, key=theirs.get)[-20:]
worst = max(top, key=lambda name: abs(theirs[name] - ours.get(name, 0)))
print(n_ours, n_theirs, f"{abs(theirs[worst] - ours.get(worst, 0)):.2f}", worst)
for name in reversed(top):
    print(f"# {ours.get(name, 0):5.1f} {theirs[name]:5.1f} {name}")
