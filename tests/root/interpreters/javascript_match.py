# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares stacks of a JavaScript program with its own account of them: javascript_match.py SEEN ACCOUNT.

Both are folded. A frame that says that functions are missing stands for any functions, or none. Prints what does
not match, and last how many calls had all of their functions and how many were not known yet.
"""
import collections
import re
import sys


def read(path):
    counts = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            counts[stack] += int(count)
    return counts


def pattern(stack):
    anything = r"(?:[^;]*;)*"
    parts = (anything if frame.startswith("[javascript: ") else re.escape(f"{frame};")
             for frame in stack.split(";"))
    return re.compile("".join(parts))


def as_of_class(counts):
    """What initializes fields has the class's name from V8 12 on, but its own one in V8's text."""
    named = collections.Counter()
    for stack, count in counts.items():
        named[re.sub(r"<(static|instance_members)_initializer>", "Derived", stack)] += count
    return named


seen, account = as_of_class(read(sys.argv[1])), as_of_class(read(sys.argv[2]))
whole = sum((seen & account).values())
marked, left = seen - account, account - seen
early = sum(n for stack, n in marked.items() if "[javascript: not known yet]" in stack)
fitting = {stack: [of for of in left if pattern(stack).fullmatch(f"{of};")] for stack in marked}
for stack in sorted(marked, key=lambda stack: len(fitting[stack])):
    for of in fitting[stack]:
        n = min(marked[stack], left[of])
        marked[stack] -= n
        left[of] -= n
for kind, counts in (("seen", +marked), ("missing", +left)):
    for stack, n in counts.items():
        print(kind, ";".join(stack.split(";")[-4:]), n)
print(whole, early)
