#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A process that maps a library and lies about its IFUNCs: wrong_choice.py LIBRARY BYTES

In its own memory, what each resolver chose is moved by BYTES. Prints "ready PID".
"""

import ctypes
import os
import re
import subprocess
import sys
import time

PAGE = 4096


def main():
    library, by = os.path.realpath(sys.argv[1]), int(sys.argv[2])
    libc = ctypes.CDLL(None, use_errno=True)
    ctypes.CDLL(library)
    with open("/proc/self/maps", encoding="utf-8") as f:
        start = min(int(line.split("-")[0], 16) for line in f if line.rstrip().endswith(library))
    relocations = subprocess.run(["readelf", "-rW", library], check=True, capture_output=True,
                                 text=True).stdout
    slots = [int(slot, 16) for slot in re.findall(r"^([0-9a-f]+) .*IRELATIVE", relocations, re.M)]
    if not slots:
        sys.exit("no IFUNCs")
    for slot in slots:
        at = start + slot
        if libc.mprotect(ctypes.c_void_p(at // PAGE * PAGE), ctypes.c_size_t(PAGE), 3):
            sys.exit("mprotect: " + os.strerror(ctypes.get_errno()))
        ctypes.c_uint64.from_address(at).value += by
    print("ready", os.getpid(), flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    main()
