# SPDX-License-Identifier: GPL-2.0-or-later
"""Bends CPython 3.11's own chain of frames, calls getpid(), and bends it back:
python_forged.py. Each call is from the function named after what is bent."""
import ctypes
import os

api = ctypes.pythonapi
api.PyThreadState_Get.restype = ctypes.c_void_p
getpid = ctypes.PyDLL(None).getpid  # keeps the lock, and so the state


def word(address):
    return ctypes.c_uint64.from_address(address)


record = word(api.PyThreadState_Get() + 56)


def chain_in_a_circle():
    frame = word(record.value + 8).value
    place = word(frame + 48)
    before = place.value
    entry = ctypes.c_uint8.from_address(frame + 68)
    place.value = frame
    getpid()
    place.value = before
    return entry.value


def wild_pointer():
    frame = word(record.value + 8).value
    place = word(frame + 48)
    before = place.value
    place.value = 0x123456789000
    getpid()
    place.value = before


def no_code():
    frame = word(record.value + 8).value
    place = word(frame + 32)
    before = place.value
    place.value = record.value
    getpid()
    place.value = before


def calls():
    chain_in_a_circle()
    wild_pointer()
    no_code()


calls()
os.getpid()
