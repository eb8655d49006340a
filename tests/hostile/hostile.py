#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes of an ordinary account that try to keep a profiler of the whole machine busy.

  hostile.py DIRECTORY KIND...

For each KIND, a function of this file below, a process maps files that the function has written
into DIRECTORY and runs their code for ever, a little of each in turn. "ready" is printed when all
run.
"""

import ctypes
import inspect
import lzma
import mmap
import os
import struct
import sys
import time

PAGE = 4096
# mov $100000,%ecx; 1: dec %ecx; jnz 1b; ret
CODE = b"\xb9\xa0\x86\x01\x00\xff\xc9\x75\xfc\xc3"
PT_LOAD = 1
PROGBITS, SYMTAB, STRTAB = 1, 2, 3


class Elf:
    """A library with one page of code at 0x1000. Sections may be larger than their bytes: holes."""

    def __init__(self):
        self.sections = [(b"", 0, 0, 0, b"", 0, 0, 0, 0)]
        self.add(b".text", PROGBITS, CODE.ljust(PAGE, b"\xcc"), flags=6, address=PAGE)

    def add(self, name, kind, data, flags=0, address=0, size=None, link=0, entry=0):
        self.sections.append((name, kind, flags, address, data, len(data) if size is None else size,
                              link, 0, entry))
        return len(self.sections) - 1

    def write(self, path):
        names = b"\0".join(s[0] for s in self.sections) + b"\0.shstrtab\0"
        self.add(b".shstrtab", STRTAB, names)
        offset, offsets = PAGE, []
        for section in self.sections:
            offsets.append(offset)
            offset += -(-section[5] // PAGE) * PAGE
        with open(path, "wb") as f:
            f.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, offset, 0,
                                64, 56, 1, 64, len(self.sections), len(self.sections) - 1))
            f.write(struct.pack("<IIQQQQQQ", PT_LOAD, 5, PAGE, PAGE, PAGE, PAGE, PAGE, PAGE))
            for section, at in zip(self.sections, offsets):
                f.seek(at)
                f.write(section[4])
            f.seek(offset)
            for section, at in zip(self.sections, offsets):
                name, kind, flags, address, _, size, link, info, entry = section
                f.write(struct.pack("<IIQQQQIIQQ", names.index(name + b"\0"), kind, flags, address,
                                    at, size, link, info, 16, entry))


def symbol(name, start, size, kind=2):
    return struct.pack("<IBBHQQ", name, 0x10 | kind, 0, 1, start, size)


def symbols_in_a_hole(directory):
    """A symbol table of terabytes, in a file of a few kilobytes."""
    elf = Elf()
    strings = elf.add(b".strtab", STRTAB, b"\0f\0")
    elf.add(b".symtab", SYMTAB, symbol(1, PAGE, 10), size=8 << 40, link=strings, entry=24)
    elf.write(f"{directory}/hole")


def symbols_everywhere(directory):
    """The same with a byte in each piece, so that little of it is a hole."""
    elf = Elf()
    strings = elf.add(b".strtab", STRTAB, b"\0f\0")
    elf.add(b".symtab", SYMTAB, symbol(1, PAGE, 10), size=2 << 30, link=strings, entry=24)
    elf.write(f"{directory}/everywhere")
    with open(f"{directory}/everywhere", "r+b") as f:
        for at in range(1 << 20, 2 << 30, 1 << 16):
            f.seek(at)
            f.write(b"x")


def long_names(directory):
    """Names that take long to demangle, or get much longer by it."""
    for i in range(20):
        elf = Elf()
        name = b"_Z1f" + b"1aIS_" * 500 + b"S0_" * 500 + b"E" * 500
        names = b"\0" + b"".join(b"%s%d\0" % (name, each) for each in range(2000))
        strings = elf.add(b".strtab", STRTAB, names)
        table = b"".join(symbol(1 + each * (len(name) + 1), PAGE, 10) for each in range(2000))
        elf.add(b".symtab", SYMTAB, table, link=strings, entry=24)
        elf.write(f"{directory}/names{i}")


def debug_links_to_holes(directory):
    """Debug files of gigabytes without content, whose checksum has to be calculated."""
    for i in range(10):
        elf = Elf()
        elf.add(b".gnu_debuglink", PROGBITS, b"debug%d\0\0\0\1\2\3\4" % i)
        elf.write(f"{directory}/link{i}")
        Elf().write(f"{directory}/debug{i}")
        os.truncate(f"{directory}/debug{i}", 4 << 30)


def compressed_symbols(directory):
    """.gnu_debugdata that unpacks to 60 MB each."""
    packed = lzma.compress(bytes(60 << 20), preset=1)
    for i in range(20):
        elf = Elf()
        elf.add(b".gnu_debugdata", PROGBITS, packed)
        elf.write(f"{directory}/packed{i}")


def many_frames(directory):
    """Call frame information of half a million functions, each with many rows."""
    cie = b"\0\0\0\0" + b"\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0\0"
    frames = struct.pack("<I", len(cie)) + cie
    program = b"\x0e\x10\x41" * 14 + b"\0\0"
    out = [frames]
    at = len(frames)
    for i in range(500000):
        body = struct.pack("<IiIB", at + 4, (PAGE + i % 4000) - (0x100000 + at + 8), 40, 0) + program
        body += b"\0" * (-len(body) % 4)
        out.append(struct.pack("<I", len(body)) + body)
        at += 4 + len(body)
    elf = Elf()
    elf.add(b".eh_frame", PROGBITS, b"".join(out), flags=2, address=0x100000)
    for i in range(4):
        elf.write(f"{directory}/frames{i}")
        elf.sections.pop()
        elf.add(b".x%d" % i, PROGBITS, os.urandom(16))


def torn(directory):
    """Headers that claim more bytes than the file has, and senseless section headers."""
    for i in range(50):
        elf = Elf()
        strings = elf.add(b".strtab", STRTAB, b"\0f\0")
        elf.add(b".symtab", SYMTAB, symbol(1, PAGE, 10), link=strings, entry=i)
        path = f"{directory}/torn{i}"
        elf.write(path)
        with open(path, "r+b") as f:
            # The sizes of the last section headers.
            f.seek(os.path.getsize(path) - 64 * (i % 4 + 1) + 32)
            f.write(struct.pack("<Q", (1 << 63) - i))


def perf_maps_in_holes(directory):
    """Perf maps of a gigabyte without content, of twenty processes."""
    for _ in range(19):
        if os.fork() == 0:
            break
    path = f"/tmp/perf-{os.getpid()}.map"
    with open(path, "wb") as f:
        f.write(b"0 1 nothing\n")
        f.truncate(1 << 30)


def long_perf_map(directory):
    """A perf map whose every line names all addresses."""
    with open(f"/tmp/perf-{os.getpid()}.map", "w", encoding="ascii") as f:
        for i in range(2000000):
            f.write(f"1 ffffffffffffffff f{i}\n")


def map_code(path):
    """Returns the code in a file, or in memory if `path` is None, as a function."""
    if path:
        with open(path, "rb") as f:
            mapped = mmap.mmap(f.fileno(), PAGE, flags=mmap.MAP_PRIVATE, offset=PAGE,
                               prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    else:
        mapped = mmap.mmap(-1, PAGE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        mapped.write(CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    return ctypes.CFUNCTYPE(None)(address), mapped


def run(directory, kind, ready):
    os.mkdir(directory)
    globals()[kind](directory)
    paths = [f"{directory}/{name}" for name in sorted(os.listdir(directory))
             if not name.startswith("debug")]
    codes = [map_code(path) for path in paths or [None]]
    os.write(ready, b"x")
    while True:
        for code, _ in codes:
            code()
        if os.getppid() == 1:
            sys.exit()
        time.sleep(0.001)


def main():
    directory, kinds = sys.argv[1], sys.argv[2:]
    if not kinds:
        kinds = [name for name, what in globals().items()
                 if inspect.isfunction(what) and list(inspect.signature(what).parameters) ==
                 ["directory"]]
    os.mkdir(directory)
    ours, theirs = os.pipe()
    for kind in kinds:
        if os.fork() == 0:
            run(f"{directory}/{kind}", kind, theirs)
    os.close(theirs)
    for _ in kinds:
        if not os.read(ours, 1):
            sys.exit("not all run")
    print("ready", os.getpid(), flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    main()
