# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares stacks of a Java program with its own account of them: java_match.py SEEN ACCOUNT [lines].

Both are folded. The account has what StackWalker gives at a call that the stacks were taken in, a little later.
Prints what does not match, and last how many stacks were compared.
"""
import collections
import re
import sys

METHOD = re.compile(r"[\w$]+(\.[\w$<>-]+)+( \([\w.$]*:\d+\))?")
LAST = "java_oracle.report"
ENTER = "jdk.internal.vm.Continuation.enterSpecial"


def plain(frame, lines):
    """Classes without names have a number or an address; what has no line has none above 0."""
    frame = re.sub(r" \((?![^()]*:[1-9])[^()]*\)$" if lines else r" \([^()]*\)$", "", frame)
    frame = re.sub(r"[/+]0x[0-9a-f]+", "", frame)
    return re.sub(r"(\$\$Lambda)\$\d+", r"\1", frame)


def read(path, lines):
    counts = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            frames = [plain(frame, lines) for frame in stack.split(";")]
            # A virtual thread does not know of the thread that runs it.
            if ENTER in frames:
                frames = frames[frames.index(ENTER) + 1:]
            frames = [frame for frame in frames if METHOD.fullmatch(frame) or frame.startswith("[java: ")]
            last = [i for i, frame in enumerate(frames) if frame.split(" ")[0] == LAST]
            if last:
                # Its own line is another one by then.
                frames = frames[:last[0]] + [LAST]
                counts[";".join(frames)] += int(count)
    return counts


with_lines = len(sys.argv) > 3
seen, account = read(sys.argv[1], with_lines), read(sys.argv[2], with_lines)
for kind, counts in (("seen", seen - account), ("missing", account - seen)):
    for stack, n in counts.items():
        print(kind, stack, n)
print(sum((seen & account).values()))
