#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the output of our commands with that of bcc's: compare.py BUILD_DIR [NAME...]

The files beside this one have bcc's output. Each case runs the command line in the first line of its
file, with a program that does what the one measured by bcc did, and compares line by line. Numbers,
addresses, ids, times, and the kernel functions that lead to an event are masked. Only the entries of
that program are compared: a machine runs other programs, too.

Where we decided not to follow bcc, one of the functions below changes bcc's lines first. A case names
the decisions that it needs. It fails if one of them changes nothing.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = {"profile-bpfcc": "profile", "stackcount-bpfcc": "stackcount"}
SLOW = 4 if os.environ.get("STACKTALLY_VM") else 1

# The functions of the program in its user stacks. All other frames are the kernel's.
USER = {"_start", "__libc_start_main", "__libc_start_call_main", "clone3", "start_thread",
        "main", "ta", "tb", "func_a", "func_b", "spin", "do_read", "do_alloc", "pread64", "malloc"}
# glibc has several names for one address; reports may show any of them.
SAME = {re.compile(r"^(__libc_|__GI_|__GI___libc_|__)?malloc$"): "malloc",
        re.compile(r"^(__)?clone3$"): "clone3",
        re.compile(r"^__libc_start_main(_impl|@.*)?$"): "__libc_start_main",
        re.compile(r"^(__libc_|__GI___libc_|__GI___|__)?pread(64)?$"): "pread64"}
# The callers of the last frame that bcc sees, leaf first.
STARTS = {"__libc_start_call_main": ["__libc_start_main", "_start"], "start_thread": ["clone3"]}
FRAME = re.compile(r"^( +)([0-9a-f]{8,16} +)?(\S.*?)(\+0x[0-9a-f]+)?$")
PROCESS = re.compile(r"^    (- +\S.* \(\d+\)|\S.* \[\d+\])$")


# ---- decisions: where our lines must differ from bcc's; each changes bcc's lines into ours

def kernel_leaf_once(lines):
    """bcc adds the interrupted kernel address to a stack that already begins with it."""
    changed = []
    for line in lines:
        line = re.sub(r";([^; ]+);\1( \d+)$", r";\1\2", line)
        if not (changed and line.strip() and changed[-1] == line and not is_user(line.strip())):
            changed.append(line)
    return changed


def down_to_the_start(lines):
    """bcc follows frame pointers, which end in libc; our stacks go on to the start of the thread."""
    changed = []
    for line in lines:
        for name, callers in STARTS.items():
            line = line.replace(f";{name}", ";".join(["", *callers[::-1], name]))
        changed.append(line)
        frame = FRAME.match(line)
        if frame:
            changed += [line.replace(frame[3], caller) for caller in STARTS.get(frame[3], ())]
    return changed


def comm_as_text(lines):
    """bcc shows a Python bytes object: b'spin' for spin."""
    return [re.sub(r"^( +)b'([^']*)'", r"\1\2", line) for line in lines]


def real_user_frames(lines):
    """Without -P bcc names no user frames. Here their names are known: main called pread()."""
    changed, names = [], []
    for line in lines:
        if line.endswith("[unknown]"):
            names = names or ["pread64", "main", "__libc_start_call_main"]
            offset = "+0x0" if changed and "+0x" in changed[-1] else ""
            line = line.replace("[unknown]", names.pop(0) + offset)
        line = line.replace(";[unknown];[unknown];[unknown];", ";__libc_start_call_main;main;pread64;")
        changed.append(line)
    return changed


CALLERS = {"malloc": "do_alloc", "pread64": "do_read"}


def caller_not_skipped(lines):
    """A function that has no frame yet (a probed one, or one in a system call) hides its caller from
    bcc, which follows frame pointers.
    """
    changed = []
    for line in lines:
        for name, caller in CALLERS.items():
            line = re.sub(rf";main;(\w*{name})", rf";main;{caller};\1", line)
        changed.append(line)
        frame = FRAME.match(line)
        if frame and canonical(frame[3]) in CALLERS:
            changed.append(line.replace(frame[3], CALLERS[canonical(frame[3])]))
    return changed


def one_id_bare(lines):
    """A single id is printed without brackets, as bcc's documents show it; several ids have them."""
    return [re.sub(r"(PID|TID) \[(\d+)\]", r"\1 \2", line) for line in lines]


# ---- reading reports

def is_user(name):
    return canonical(name) in USER


def canonical(name):
    for pattern, same in SAME.items():
        if pattern.match(name):
            return same
    return name


def mask_name(name, mark=""):
    name = canonical(name)
    # The probed function is the leaf of the kernel part, and the same on all kernels.
    return name + mark if name in USER or name == "vfs_read" else "K" + mark


def mask_frames(lines):
    masked = []
    for line in lines:
        indent, address, name, offset = FRAME.match(line).groups()
        mark = "_[k]" if name.endswith("_[k]") else ""
        column = f"<{len(address)}>" if address else ""
        frame = indent + column + mask_name(name.removesuffix("_[k]"), mark) + \
            ("+0xX" if offset else "")
        if not (masked and masked[-1] == frame and "K" in frame):
            masked.append(frame)
    return masked


def mask_folded(stack):
    comm, *names = stack.split(";")
    masked = []
    for name in names:
        mark = "_[k]" if name.endswith("_[k]") else ""
        name = name if name == "-" else mask_name(name.removesuffix("_[k]"), mark)
        if not (masked and masked[-1] == name and name.startswith("K")):
            masked.append(name)
    return ";".join([re.sub(r"/\d+$", "/N", comm)] + masked)


def mask_line(line):
    line = re.sub(r"^\d\d:\d\d:\d\d$", "TIME", line)
    line = re.sub(r"for \d+ secs\.", "for N secs.", line)
    line = re.sub(r"(PID|TID) \d+ ", r"\1 P ", line)
    line = re.sub(r"(PID|TID) \[[\d, ]+\]", r"\1 [P]", line)
    return re.sub(r'"\S*/spin:', '"./spin:', line)


def masked_report(lines, wanted):
    """The masked lines of a report, with the wanted entries only, sorted, and each once."""
    result, entries, block, counts = [], [], [], []

    def flush():
        result.extend(line for entry in sorted(entries) for line in entry)
        entries.clear()
        assert counts == sorted(counts), f"not ascending: {counts}"
        counts.clear()

    def enter(entry, count):
        counts.append(count)
        if entry not in entries and wanted(entry):
            entries.append(entry)

    after_entry = False
    for line in lines:
        count = re.match(r"(    |        )(\d+)$", line)
        folded = re.match(r"([^ ].*|) (\d+)$", line) if ";" in line or " " in line else None
        if count:
            delimited = [i for i, l in enumerate(block) if l == "    --"]
            process = [re.sub(r"\d+(.)$", r"P\1", l) for l in block if PROCESS.match(l)]
            frames = [l for l in block if l != "    --" and not PROCESS.match(l)]
            parts = mask_frames(frames[:delimited[0]]) + ["    --"] + \
                mask_frames(frames[delimited[0]:]) if delimited else mask_frames(frames)
            process = [re.sub(r"swapper/\d+", "swapper/N", l) for l in process]
            enter(parts + process + [count[1] + "N", ""], int(count[2]))
            block, after_entry = [], True
        elif line.startswith("  "):
            block.append(line)
        elif folded and not line.startswith(("Tracing", "Sampling")):
            enter([mask_folded(folded[1]) + " N"], int(folded[2]))
        elif line == "" and after_entry:
            after_entry = False  # this blank line belongs to the entry
        else:
            flush()
            result.append(mask_line(line))
            after_entry = False
    flush()
    return result


# ---- which entries are compared

def words(entry):
    return re.split(r"[ ;]+", re.sub(r"<\d+>|\+0xX", "", " ".join(entry)))


def probed(entry):
    """Entries of the function that is probed in the program."""
    return "main" in words(entry)


def reads(entry):
    """Entries of the program's reads; stackcount reads, too."""
    return {"main", "do_read"} <= set(words(entry))


def spinning(entry):
    """Entries of the program's two functions, in user mode."""
    return bool({"func_a", "func_b"} & set(words(entry))) and not {"K", "K_[k]"} & set(words(entry))


def spinning_unseen(entry):
    """The same if only the kernel part is shown, which these samples do not have."""
    return entry[0] == "spin N" or re.match(r"    - +spin \(P\)$", entry[0]) is not None


def idle(entry):
    return any("swapper/" in line for line in entry)


def vfs_read(entry):
    """Entries with the kernel part of a read, by any program."""
    return "vfs_read" in words(entry)


def vfs_read_of_program(entry):
    return "vfs_read" in words(entry) and "spin" in words(entry)


# name: (which entries are compared, decisions)
REPORTS = {
    "profile-default": (spinning, []),
    "profile-d": (spinning, []),
    "profile-f": (spinning, []),
    "profile-df": (spinning, []),
    "profile-adf": (spinning, []),
    "profile-a": (spinning, []),
    "profile-U": (spinning, []),
    "profile-K": (spinning_unseen, []),
    "profile-Uf": (spinning, []),
    "profile-Kdf": (spinning_unseen, []),
    "profile-p": (spinning, [one_id_bare]),
    "profile-p-list": (spinning, []),
    "profile-L": (spinning, [one_id_bare]),
    "profile-thr-f": (spinning, []),
    "profile-C": (spinning, []),
    "profile-I": (idle, []),
    "profile-If": (idle, []),
    "profile-F9": (spinning, []),
    "profile-F99-p-df": (spinning, []),
    "stackcount-vfs_read": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-vfs_read-P": (reads, [comm_as_text, caller_not_skipped]),
    "stackcount-vfs_read-d": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-vfs_read-Pd": (reads, [comm_as_text, caller_not_skipped]),
    "stackcount-vfs_read-s": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-vfs_read-v": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-vfs_read-Psv": (reads, [comm_as_text, caller_not_skipped]),
    "stackcount-vfs_read-K": (vfs_read, []),
    "stackcount-vfs_read-KP": (vfs_read_of_program, [comm_as_text]),
    "stackcount-vfs_read-U": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-vfs_read-UP": (reads, [comm_as_text, caller_not_skipped]),
    "stackcount-vfs_read-f": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-vfs_read-Pf": (reads, [caller_not_skipped]),
    "stackcount-vfs_read-Pdf": (reads, [caller_not_skipped]),
    "stackcount-vfs_read-p": (reads, [caller_not_skipped]),
    "stackcount-vfs_read-Ti": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-vfs_read-Ti-f": (reads, [caller_not_skipped]),
    "stackcount-r-alt": (vfs_read, []),
    "stackcount-intr": (reads, [real_user_frames, caller_not_skipped]),
    "stackcount-sched_switch-KP": (idle, [comm_as_text]),
    "stackcount-c-malloc-p": (probed, [caller_not_skipped]),
    "stackcount-c-malloc-p-f": (probed, [caller_not_skipped]),
    "stackcount-uprobe-exe": (probed, [comm_as_text]),
}

# Errors: bcc's text and status, compared with ours. None: the same text on stderr, and status 2.
# Otherwise our decision: why, our status, and how our line begins, where `...` stands for bcc's
# text.
NOT_ON_STDOUT = "errors go to stderr, with the name of the command, and the status is not 0"
MESSAGES = {
    "profile-err-UK": None,
    "profile-err-Fc": None,
    "profile-err-pL": None,
    "profile-err-pid": None,
    "profile-err-negpid": None,
    "profile-err-dur0": None,
    "profile-err-opt": None,
    "profile-err-storage0": None,
    "stackcount-err-noarg": None,
    "stackcount-err-opt": None,
    "profile-err-cpu99": ("one line says what is wrong, without a traceback", 1, "profile: CPU 99 "),
    "profile-F0": ("a rate of 0 does not mean another rate", 2,
                   "profile: error: argument -F/--frequency: must be nonzero"),
    "profile-nopid": ("a process that does not exist is reported", 1, "profile: no process 999999"),
    "stackcount-err-KU": ("usage errors go to stderr, with status 2", 2, "..."),
    "stackcount-err-colons": (NOT_ON_STDOUT, 1, "stackcount: ..."),
    "stackcount-err-type": (NOT_ON_STDOUT, 1, "stackcount: ..."),
    "stackcount-err-nosym": (NOT_ON_STDOUT, 1, "stackcount: ..."),
    "stackcount-err-notp": (NOT_ON_STDOUT, 1, "stackcount: ..."),
    "stackcount-err-nolib": ("the message that bcc would print if it had no bug there", 1,
                             "stackcount: unable to find library nosuchlib"),
    "stackcount-err-nofunc": ("the message for no match is the same for all kinds of functions", 1,
                              "stackcount: No functions matched by pattern ^nosuchfunc_xyz$"),
    "stackcount-err-noglob": ("the message for no match is the same for all kinds of functions", 1,
                              "stackcount: No functions matched by pattern ^nosuchfunc_.*$"),
}


# ---- running ours

class Program:
    """The measured program. With one thread, it runs on the last CPU, for -C 1."""

    def __init__(self, build, directory, threads):
        self.path = os.path.join(directory, "thr" if threads else "spin")
        if not os.path.exists(self.path):
            shutil.copy(f"{build}/tests/workloads/sc_spin", self.path)
        self.process = subprocess.Popen([self.path] + (["threads"] if threads else []),
                                        stdout=subprocess.PIPE, text=True)
        self.ids = {}
        for line in self.process.stdout:
            word, _, number = line.strip().partition(" ")
            self.ids[word] = number
            if word == "ready":
                break
        if not threads:
            os.sched_setaffinity(self.process.pid, [max(os.sched_getaffinity(0))])

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def our_command(line, build, program):
    """bcc's command line with our command, the ids of this run, and a shorter duration."""
    tool = re.search(r"(profile|stackcount)-bpfcc", line)
    line = line.replace(tool[0], f"exec {build}/{TOOLS[tool[0]]}", 1)
    line = re.sub(r"^timeout -s INT \d+ ", "", line)
    if program:
        pid = program.ids["ready"]
        line = re.sub(r"-p 1,\d+", f"-p 1,{pid}", line)
        line = re.sub(r"-p (?!1,|999999)\d+", f"-p {pid}", line)
        line = re.sub(r"-L \d+", f"-L {program.ids.get('worker-a', pid)}", line)
        line = line.replace("./spin:", f"{program.path}:")
    if "-i 1" not in line:
        line = re.sub(r"-D 3\b", "-D 1", line)
        line = re.sub(r" 3$", " 1", line)
    return line


def run(line, build, program):
    """Runs our command as bcc was run: (stdout, stderr without the closing line, status)."""
    process = subprocess.Popen(["sh", "-c", our_command(line, build, program)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace")
    title = ""
    if line.startswith("timeout -s INT"):
        title = process.stdout.readline()  # printed when it begins to count
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60 * SLOW)
    closing = re.compile(r"\d+ samples?, \d+ stacks?, \d+ lost$")
    return title + out, [l for l in err.splitlines() if not closing.match(l)], process.returncode


def recorded(name, suffix=".txt"):
    path = os.path.join(HERE, name + suffix)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


# ---- the tests

class Unlike(Exception):
    pass


class NotSeen(Exception):
    """The events that the case compares did not occur."""


def idle_seconds():
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[4]) / os.sysconf("SC_CLK_TCK")


def show(lines):
    return " | ".join(lines)


def compare_report(name, build, program):
    wanted, decisions = REPORTS[name]
    command, *bcc = recorded(name)
    command = command[2:]
    idle_before = idle_seconds()
    out, err, status = run(command, build, program)
    if status != 0:
        raise Unlike(f"exit status {status}: {show(err[-2:])}")
    if wanted is idle and "swapper/" not in out and idle_seconds() - idle_before < 0.2:
        raise NotSeen("no CPU was idle")
    # The two decisions below apply to all reports. They need not change a line: the mask hides most
    # doubled leaves.
    for decision in decisions:
        changed = decision(bcc)
        if changed == bcc:
            raise Unlike(f"the decision {decision.__name__} changes nothing")
        bcc = changed
    bcc = masked_report(down_to_the_start(kernel_leaf_once(bcc)), wanted)
    ours = masked_report(out.splitlines(), wanted)
    if not [line for line in bcc if line.endswith("N")]:
        raise Unlike("nothing of bcc's report is compared")
    if bcc != ours:
        at = next((i for i, (b, o) in enumerate(zip(bcc, ours)) if b != o),
                  min(len(bcc), len(ours)))
        raise Unlike(f"at line {at + 1} bcc has [{show(bcc[at:at + 8])}], "
                     f"we have [{show(ours[at:at + 8])}]")


def compare_message(name, build, program):
    decided = MESSAGES[name]
    command, *bcc = recorded(name)
    command = command[2:]
    bcc += recorded(name, ".err")[1:]
    out, err, status = run(command, build, program)
    if out:
        raise Unlike(f"on stdout: {out[:200]}")
    if decided is None:
        expected, wanted_status = bcc[-1].replace("-bpfcc", ""), 2
        if len(err) != 2 or not err[1].startswith("Try "):
            raise Unlike(f"not the message and how to get help: {show(err[:2])}")
        same = err[0] == expected
    else:
        _, wanted_status, beginning = decided
        expected = beginning.replace("...", bcc[0] if bcc else "")
        same = bool(err) and err[0].startswith(expected)
        if wanted_status == 1 and len(err) != 1:
            raise Unlike(f"not one line: {show(err)}")
    if not same or status != wanted_status:
        raise Unlike(f"status {status}, {show(err[:1])}, expected {wanted_status}, {expected}")


def compare_interrupted(_name, build, program):
    """bcc was still compiling and printed a traceback; we print the report so far."""
    out, err, status = run("timeout -s INT 30 profile-bpfcc -F 49", build, program)
    ours = masked_report(out.splitlines(), spinning)
    title = recorded("profile-intr")[1]
    if status != 0 or ours[:2] != [title, ""] or not any("func_a" in line for line in ours):
        raise Unlike(f"status {status}: {show(ours[:6])} {show(err)}")


def compare_small_storage(name, build, program):
    command = recorded(name)[0][2:]
    out, err, status = run(command, build, program)
    warning = re.sub(r"\d+", "N", recorded(name, ".err")[1])
    if status != 0 or warning not in [re.sub(r"\d+", "N", line) for line in err]:
        raise Unlike(f"status {status}: {show(err)}, not {warning}")
    if "[Missed User Stack]" not in out and "[Missed Kernel Stack]" not in out:
        raise Unlike(f"no stack is missed: {out[:300]}")


def compare_cpu(name, build, program):
    """bcc's BPF program does not compile; the layout must be that of another command line."""
    command = recorded(name)[0][2:]
    out, err, status = run(command.replace("-c 1", "-c $(($(nproc) - 1))"), build, program)
    bcc = caller_not_skipped(real_user_frames(recorded("stackcount-vfs_read")[1:]))
    bcc = masked_report(down_to_the_start(bcc), reads)
    ours = masked_report(out.splitlines(), reads)
    if status != 0 or ours != bcc or not [line for line in bcc if line.endswith("N")]:
        raise Unlike(f"status {status}: {show(ours)} {show(err)}")


def options_of(text):
    """The options of a help text: {flags: text}."""
    options, flags = {}, None
    for line in text:
        start = re.match(r"  (-\S.*?)(?:  +(\S.*))?$", line)
        if start:
            flags = re.sub(r" [A-Z_]+", "", start[1])
            options[flags] = start[2] or ""
        elif flags and line.startswith(" " * 10):
            options[flags] += " " + line.strip()
        else:
            flags = None
    return {flags: " ".join(text.split()) for flags, text in options.items()}


def compare_help(name, build, _program):
    """Each option of bcc is in our help, with bcc's text, which ours may continue. Our -h is one screen:
    --help has all."""
    decided = {"--stack-storage-size": "the number of unique stack traces that can be stored and displayed",
               "--debug": "", "--ebpf": ""}  # defaults differ; there is no BPF text to print
    command, *bcc = recorded(name)
    command = re.sub(r" -h$", " --help", command[2:])
    out, _, status = run(command, build, None)
    ours, theirs = options_of(out.splitlines()), options_of(bcc)
    missing = [] if len(theirs) > 10 else [f"only {len(theirs)} options in bcc's help"]
    for flags, text in theirs.items():
        text = decided.get(flags, text.rstrip("."))
        if not ours.get(flags, "").startswith(text) or flags not in ours:
            missing.append(f"{flags} {text} (ours: {ours.get(flags)})")
    if status != 0 or missing:
        raise Unlike("; ".join(missing))


def needs_kprobes(name):
    return "vfs_read" in name or name in ("stackcount-r-alt", "stackcount-intr",
                                          "stackcount-err-nofunc", "stackcount-err-noglob")


def cases():
    for name in REPORTS:
        yield name, compare_report
    for name in MESSAGES:
        yield name, compare_message
    yield "profile-intr", compare_interrupted
    yield "profile-small-storage", compare_small_storage
    yield "stackcount-vfs_read-c", compare_cpu
    yield "profile-help", compare_help
    yield "stackcount-help", compare_help


# Sampling is random: the first try may miss a stack of bcc's report, above all on a busy machine. A
# wrong layout fails each time.
TRIES = 3


def main():
    build, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    kprobes = os.path.exists("/sys/bus/event_source/devices/kprobe/type")
    failed, skipped, profiles = 0, [], 0
    with tempfile.TemporaryDirectory() as directory:
        for name, compare in cases():
            if chosen and name not in chosen:
                continue
            if needs_kprobes(name) and not kprobes:
                skipped.append(name)
                continue
            if SLOW > 1 and name.startswith("profile") and not chosen:
                profiles += 1
                continue
            threads = "-L" in name or "thr" in name or "p-list" in name
            program = None
            try:
                if compare is not compare_help:
                    program = Program(build, directory, threads)
                for attempt in range(TRIES):
                    try:
                        compare(name, build, program)
                        break
                    except Unlike:
                        if attempt + 1 == TRIES:
                            raise
                print(f"ok as bcc: {name}".replace(": ", " "), flush=True)
            except NotSeen as e:
                print(f"skip as bcc {name}: {e}", flush=True)
            except (Unlike, AssertionError, subprocess.TimeoutExpired) as e:
                failed = 1
                print(f"FAIL as bcc {name}: {e}", flush=True)
            finally:
                if program:
                    program.close()
    if profiles:
        print(f"skip as bcc, {profiles} of profile: its layouts are the same on all kernels, and "
              "take minutes where CPUs are emulated")
    if skipped:
        print(f"skip as bcc, {len(skipped)} of kernel functions: this kernel has no kprobes "
              "(CONFIG_KPROBES)")
    return failed


sys.exit(main())
