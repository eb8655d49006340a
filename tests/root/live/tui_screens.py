# SPDX-License-Identifier: GPL-2.0-or-later
"""Called by tui_test.sh: tui_screens.py BUILD PID DIR. PID is a running `nested`."""
import os
import re
import select
import signal
import subprocess
import sys
import time

from terminal import Terminal

build, pid, tmp = sys.argv[1:4]
top = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3))
profile, stackcount = f"{build}/profile", f"{build}/stackcount"
nested = f"{build}/tests/workloads/nested"
recording = f"{top}/tests/golden/recordings/profile.stacktally"
of_stackcount = f"{top}/tests/golden/recordings/stackcount.stacktally"


def check(holds, name, why):
    print(f"ok {name}" if holds else f"FAIL {name}: {str(why)!r}", flush=True)


def samples(terminal):
    found = re.search(r"([\d,]+) (?:samples|events)", terminal.row(0))
    return int(found[1].replace(",", "")) if found else 0


def exit_code(terminal):
    return os.waitstatus_to_exitcode(terminal.status) if terminal.status is not None else None


def ends(terminal, name, status=0):
    """Checks that it ends with that status, and that the terminal is as it was."""
    ended = terminal.wait_end()
    check(ended and exit_code(terminal) == status, f"{name}: it ends with {status}",
          (ended, exit_code(terminal), terminal.output[-300:]))
    check(terminal.restored() == [] and terminal.modes.get(1049) is False,
          f"{name}: the terminal is as it was", (terminal.restored(), terminal.modes))


# ---- sums, with their unit
def sums():
    with Terminal([stackcount, "--sum", "bytes_req", "--tui", "t:kmem:kmalloc"], 24, 80) as t:
        check(t.wait_for(r"[\d,]{4,} bytes  "), "sums are shown with their unit", t.text())
        t.settle()
        check(re.search(r"^ *[\d,]+ bytes, 100.00%, self 0  all", t.row(22)), "... and those of each box",
              t.text())
        t.send("q")
        ends(t, "sums: q")


# ---- a recording
def browse():
    with Terminal([profile, "--from", recording, "--tui"], 24, 80) as t:
        check(t.wait_for(r"\[ended\]"), "a recording is shown", t.text())
        t.settle()
        check(t.modes.get(1049) and t.modes.get(25) is False and t.raw(),
              "on the alternate screen, without a cursor", t.modes)
        check(t.row(0).startswith("profile ") and samples(t) > 0, "its head has the samples", t.row(0))
        check(t.row(1).startswith("all ") and t.row(22).lstrip().startswith(f"{samples(t)} samples"),
              "the root is at the top and selected", t.text())
        total = samples(t)
        t.send("j")
        t.settle()
        first = t.row(22)
        t.send("\x1b[B")
        t.settle()
        check(first != t.row(22) and "self" in t.row(22), "j and Down go on to callees",
              (first, t.row(22)))
        deep = t.text().split("\n")[1:22]
        t.send("l\r")
        t.settle()
        check(t.wait_for("of the zoom"), "Enter zooms", t.row(22))
        t.send("\x1b")
        check(t.wait(lambda: "of the zoom" not in t.row(22)), "Escape goes back", t.row(22))
        t.settle()
        check(t.text().split("\n")[1:22] == deep, "to the same picture", t.text())
        t.send("/^m")
        t.settle()
        check(t.row(23).startswith("/^m"), "the search expression is shown", t.row(23))
        t.send("\r")
        check(t.wait_for(r"/\^m  matched \d+\.\d\d%"), "and the share that matches", t.row(23))
        t.send("/(\r")
        check(t.wait_for("not a regular expression"), "an invalid expression is reported", t.row(23))
        t.send("r\t")
        check(t.wait_for(r"\[2 self\]"), "Tab shows the top list", t.text())
        selves = [int(n.replace(",", "")) for n in
                  re.findall(r"^ *[\d,]+ +[\d.]+% +([\d,]+) ", t.text(), re.M)]
        check(len(selves) > 5 and selves == sorted(selves, reverse=True), "by self", selves)
        t.send("1")
        check(t.wait_for(r"\[1 total\]"), "or by total", t.row(1))
        totals = [int(n.replace(",", "")) for n in
                  re.findall(r"^ *([\d,]+) +[\d.]+% ", t.text(), re.M)]
        check(totals == sorted(totals, reverse=True) and max(totals) <= total, "by total", totals)
        t.send("\ti")
        check(t.wait(lambda: t.row(21).startswith("all ")), "i turns it over", t.text())
        t.send("i?")
        check(t.wait_for("hjkl|h j k l"), "? helps", t.text())
        t.send("?")
        for rows, columns in ((40, 132), (10, 40), (2, 5), (1, 1), (200, 300), (24, 80)):
            t.resize(rows, columns)
            t.settle()
            if rows >= 10:
                check(t.row(1).startswith("all ") and "samples" in t.row(rows - 2) and
                      t.row(rows - 1).strip(), f"{rows} rows of {columns} are filled", t.text())
        t.send("q")
        ends(t, "q")


# ---- capabilities of terminals
def colours():
    cases = [
        ({"COLORTERM": "truecolor"}, r"48;2;\d+;\d+;\d+", r"48;5;"),
        ({"COLORTERM": ""}, r"48;5;\d+", r"48;2;"),
        ({"TERM": "xterm", "COLORTERM": ""}, r"\x1b\[0;30;(4|10)\d", r"[34]8;[25];"),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, r"\x1b\[0;7m", r"\x1b\[[0-9;]*[349]\d[;m]"),
        ({"LC_ALL": "C", "COLORTERM": ""}, r"~|\|", r"[\x80-\xff]"),
    ]
    for env, wanted, unwanted in cases:
        with Terminal([profile, "--from", recording, "--tui"], 24, 80, env) as t:
            t.wait_for(r"\[ended\]")
            t.settle()
            t.send("q")
            t.wait_end()
            output = t.output.decode("latin-1")
            check(re.search(wanted, output) and not re.search(unwanted, output),
                  f"{env} is heeded", (re.search(wanted, output), re.search(unwanted, output)))
    with Terminal([profile, "--from", recording, "--tui"], 24, 80, {"TERM": "dumb"}) as t:
        t.wait_end()
        check(exit_code(t) == 2 and b"TERM=dumb" in t.output and b"\x1b[" not in t.output,
              "a terminal that cannot is told", t.output)


# ---- while it measures: the picture changes; all ways to end it
def live(argv, name, ways):
    for way, do, status in ways:
        report = f"{tmp}/{name}.{way}.folded"
        with Terminal(argv + ["--tui", "-o", report], 24, 80) as t:
            moves = t.wait_for(r"middle", 60)
            before = samples(t)
            moves = moves and t.wait(lambda: samples(t) > before > 0, 60)
            check(moves, f"{name}: the picture changes before {way}", t.text())
            before = samples(t)
            do(t)
            ends(t, f"{name}: {way}", status)
            if status >= 0:
                lines = open(report).read().split("\n")[:-1]
                total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
                check(total >= before > 0 and
                      re.search(rb"\b%d (samples|events)" % total, t.output.split(b"\x1b[?1049l")[-1]),
                      f"{name}: {way}: the report is whole", (total, t.output[-200:]))
            else:
                check(not os.path.exists(report), f"{name}: {way}: there is no report", report)


def kill(number):
    return lambda t: t.kill(number)


WAYS = [("q", lambda t: t.send("q"), 0), ("Ctrl-C", lambda t: t.send("\x03"), 0),
        ("SIGTERM", kill(signal.SIGTERM), 0), ("SIGHUP", kill(signal.SIGHUP), 0),
        ("SIGINT", kill(signal.SIGINT), 0), ("SIGSEGV", kill(signal.SIGSEGV), -signal.SIGSEGV)]


def commands():
    with Terminal([profile, "-F", "499", "--tui", "--", "sh", "-c", f"'{nested}' 300; exit 3"],
                  24, 100) as t:
        check(t.wait_for(r"\[ended\]", 60), "the end of the command is shown", t.text())
        t.settle()
        check(samples(t) > 0 and "middle" in t.text() and b"ready" not in t.output,
              "it has not drawn over it", t.text())
        t.send("q")
        ends(t, "the command has ended", 3)
    with Terminal([profile, "-F", "499", "--tui", "--", nested, "100000"], 24, 100) as t:
        t.wait_for("middle", 60)
        t.send("q")
        ends(t, "q ends the command", 128 + signal.SIGINT)
    with Terminal([profile, "-F", "499", "--tui", "--", "sh", "-c",
                   f"trap '' INT; '{nested}' 100000"], 24, 100) as t:
        t.wait_for("middle", 60)
        t.send("q")
        check(t.wait_for("q again ends before it"), "a command may not want to end", t.row(23))
        t.send("q")
        check(t.wait(lambda: re.search(rb"\x1b\[\?1049l.*(samples|events), ", t.output, re.S)) and
              t.restored() == [] and t.status is None, "q again does not wait for it",
              (t.restored(), t.status, t.output[-200:]))
        subprocess.run(["pkill", "-KILL", "-x", "-s", str(t.pid), "nested"], check=False)
        check(t.wait_end() and exit_code(t) == 128 + signal.SIGKILL, "then it does",
              (t.status, t.output[-200:]))


# ---- Ctrl-Z, under an interactive shell
def suspend():
    shell = ["bash", "--norc", "--noprofile", "-i"]
    with Terminal(shell, 24, 100, {"PS1": "prompt> "}) as t:
        t.wait_for("prompt> ")
        t.send(f"{profile} -F 499 -p {pid} --tui; echo status=$?\r")
        t.wait(lambda: t.modes.get(1049) and samples(t) > 0, 60)
        for way in ("\x1a", None):
            if way:
                t.send(way)
            else:
                it = int(
                    subprocess.run(["pgrep", "-s", str(t.pid), "-x", "profile"],
                                   capture_output=True, text=True).stdout.split()[0])
                os.kill(it, signal.SIGTSTP)
            name = "Ctrl-Z" if way else "SIGTSTP"
            check(t.wait(lambda: b"Stopped" in t.output and not t.modes.get(1049)),
                  f"{name} stops it", t.output[-300:])
            check(t.modes.get(25) and t.modes.get(7), f"{name}: the terminal is as it was", t.modes)
            t.output = b""
            t.send("fg\r")
            check(t.wait(lambda: t.modes.get(1049) and samples(t) > 0 and
                         t.row(1).startswith("all")), f"{name}: fg shows all again", t.text())
            before = samples(t)
            check(t.wait(lambda: samples(t) > before), f"{name}: and it moves on", t.text())
        t.send("q")
        check(t.wait(lambda: not t.modes.get(1049) and b"prompt> " in t.output), "then q ends it",
              t.output[-300:])
        t.send("exit\r")
        t.wait_end()
    # Without a shell that could continue it, it does not stop.
    with Terminal([profile, "--from", recording, "--tui"], 24, 80) as t:
        t.wait_for(r"\[ended\]")
        t.output = b""
        t.send("\x1a")
        check(t.wait(lambda: b"\x1b[?1049l" in t.output and t.modes.get(1049) and
                     b"all" in t.output), "without a shell Ctrl-Z does no harm", t.output)
        t.send("q")
        ends(t, "q after that")


# ---- errors
def errors():
    with Terminal([profile, "--from", recording, "--tui", "-o", "/dev/full", "--format", "folded"],
                  24, 80) as t:
        t.wait_for(r"\[ended\]")
        t.send("q")
        ends(t, "a full disk", 1)
        check(b"cannot write /dev/full: No space left" in t.output.split(b"\x1b[?1049l")[-1],
              "a full disk is told when the screen is back", t.output[-200:])
    with Terminal([profile, "--tui", "-p", pid, "-i", "1", "-f"], 24, 80) as t:
        t.wait_end()
        check(exit_code(t) == 2 and b"1049" not in t.output, "reports over it are refused", t.output)


# ---- a terminal whose output is no longer read
def stuck():
    report = f"{tmp}/stuck.folded"
    with Terminal([profile, "-F", "499", "-p", pid, "--tui", "-o", report], 300, 300,
                  {"COLORTERM": "truecolor"}) as t:
        t.wait_for("middle", 60)
        end = time.monotonic() + 60
        full = 0
        while full < 50 and time.monotonic() < end:
            t.send("i")  # draws everything again, until the terminal's buffer is full
            time.sleep(0.02)
            full += select.select([], [t.slave], [], 0)[1] == []
        check(full, "a terminal that is not read is full", t.modes)
        t.kill(signal.SIGTERM)
        while "attributes" in t.restored() and time.monotonic() < end:
            time.sleep(0.02)
        check("attributes" not in t.restored(), "it does not keep the measurement from ending",
              t.restored())
        # The closing line waits for a reader, as any program's would.
        check(t.wait_end() and exit_code(t) == 0 and os.path.getsize(report) > 0,
              "then the report is there", exit_code(t))


# ---- one line of progress
def progress():
    line = r"\d+ s, \d+ (?:samples|events), \d+ lost *\r"
    for command, name in (([profile, "-F", "499", "-p", pid, "-f", "3"], "profile"),
                          ([stackcount, "-D", "3", "-p", pid, "t:sched:sched_switch"], "stackcount")):
        with Terminal(command, 24, 100) as t:
            t.wait_end()
            output = t.output.decode()
            check(re.search(line, output), f"{name} tells its progress", output[:500])
            check(re.search(r"\r {60,}\r", output), f"{name}: nothing stays of it", output[-500:])
            said = re.findall(r"(\d+) s, (\d+) (?:samples|events)", output)
            check(len(said) >= 2 and said == sorted(said, key=lambda s: (int(s[0]), int(s[1]))),
                  f"{name}: it goes on", said)
    quoted = f"'{profile}' -F 499 -p {pid} -f 2"
    for redirection in ("2>'%s/said'", "-q", "-o '%s/f.folded'"):
        redirection = redirection % tmp if "%" in redirection else redirection
        with Terminal(["sh", "-c", f"{quoted} {redirection}"], 24, 100) as t:
            t.wait_end()
            said = open(f"{tmp}/said").read() if "said" in redirection else ""
            check(exit_code(t) == 0 and not re.search(line, t.output.decode() + said),
                  f"no progress with {redirection.split()[0]}", t.output)


browse()
with Terminal([stackcount, "--from", of_stackcount, "--tui"], 24, 80) as t:
    check(t.wait_for(r"\[ended\]") and t.row(0).startswith("stackcount "), "stackcount's, too", t.text())
    t.send("q")
    ends(t, "stackcount: q")
colours()
live([profile, "-F", "499", "-p", pid], "profile", WAYS)
live([stackcount, "-p", pid, "t:syscalls:sys_enter_clock_gettime"], "stackcount", WAYS[:2])
sums()
commands()
suspend()
errors()
stuck()
progress()
