# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command on a terminal of its own: the screen, and the state in which the terminal is left.

For tests: `with Terminal([program, ...], rows, columns, env) as t: t.wait_for("text"); t.send("q")`.
pyte emulates the terminal. It has no alternate screen: that state is kept here.
"""
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time

sys.path.append("/usr/lib/python3/dist-packages")
import pyte  # noqa: E402

MODES = re.compile(rb"\x1b\[\?(\d+)([hl])")


class Terminal:
    def __init__(self, argv, rows=24, columns=80, env=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.output = b""
        self.modes = {}
        self.status = None
        master, slave = os.openpty()
        self.master, self.slave = master, slave
        self.resize(rows, columns, tell=False)
        self.before = termios.tcgetattr(slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in (0, 1, 2):
                os.dup2(slave, fd)
            os.closerange(3, 64)
            # The process that runs the tests may ignore SIGINT; children inherit that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execvpe(argv[0], argv, {**os.environ, "TERM": "xterm-256color",
                                       "LC_ALL": "C.UTF-8", **(env or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        os.close(self.slave)

    def resize(self, rows, columns, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.screen.resize(rows, columns)

    def feed(self, seconds):
        """Reads output for up to that time; returns False when the command has ended."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            self.output += data
            for mode, value in MODES.findall(data):
                self.modes[int(mode)] = value == b"h"
            self.stream.feed(data)
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        return self.status is None or bool(ready)

    def wait(self, condition, seconds=30):
        """Waits until the condition is true; returns whether it is."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end or not self.feed(0.1):
                return condition()
        return True

    def wait_for(self, pattern, seconds=30):
        return self.wait(lambda: re.search(pattern, self.text()), seconds)

    def wait_end(self, seconds=30):
        """Waits until the command has ended; returns whether it has."""
        end = time.monotonic() + seconds
        while self.feed(0.1) and time.monotonic() < end:
            pass
        return self.status is not None

    def settle(self, seconds=0.4):
        """Waits until nothing was drawn for that long, because the end of drawing is not visible."""
        while select.select([self.master], [], [], seconds)[0] and self.feed(0):
            pass

    def send(self, keys):
        os.write(self.master, keys.encode())

    def kill(self, number):
        os.kill(self.pid, number)

    def text(self):
        return "\n".join(self.screen.display)

    def row(self, number):
        return self.screen.display[number]

    def ground(self, row, column):
        return self.screen.buffer[row][column].bg

    def raw(self):
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def restored(self):
        """The differences to the state before the command; an empty list if there are none."""
        wrong = []
        if termios.tcgetattr(self.slave) != self.before:
            wrong.append("attributes")
        if self.modes.get(1049):
            wrong.append("alternate screen")
        if self.modes.get(25) is False:
            wrong.append("cursor")
        if self.modes.get(7) is False:
            wrong.append("wrapping")
        return wrong
