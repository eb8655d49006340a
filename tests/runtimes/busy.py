# SPDX-License-Identifier: GPL-2.0-or-later
"""A program whose functions can only call each other in a few ways; so are busy.js, .php, .pl and .rb:
main > run > handle > (render > leaf | order > sort in C > key)

busy.py MODE N: works for N seconds of CPU time (`work`), or has leaf and key ask for a process's id N times each (`ask`)."""
import os
import sys
import time


def asks():
    return sys.argv[1] == "ask"


def leaf(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    if asks():
        os.getppid()
    return total


def key(x):
    total = 0
    for i in range(60):
        total += x ^ i
    if asks():
        os.getppid()
    return total


def render(n):
    return leaf(n)


def order(n):
    return sorted(range(1 if asks() else n), key=key)


def handle():
    render(600)
    return order(10)


def run(n):
    end = time.process_time() + n
    done = 0
    while done < n if asks() else time.process_time() < end:
        handle()
        done += 1


def main():
    run(int(sys.argv[2]))


sys.stdout.write("ready %d\n" % os.getpid())
sys.stdout.flush()
sys.stdin.readline()
main()
