# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls getpid() from stacks of all kinds, and writes its own account of them:
python_oracle.py FILE [lines]. Each line is as in a folded report with the functions of the program only,
and with `lines` as in one with --lines, but the directories."""
import asyncio
import collections
import contextlib
import ctypes
import functools
import os
import sys
import threading
import time
import traceback

seen = []


def qualname(code):
    return getattr(code, "co_qualname", code.co_name)


def show(code, line):
    file = os.path.basename(code.co_filename)
    return f"{qualname(code)} ({file})" + (f" ({file}:{line})" if "lines" in sys.argv else "")


def account(frame):
    seen.append(";".join(reversed([show(f.f_code, line) for f, line in traceback.walk_stack(frame)])))


def probe(*_):
    account(sys._getframe()), os.getpid()  # on the same line
    return 0


def write(path):
    with open(path, "a", encoding="utf-8") as to:
        for stack, count in collections.Counter(seen).items():
            to.write(f"{stack} {count}\n")


def recurse(n):
    return probe() if n == 0 else recurse(n - 1)


def through_c(n):
    """Each level is a call of the evaluator by C code."""
    if n == 0:
        probe()
    else:
        list(map(through_c, [n - 1]))
        sorted([1], key=lambda x: probe())


def generator(n):
    probe()
    yield 1
    if n:
        yield from generator(n - 1)
    probe()


async def coroutine(n):
    probe()
    await asyncio.sleep(0)
    if n:
        await asyncio.gather(coroutine(n - 1), coroutine(n - 1))
    async for _ in asynchronous():
        probe()


async def asynchronous():
    for i in range(2):
        probe()
        yield i


def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        probe()
        return function(*args, **kwargs)
    return wrapper


@decorator
@functools.lru_cache(None)
def decorated(n):
    probe()
    return decorated(n - 1) if n else 0


class Outer:
    class Inner:
        def __init__(self):
            probe()

        def __del__(self):
            probe()

        @property
        def value(self):
            return probe()

        def __eq__(self, other):
            return probe() == 0

        __hash__ = None

    @classmethod
    def make(cls):
        return [cls.Inner().value for _ in range(3)]

    @staticmethod
    def compare():
        return cls_equal(Outer.Inner(), Outer.Inner())


def cls_equal(a, b):
    return a in [b]


@contextlib.contextmanager
def context():
    probe()
    yield
    probe()


def exceptions(n):
    try:
        if n:
            return exceptions(n - 1)
        raise ValueError
    except ValueError:
        probe()
        raise
    finally:
        probe()


def callbacks():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: probe())
    array = (ctypes.c_int * 2)(2, 1)
    time.sleep(0.1)  # until it is known that the callback's code is mapped
    ctypes.CDLL(None).qsort(array, 2, 4, compare)


def with_names():
    names = {"probe": probe}
    exec(compile("def grüße():\n probe()\ngrüße()", "/tmp/日本語.py", "exec"), names)
    exec(compile("def f():\n probe()\nf()", "x/" * 400 + "deep.py", "exec"), names)
    for i in range(300):  # code objects come and go at the same addresses
        exec(compile(f"def made_{i}():\n probe()\nmade_{i}()", f"made_{i % 7}.py", "exec"),
             {"probe": probe})
    eval("probe()")


def in_threads():
    def work(n):
        for i in range(n):
            recurse(i)
    threads = [threading.Thread(target=work, args=(20,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def profiled():
    sys.setprofile(lambda *args: probe())
    len(())
    sys.setprofile(None)


def main(path):
    time.sleep(0.2)  # until the libraries that were loaded just now have their tables
    recurse(3)
    recurse(900)
    through_c(30)
    list(generator(3))
    asyncio.new_event_loop().run_until_complete(coroutine(2))
    decorated(3)
    Outer.make()
    Outer.compare()
    with context():
        probe()
    with contextlib.suppress(ValueError):
        exceptions(3)
    {k: probe() for k in range(2)}
    list(probe() for _ in range(2))
    callbacks()
    with_names()
    in_threads()
    profiled()
    child = os.fork()
    if child == 0:
        seen.clear()
        recurse(5)
        in_threads()
        write(path)
        os._exit(0)
    os.waitpid(child, 0)
    recurse(7)
    write(path)


main(sys.argv[1])
