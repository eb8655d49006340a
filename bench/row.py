# SPDX-License-Identifier: GPL-2.0-or-later
"""One number that is measured, of each tool."""


class Row:
    """One number of each tool, in every round."""

    def __init__(self, what, unit, target=None, ratio=None, note=""):
        self.what, self.unit, self.note = what, unit, note
        self.target = target  # at most so many, for ours
        self.ratio = ratio    # at most so many times that peer's: (times, peer)
        self.values = {}
        self.table = []       # lines of Markdown that say more

    def add(self, tool, value):
        self.values.setdefault(tool, []).append(value)

    def as_dict(self):
        return {"what": self.what, "unit": self.unit, "target": self.target, "ratio": self.ratio,
                "note": self.note, "values": self.values, "table": self.table}
