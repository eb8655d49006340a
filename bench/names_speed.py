#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Naming 1,000,000 distinct addresses across 500 files, and in one of 500 MB, beside `perf script`.

  bench/names_speed.py BUILD

The 500 files are ELF files written here, of 5,000 functions each, every other name a mangled one of
C++, as not every machine has 500 files that are not stripped; a second round takes as many of the
system's own libraries as there are, up to 500. The large one has 3,000,000 functions and 250 MB of
.debug_info (bytes that no name is looked up in). Each is done three times; the least time
stands. perf gets the same addresses as a perf.data file with one sample for each.
"""

import os
import resource
import struct
import subprocess
import sys
import tempfile
import time

TEXT = 0x1000


def write_elf(path, functions, prefix, debug=0):
    """A shared object with that many functions of 64 bytes, and `debug` bytes of .debug_info."""
    names = [b"%s_ns%d_function_of_some_length_%d" % (prefix, i % 97, i) if i % 2 else
             b"_ZN%d%s23function_of_some_lengthILi%dEEEi" % (len(prefix), prefix, i)
             for i in range(functions)]
    text = functions * 64
    strings = b"\0" + b"\0".join(names) + b"\0"
    symbols = bytearray(24)
    at = 1
    for i, name in enumerate(names):
        symbols += struct.pack("<IBBHQQ", at, 0x12, 0, 1, TEXT + i * 64, 60)
        at += len(name) + 1
    section_names = b"\0.text\0.symtab\0.strtab\0.debug_info\0.shstrtab\0"
    offsets = [TEXT, TEXT + text]
    offsets.append(offsets[1] + len(symbols))
    offsets.append(offsets[2] + len(strings))
    offsets.append(offsets[3] + debug)
    table = offsets[4] + len(section_names)
    with open(path, "wb") as f:
        f.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, table, 0, 64,
                            56, 1, 64, 6, 5))
        f.write(struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, TEXT + text, TEXT + text, 4096))
        f.seek(TEXT)
        f.write(b"\xcc" * text)
        f.write(symbols)
        f.write(strings)
        for _ in range(debug >> 20):
            f.write(os.urandom(1 << 20))
        f.seek(offsets[4])
        f.write(section_names)
        f.write(bytes(64))
        for name, kind, flags, offset, size, link, info, entry in (
                (1, 1, 6, TEXT, text, 0, 0, 0),
                (7, 2, 0, offsets[1], len(symbols), 3, 1, 24),
                (15, 3, 0, offsets[2], len(strings), 0, 0, 0),
                (23, 1, 0, offsets[3], debug, 0, 0, 0),
                (35, 3, 0, offsets[4], len(section_names), 0, 0, 0)):
            f.write(struct.pack("<IIQQQQIIQQ", name, kind, flags, TEXT if kind == 1 and flags else 0,
                                offset, size, link, info, 1, entry))


def apart(*arguments):
    """In a process of its own: a peak of memory is handed on to what we start later."""
    child = os.fork()
    if child == 0:
        write_elf(*arguments)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("cannot write the files")


def system_libraries():
    found = {}
    for directory in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"):
        for root, _, files in os.walk(directory):
            for name in files:
                path = os.path.join(root, name)
                try:
                    with open(path, "rb") as f:
                        if f.read(4) == b"\x7fELF" and os.path.getsize(path) > 60000:
                            found[path] = True
                except OSError:
                    pass
    return sorted(found)[:600]


def best(argv, files=None):
    """(wall s, CPU s, peak RSS in MB, first line, named lines) of the fastest of three runs."""
    runs = []
    for _ in range(3):
        with open(files) if files else open(os.devnull) as stdin:
            begin = time.monotonic()
            child = subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL)
            first, named = "", 0
            for line in child.stdout:
                first = first or line.decode("utf-8", "replace").strip()
                named += b"[unknown]" not in line
            _, _, usage = os.wait4(child.pid, 0)
            runs.append((time.monotonic() - begin, usage.ru_utime + usage.ru_stime,
                         usage.ru_maxrss / 1024, first, named))
    return min(runs)


def compare(program, title, paths, addresses, tmp):
    files, data = f"{tmp}/list", f"{tmp}/perf.data"
    with open(files, "w") as f:
        f.write("\n".join(paths) + "\n")
    ours = best([program, str(addresses), "-"], files)
    print(f"{title}:\n  ours        {ours[3]}")
    with open(files) as f:
        subprocess.run([program, str(addresses), data], stdin=f, check=True,
                       stdout=subprocess.DEVNULL)
    try:
        perfs = best(["perf", "script", "-i", data, "-F", "ip,sym"])
    except FileNotFoundError:
        print("  perf script is not there")
        return
    print(f"  perf script {perfs[4]} frames named in {perfs[0]:.3f} s ({perfs[1]:.3f} s of CPU), "
          f"RSS {perfs[2]:.1f} MB")
    print(f"  whole programs: {ours[0]:.3f} s against {perfs[0]:.3f} s: {ours[0] / perfs[0]:.2f}; "
          f"CPU {ours[1]:.3f} s against {perfs[1]:.3f} s: {ours[1] / perfs[1]:.2f}", flush=True)


def compile_program(build, tmp):
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    program = f"{tmp}/names_speed"
    source_dirs = subprocess.check_output([f"{top}/scripts/rooms", "flags"], text=True).split()
    subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", *source_dirs,
                    f"{top}/bench/names_speed.c", f"{build}/libcore.a", "-o", program, "-ldw",
                    "-lelf", "-liberty", "-lz", "-llzma", "-lbz2", "-lzstd", "-lpthread"],
                   check=True)
    return program


def write_libraries(tmp, files=500):
    paths = [f"{tmp}/lib{i}.so" for i in range(files)]
    for i, path in enumerate(paths):
        apart(path, 5000, b"library%d" % i)
    return paths


def write_large(path, functions=3000000):
    """Its size in MB; a third of a MB of .debug_info for each 4000 functions."""
    apart(path, functions, b"large", functions // 12000 << 20)
    return os.path.getsize(path) >> 20


def main():
    build = os.path.abspath(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    with tempfile.TemporaryDirectory() as tmp:
        program = compile_program(build, tmp)
        paths = write_libraries(tmp)
        compare(program, "1,000,000 addresses, 500 files of 5,000 functions", paths, 1000000, tmp)
        compare(program, "1,000,000 addresses, the system's libraries", system_libraries(), 1000000,
                tmp)
        large = f"{tmp}/large.so"
        size = write_large(large)
        for addresses in (1000, 100000):
            compare(program, f"{addresses} addresses, one file of {size} MB", [large], addresses,
                    tmp)


if __name__ == "__main__":
    main()
