# SPDX-License-Identifier: GPL-2.0-or-later
"""What our commands say last, on stderr: how much they counted, and how much they lost."""
import re

from measure import Failed

CLOSING = re.compile(r"^(?:(?P<n>\d+) (?:samples?|events?)|[\d.]+ s .*), \d+ stacks?, (?P<lost>\d+) lost$", re.M)


def closing(said):
    """(counted, lost); of time there is no number of what was counted."""
    found = CLOSING.search(said)
    if not found:
        raise Failed(f"no closing line in: {said[-400:]}")
    return int(found["n"] or 0), int(found["lost"])


def lost_of(said, times):
    """Events lost: those that the tool reports, and those that it should have counted."""
    counted, lost = closing(said)
    return max(lost, times - counted)
