#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the deepest chain of calls of each program of a BPF object, and the bytes of stack that it needs.

  bpf_stack.py OBJECT

Kernels refuse a program with a chain of more than 512 bytes, each function's rounded up to 32 (later than 6.1: 16), or
of more than 8 functions. A function needs the bytes below r10 that it touches. Each line: BYTES FUNCTIONS CHAIN.
"""

import struct
import sys

LOAD, ADD, MOVE, CALL = 0x61, 0x07, 0xbf, 0x85
FRAME = 10  # the register


class Elf:
    """Sections, functions and relocations of a BPF object: 64 bits, the lower byte first."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        at, size, n, names = struct.unpack_from("<Q10xHHH", self.data, 40)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(n)]
        table = next(s for s in self.sections if s[1] == 2)
        strings = self.sections[table[6]][4]
        self.symbols = []
        for at in range(table[4], table[4] + table[5], 24):
            name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            end = self.data.index(b"\0", strings + name)
            self.symbols.append((self.data[strings + name:end].decode(), info & 15, section, value, size))

    def functions(self):
        """(section, offset) -> name, instructions"""
        for name, kind, section, value, size in self.symbols:
            if kind == 2 and size:
                start = self.sections[section][4] + value
                yield (section, value), name, self.data[start:start + size]

    def relocations(self):
        """(section, offset) -> symbol"""
        for section in self.sections:
            if section[1] == 9:  # SHT_REL
                for at in range(section[4], section[4] + section[5], 16):
                    offset, info = struct.unpack_from("<QQ", self.data, at)
                    yield (section[7], offset), self.symbols[info >> 32]


def read(path):
    """name -> bytes of its frame, names of what it calls; and the names of programs"""
    elf = Elf(path)
    named = {place: name for place, name, _ in elf.functions()}
    relocated = dict(elf.relocations())
    frames, calls = {}, {}
    for (section, value), name, code in elf.functions():
        deepest, copies, called = 0, set(), set()
        for at in range(0, len(code), 8):
            opcode, registers, offset, number = struct.unpack_from("<BBhi", code, at)
            to, source = registers & 15, registers >> 4
            kind = opcode & 7
            if kind == 1 and source == FRAME or kind in (2, 3) and to == FRAME:
                deepest = max(deepest, -offset)
            if opcode == ADD and to in copies:
                deepest = max(deepest, -number)
            if opcode == CALL and source == 1:
                symbol = relocated.get((section, value + at))
                if symbol and symbol[1] == 3:  # a section: the offset is in the instruction
                    called.add(named[symbol[2], (number + 1) * 8])
                elif symbol:
                    called.add(symbol[0])
                else:
                    called.add(named[section, value + at + (number + 1) * 8])
            if kind in (1, 7, 4) or opcode == CALL:
                copies.discard(to)
            if opcode == MOVE and source == FRAME:
                copies.add(to)
        frames[name], calls[name] = deepest, called
    entries = {name for (section, _), name, _ in elf.functions()} - {c for of in calls.values() for c in of}
    return frames, calls, entries


def deepest_chain(name, frames, calls, known):
    if name not in known:
        below = max((deepest_chain(c, frames, calls, known) for c in calls[name]), default=(0, 0, []))
        own = (max(frames[name], 1) + 31) // 32 * 32
        longest = max((deepest_chain(c, frames, calls, known)[1] for c in calls[name]), default=0)
        known[name] = (own + below[0], 1 + longest, [f"{name}:{frames[name]}", *below[2]])
    return known[name]


def main():
    frames, calls, entries = read(sys.argv[1])
    known = {}
    for name in sorted(entries):
        size, functions, chain = deepest_chain(name, frames, calls, known)
        print(size, functions, " > ".join(chain))


main()
