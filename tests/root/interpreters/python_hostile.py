# SPDX-License-Identifier: GPL-2.0-or-later
"""A process that forges CPython 3.11's state: python_hostile.py SEED [MICROSECONDS]. Each way has a function, from
which getpid() is called; with MICROSECONDS it sleeps there instead. For each, prints its name, how many calls, and the time of one in microseconds that
nine of ten did not exceed."""
import ctypes
import functools
import gc
import os
import random
import sys
import time

gc.disable()
api = ctypes.pythonapi
api.PyThreadState_Get.restype = ctypes.c_void_p
getpid = ctypes.PyDLL(None).getpid  # keeps the lock, and so the state
if len(sys.argv) > 2:
    getpid = functools.partial(ctypes.PyDLL(None).usleep, int(sys.argv[2]))
CURRENT, RECORD_BEFORE = 8, 16                      # offsets in a record,
PREVIOUS, IS_ENTRY, FRAME_BYTES = 48, 68, 80        # a frame,
QUALNAME, LENGTH, HASH, STATE = 128, 16, 24, 32     # a code object and a string
WILD = [0, 1, 8, (1 << 47) - 8, 1 << 63, (1 << 64) - 8]


def word(address):
    return ctypes.c_uint64.from_address(address)


record = word(api.PyThreadState_Get() + 56)


def calls(times, forge):
    """Calls getpid() while a word of the state has another value; forge() gives both."""
    took = []
    for i in range(times):
        place, value = forge(i)
        kept = place.value
        before = time.perf_counter()
        place.value = value
        getpid()
        place.value = kept
        took.append(time.perf_counter() - before)
    took.sort()
    print(sys._getframe(1).f_code.co_name, times, int(took[times * 9 // 10] * 1e6))


def endless_chain():
    """The caller's frame leads to 100,000 others, and they in a circle."""
    n = 100000
    room = ctypes.create_string_buffer(n * FRAME_BYTES)
    first, here = ctypes.addressof(room), word(record.value + CURRENT).value
    for at in range(first, first + n * FRAME_BYTES, FRAME_BYTES):
        ctypes.memmove(at, here, FRAME_BYTES)
        word(at + PREVIOUS).value = at + FRAME_BYTES
        ctypes.c_uint8.from_address(at + IS_ENTRY).value = 0
    word(at + PREVIOUS).value = first
    calls(50, lambda i: (word(here + PREVIOUS), first))


def endless_runs():
    """The record before is the record itself."""
    calls(50, lambda i: (word(record.value + RECORD_BEFORE), record.value))


def changing_code():
    """A code object in the stack changes its name each time."""
    names = [f"name {i}" for i in range(100)]
    calls(300, lambda i: (word(id(changing_code.__code__) + QUALNAME), id(names[i % 100])))


def long_names():
    """The name is a string that says that it has 1 GB, or no string at all."""
    forged = []
    for length, state in ((1 << 30, None), ((1 << 64) - 1, None), (1 << 20, None), (0, None), (8, 0), (8, 0xff)):
        text = ctypes.create_string_buffer(128)
        at = ctypes.addressof(text)
        ctypes.memmove(text, id("a name"), 55)
        word(at + LENGTH).value = length
        word(at + HASH).value = (1 << 64) - 1  # none yet
        if state is not None:
            ctypes.c_uint32.from_address(at + STATE).value = state
        forged.append(text)
    values = [ctypes.addressof(text) for text in forged] + WILD
    calls(300, lambda i: (word(id(long_names.__code__) + QUALNAME), values[i % len(values)]))


def escapes():
    """Names that would write to a terminal."""
    name = "\x1b]0;evil\x07\x1b[31m;a\nb\u202e\u2028\udc80"
    code = compile("def f(): getpid()", "/x/\x1b[2J\n.py", "exec").co_consts[0].replace(co_qualname=name)
    function = type(calls)(code, globals())
    for _ in range(10):
        function()


def random_frames():
    """The innermost frame, and those that it leads to, are random words, most of them addresses."""
    chosen = random.Random(int(sys.argv[1]))
    room = ctypes.create_string_buffer(4096)
    base, here = ctypes.addressof(room), word(record.value + CURRENT).value
    known = [base, here, id(calls.__code__), id(calls), id("name"), record.value, api.PyThreadState_Get()] + WILD

    def forge(_):
        for at in range(0, 1024, 8):
            word(base + at).value = chosen.choice(known) + chosen.choice((0, 0, 0, 8, -8, 80)) & (1 << 64) - 1
        return word(record.value + CURRENT), chosen.choice((base, base + 80, base + 512, chosen.choice(known)))
    calls(2000, forge)


print("ready", os.getpid(), flush=True)
time.sleep(0.2)  # until the libraries have their tables
endless_chain()
endless_runs()
changing_code()
long_names()
escapes()
random_frames()
os.getpid()
