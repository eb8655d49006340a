#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long threads were blocked and waited for a CPU, by perf: timehist.py FILE

FILE is what `perf sched timehist --with-summary --state` prints. For each thread in it prints

    TID BLOCKED WAITING ABSENCES

in microseconds. The summary has exact sums: of the time from leaving a CPU to the return, and of the
delay between being made ready to run and the return. The rows, one for each time that a thread
leaves, tell to which absences they belong. A thread that left while it was ready to run waited all the
time, and a delay is a part of that; the summary counts those that were preempted as sleep. A new
thread has a delay only.
"""
import re
import sys

# time [cpu] comm[tid/pid] wait, delay, run (ms), state; a single-threaded process has only [tid].
ROW = re.compile(r" *\d+\.\d+ \[\d+\] +.*\[(\d+)(?:/\d+)?\] +([\d.]+) +([\d.]+) +([\d.]+) +(\S+) *$")
# comm[tid/pid] parent count run, sleep, iowait, preempt, delay (ms)
SUM = re.compile(r" +.*\[(\d+)(?:/\d+)?\] +-?\d+ +(\d+)" + 5 * r" +([\d.]+)" + " *$")

# What it calls the states of threads that were ready to run; W is how it reads the mark of a preemption.
READY = ("R", "R+", "W")


class Thread:
    def __init__(self):
        self.state = None  # in which it left last; None: it is new
        self.new = 0.0     # its first delay, which follows no absence
        self.ready = 0.0   # absences of a thread that was ready to run
        self.within = 0.0  # the delays that are part of them


def main():
    threads, sums = {}, {}
    with open(sys.argv[1], errors="replace") as file:
        for line in file:
            if m := ROW.match(line):
                thread = threads.setdefault(int(m[1]), Thread())
                away, delay = float(m[2]), float(m[3])
                if thread.state is None:
                    thread.new += delay
                elif thread.state in READY:
                    thread.ready += away
                    thread.within += delay
                thread.state = m[5]
            elif m := SUM.match(line):
                sums[int(m[1])] = [float(value) for value in m.groups()[1:]]
    for tid, (turns, _, sleep, iowait, preempt, delay) in sums.items():
        thread = threads.get(tid, Thread())
        waiting = thread.ready + delay - thread.within
        blocked = sleep + iowait + preempt + thread.new - waiting
        print(tid, round(1000 * blocked), round(1000 * waiting), int(turns))


main()
