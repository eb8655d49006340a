# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands of docs/stories.md, shortened, on a terminal of 80 columns, and compares what they print with
the document: stories.py DOCUMENT BUILD. Numbers, names of functions and of processes may differ; the lines that
there are, their order, their words and columns may not. Prints a line for each command."""
import fcntl
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PROMPT = re.compile(r"^([#$]|[a-z]+=#) ")
OURS = re.compile(r"^# (profile|stackcount|stacktally) ")
NUMBER = r"[-+]?\d[\d,]*(\.\d+)?[kMG]?%?"
# What a busy machine, or one with other packages, has to say beside.
BESIDE = re.compile(r"^(WARNING: |began N s late|ended N s late|N % of user frames have no symbol|N % lack |estimate: |N of N samples that were due|own work|N events of its own)")
# The first line of a report.
TITLE = re.compile(r"^(Sampling|Measuring|Tracing) ")
PSQL = ["create table orders(id serial primary key, customer int, total numeric, note text);"
        "insert into orders(customer, total, note) select (random() * 20000)::int, random() * 100, repeat('x', 60)"
        " from generate_series(1, 40000); vacuum analyze orders;"]


def shape(line):
    """What may not differ of a printed line."""
    if line.strip() == "...":
        return "..."
    if not line.startswith(" "):
        line = re.sub(r'"[^"]*"|\S*/\S*|\S+\.(stacktally|html)\S*', "PATH", line.rstrip())
        return re.sub(r"N (ms|us|min)\b", "N s", re.sub(NUMBER, "N", re.sub(r"PATH[,:]", "PATH", line)))
    line = re.sub(r"\d+ other names", "others", line)
    columns = re.split(r" {2,}", line.strip())
    if " <- " in line or line.rstrip().endswith(" ..") or line.rstrip().endswith(" <-"):
        return "CHAIN"
    numbers = re.match(rf"({NUMBER} +)+", line.strip() + " ")
    if numbers and len(line.split()) == 1:
        return "COUNT"
    if numbers and len(line.split()) > 1:
        return f"ROW of {len(numbers[0].split())} numbers"
    if columns[0] == "-":
        return "PROCESS"
    return "COLUMNS " + re.sub(NUMBER, "N", " ".join(columns)) if len(columns) > 1 else "FRAME"


def unfolded(lines):
    """With what stands beside in one line each, as wide as the terminal may be."""
    found = []
    for line in lines:
        if line.startswith("  ") and line.strip() and found and (BESIDE.match(shape(found[-1])) or TITLE.match(found[-1])):
            found[-1] += " " + line.strip()
        else:
            found.append(line)
    return found


def shapes(lines):
    """Those of several lines, each block of alike ones as one."""
    found = []
    for line in unfolded(lines):
        if line.strip():
            is_shape = shape(line)
            if not found or found[-1] != is_shape or is_shape in ("PROCESS",):
                found.append(is_shape)
    return found


def once(found):
    """Without the stacks after the first: how many there are depends on the run."""
    stack = ["FRAME", "...", "COUNT"]
    for at in range(len(found) - len(stack), len(stack) - 1, -1):
        if found[at:at + len(stack)] == stack and found[at - len(stack):at] == stack:
            found = found[:at] + found[at + len(stack):]
    return found


def missing(wanted, printed):
    """The first of the wanted shapes that is not where it should be; None: all are."""
    pattern, beside = "", r"(?:" + BESIDE.pattern[1:] + r".*\n)*"
    for is_shape in wanted:
        if is_shape == "...":
            pattern += r"(?:.*\n)*?"
        elif not BESIDE.match(is_shape) or is_shape in printed:
            pattern += beside + re.escape(is_shape) + r"\n"
            if not re.search(pattern, "\n" + "\n".join(printed) + "\n"):
                return is_shape
    return None


def on_terminal(command, where):
    """Runs a shell's command on a terminal of 80 columns and 24 lines: its status, and what it printed."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(where)
        os.environ.update(TERM="xterm", NO_COLOR="1")
        os.execvp("bash", ["bash", "-c", command])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    text = b""
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:
            some = b""
        if not some:
            break
        text += some
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    # What a carriage return goes back over was a note of progress.
    return status, "\n".join(line.rstrip("\r").split("\r")[-1] for line in text.decode(errors="replace").split("\n"))


def read_stories(path):
    """{title: its lines of code, and None between blocks}"""
    stories, lines = {}, None
    with open(path, encoding="utf-8") as text:
        for line in text:
            if line.startswith("## "):
                lines = stories.setdefault(line[3:].strip(), [])
            elif lines is not None:
                lines.append(line[4:].rstrip("\n") if line.startswith("    ") else "" if not line.strip() else None)
    return stories


def files_of(lines):
    """{name: text} of what `cat` shows."""
    files, name = {}, None
    for line in lines:
        if line is None or PROMPT.match(line):
            name = None
            if line and line.startswith("$ cat "):
                name = line[6:].strip()
                files[name] = ""
        elif name:
            files[name] += line + "\n"
    return files


def commands_of(lines):
    """(command, [printed line]) of each of ours."""
    found, printed = [], None
    for line in lines:
        if line is None or PROMPT.match(line):
            printed = None
            if line and OURS.match(line):
                printed = []
                found.append((line[2:], printed))
        elif printed is not None:
            printed.append(line)
    return found


def folded_of(lines):
    """Excerpts of folded reports: patterns of their lines."""
    return [re.compile(".*".join(re.escape(part) for part in line.rsplit(" ", 1)[0].split("...")) + r" \d+$")
            for line in lines if line and line.startswith("...;")]


def shorter(command):
    """The same command on less work."""
    command = re.sub(r" (10|8|5)( >\S+)?$", r" 1\2", command)
    command = re.sub(r"-D 5", "-D 1", command)
    return command.replace(":8-18", ":5-10").replace(":0-6", ":0-5")


class Machine:
    """What a story runs on: a folder, and programs in the background."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        # Other users' programs get there, through the test's own folders.
        for folder in (self.folder, *pathlib.Path(self.folder).parents):
            if folder != pathlib.Path("/") and not os.stat(folder).st_mode & 0o1:
                os.chmod(folder, 0o711)
        self.running = []

    def start(self, *command, user=None):
        """In a group of its own, which stop() ends."""
        run = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        self.running.append(subprocess.Popen([*run, *command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
        return self.running[-1].pid

    def stop(self):
        for process in self.running:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        self.running = []

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Database:
    """A server of PostgreSQL of its own, and its clients."""

    def __init__(self, machine, at):
        self.machine, self.at = machine, at
        self.data = machine.folder + "/data"
        os.mkdir(self.data)
        shutil.chown(self.data, "postgres")
        self.run("initdb", "-A", "trust", "-N", "-D", self.data)
        machine.start(f"{at}/postgres", "-D", self.data, "-k", self.data, "-h", "", "-F", user="postgres")
        for _ in range(300):
            if subprocess.run([f"{at}/pg_isready", "-q", "-h", self.data], check=False).returncode == 0:
                break
            time.sleep(0.1)
        self.run("psql", "-h", self.data, "-d", "postgres", "-c", PSQL[0].split(";")[0], "-c", PSQL[0].split(";")[1],
                 "-c", PSQL[0].split(";")[2])
        self.run("pgbench", "-h", self.data, "-i", "-q", "-s", "1", "postgres")
        self.clients = None

    def run(self, program, *arguments):
        subprocess.run(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", f"{self.at}/{program}", *arguments],
                       check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def load(self, *arguments):
        if self.clients:
            os.killpg(self.clients, signal.SIGKILL)
        self.clients = self.machine.start(f"{self.at}/pgbench", "-h", self.data, "-n", "-T", "60", *arguments, "postgres", user="postgres")


def tell(good, title, command, why=""):
    print(f"{'ok' if good else 'FAIL'} {title}: {command.strip()[:100]}" + (f": {why}" if why else ""))
    return good


def check(machine, title, command, printed, process):
    """Runs a command of a story, and compares."""
    run = re.sub(r"\$\(pgrep [^)]*\)|\$!", str(process), shorter(command))
    status, text = on_terminal(run, machine.folder)
    seen = shapes(text.split("\n"))
    lacks = missing(once(shapes(printed)), seen)
    return tell(status == 0 and lacks is None, title, command,
                "" if status == 0 and lacks is None else f"status {status}, not there: {lacks}\n{run}\n{text}")


SPINS = """
import threading, time
threading.Thread(target=time.sleep, args=[99]).start()
while 1: sorted(range(99))
"""
# In place of the servers and loads of stories, of which the document has parts.
STAND_INS = {
    "A slow page": SPINS,
    "A slow Java server": SPINS,
    "It was slow ten minutes ago": SPINS,
    "Memory grows": """
import functools, json, time
@functools.lru_cache(maxsize=None)
def quote(at):
    return json.dumps({"prices": list(range(300))})
while 1: quote(time.time()), time.sleep(0.01)
""",
}


def tell_story(title, lines, machine, database):
    """Prepares what a story needs, and runs its commands. False: one is not as it is printed."""
    files, commands, good = files_of(lines), commands_of(lines), True
    for name, text in files.items():
        with open(f"{machine.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text.replace("seq 300000", "seq 20000"))
    scripts = [name for name in files if name.endswith(".py") and "flask" not in files[name]]
    busy = machine.start("/usr/bin/python3", "-c", STAND_INS[title]) if title in STAND_INS else 0
    for n, (command, printed) in enumerate(commands):
        if title == "A slow query":
            database.load("-c", "2", "-f", f"{machine.folder}/shop.sql")
        if title == "A lock":
            if n:  # other locks may be waited for, such as that of a table that grows
                print(f"skip {title}: {command.strip()[:60]}: how often it waits without these updates depends on the run")
                continue
            database.load("-c", "8")
        if title == "Three that wait":
            busy = machine.start("/usr/bin/python3", scripts[n])
            if n == 2:  # four that want the CPUs
                for _ in range(2 * os.cpu_count()):
                    machine.start("sh", "-c", "while :; do :; done")
        time.sleep(2 if "postgres" in command else 1 if busy else 0)
        if command.rstrip().endswith("&"):
            machine.start(*command.rstrip(" &").split())
            time.sleep(13)  # two recordings of five seconds
            tell(True, title, command, "runs")
            continue
        good &= check(machine, title, command, printed, busy)
    for pattern in folded_of(lines):
        folded = "".join(open(f"{machine.folder}/{name}", encoding="utf-8").read()
                         for name in os.listdir(machine.folder) if name.endswith(".folded"))
        good &= tell(any(pattern.search(line) for line in folded.splitlines()), title, pattern.pattern)
    return good


def main():
    document, build = sys.argv[1], os.path.abspath(sys.argv[2])
    os.environ["PATH"] = build + ":" + os.environ["PATH"]
    os.environ["XDG_CACHE_HOME"] = tempfile.gettempdir()
    stories, good = read_stories(document), True
    at = next((path for path in (f"/usr/lib/postgresql/{n}/bin" for n in range(20, 9, -1)) if os.path.exists(path)), None)
    for title, lines in stories.items():
        if not commands_of(lines):
            continue
        if at is None and title in ("A slow query", "A lock"):
            print(f"skip {title}: no PostgreSQL here")
            continue
        machine = Machine()
        try:
            database = Database(machine, at) if title in ("A slow query", "A lock") else None
            text = [line and line.replace("/usr/lib/postgresql/15/bin", at or "") for line in lines]
            good &= tell_story(title, text, machine, database)
        finally:
            machine.close()
    return 0 if good else 1


sys.exit(main())
