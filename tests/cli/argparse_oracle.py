# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares our option parser with Python's argparse: argparse_oracle.py DRIVER

bcc's options are declared to argparse as bcc declares them; then both parsers get the same
argument vectors. Our help and usage are compared with those that argparse prints for our whole table.
Prints a line for each case; exits with 1 if one failed.
"""
import argparse
import re
import contextlib
import io
import os
import random
import subprocess
import sys

os.environ["COLUMNS"] = "80"
driver = sys.argv[1]
failures = 0


def report(name, why=None):
    global failures
    failures += why is not None
    print(f"ok {name}" if why is None else f"FAIL {name}: {why}")


def positive_int(text):
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError("must be an integer")
    if value < 0:
        raise argparse.ArgumentTypeError("must be positive")
    return value


def positive_int_list(text):
    return [positive_int(part) for part in text.split(",")]


def positive_nonzero_int(text):
    value = positive_int(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be nonzero")
    return value


# bcc has a number, of which one below 0 is all CPUs; ours may also be a list.
def cpus(text):
    if re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text) and not text.isdigit():
        ends = [(part + "-" + part).split("-")[:2] for part in text.split(",")]
        return sorted({cpu for first, last in ends for cpu in range(int(first), int(last) + 1)})
    return [int(text)] if int(text) >= 0 else -1


cpus.__name__ = "int"


def profile_parser():
    parser = argparse.ArgumentParser(prog="profile")
    group = parser.add_mutually_exclusive_group()
    # Of bcc, the last list holds; of ours, they add up.
    group.add_argument("-p", "--pid", type=positive_int_list, action="extend")
    group.add_argument("-L", "--tid", type=positive_int_list, action="extend")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-U", "--user-stacks-only", action="store_true")
    group.add_argument("-K", "--kernel-stacks-only", action="store_true")
    group = parser.add_mutually_exclusive_group()
    # bcc accepts 0 here and ignores it; we refuse it, as bcc does for its other numbers.
    group.add_argument("-F", "--frequency", type=positive_nonzero_int)
    group.add_argument("-c", "--count", type=positive_nonzero_int)
    parser.add_argument("-d", "--delimited", action="store_true")
    parser.add_argument("-a", "--annotations", action="store_true")
    parser.add_argument("-I", "--include-idle", action="store_true")
    parser.add_argument("-f", "--folded", action="store_true")
    parser.add_argument("--hash-storage-size", type=positive_nonzero_int)
    parser.add_argument("--stack-storage-size", type=positive_nonzero_int)
    parser.add_argument("-C", "--cpu", type=cpus, default=-1)
    parser.add_argument("--cgroupmap")
    parser.add_argument("--mntnsmap")
    parser.add_argument("-A", "--address", action="store_true")
    parser.add_argument("duration", nargs="?", type=positive_nonzero_int)
    return parser


def stackcount_parser():
    parser = argparse.ArgumentParser(prog="stackcount")
    parser.add_argument("-p", "--pid", type=int, action="append")
    parser.add_argument("-c", "--cpu", type=cpus, default=-1)
    parser.add_argument("-i", "--interval")
    parser.add_argument("-D", "--duration")
    for letter, name in (("T", "timestamp"), ("r", "regexp"), ("s", "offset"), ("P", "perpid"),
                         ("K", "kernel-stacks-only"), ("U", "user-stacks-only"),
                         ("v", "verbose"), ("d", "delimited"), ("f", "folded")):
        parser.add_argument("-" + letter, "--" + name, action="store_true")
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("pattern")
    return parser


PROFILE = [
    "", "5", "-F 99 5", "5 -F 99", "-F99 5", "--frequency=99 5", "--frequency 99 5",
    "--freq 99", "--freq=99", "--folded", "--delim", "-adf -p 185 10", "-df -p 185 5",
    "-adfp185 10", "-adfp 185 10", "-F=99", "-d=F 99", "-d=", "-d=5", "-dX", "-hX", "-dp", "-hp",
    "-p 1 -L 2", "-L 2 -p 1", "--tid 2 --pi 1", "-U -K", "-K -U", "-UK", "-KU", "-F 9 -c 9",
    "-c 9 -F 9", "-c9F9", "-p abc", "-p -5", "-p -5,6", "-p 1,2,3", "-p 1,", "-p ,1", "-p ,",
    "-p 1,-2", "-p=1,2", "-p= 5", "-p", "-p -d", "-p --", "-L x", "-L -1", "-L1 -L2", "-p 0",
    "-F x", "-F -3", "-F 0", "-c 0", "-c -0", "-F +99", "-F 9_9", "-F 9__9", "-F _9", "-F 0x10",
    "-F 007", "-F 1.5", "-F -1.5", "-F -.5", "-F -5.", "-F 1e3", "0", "-5", "-0", "--stack 0",
    "--stack-storage-size 0", "--hash-storage-size 0", "--hash-storage-size x",
    "--hash-storage-size -1", "--stack=16", "-C x", "-C -1", "-C 7 2", "-C-1", "-C=3", "-C", "-C -x",
    "-C 1 2 3", "5 6", "5 6 7", "5 -d 6", "-d 5 -a 6 -f", "--nosuch", "--nosuch 5", "--nosuch=3 5",
    "-x", "-xd", "-x -y 5 6", "-z9 -d", "--c 5", "--cgroupm x", "--h", "--s 1",
    "--st 1", "--k", "--u", "--ke --us", "--a", "--an", "--ad", "--fo", "--fol", "--f", "--fr 9",
    "--i", "--in", "--folded=1", "--folded=", "--pid=", "--pid= --tid=1", "--=5", "---", "-",
    "- -d", "-d -", "--cgroupmap - 5", "--cgroupmap -x", "--cgroupmap -5", "--mntnsmap= 5",
    "--mntnsmap=a=b", "--mntnsmap a --mntnsmap b", "-AIdaf", "-p 1 -p 2", "-p x -p 1",
    "-U -p x -K", "-U -K -p x", "--nosuch -p x", "--nosuch --c", "-F 9 --nosuch -c 9",
]
PROFILE_VECTORS = [
    ["-x y"], ["-p 1 "], ["-p", " 1 , 2 "], ["-p", "-1 2"], ["-p", "-5 "], [""], ["", "-d"],
    ["-p", ""], ["-C", ""], ["-C", "it's"], ["-C", "a\"b'c"], ["-C", "a\\b\n"], ["-C", "\x01é"],
    ["--freq 9"], ["--nosuch a b"], ["-d", "-ab c"], ["-F", "\t9\n"], ["-dé"],
]
STACKCOUNT = [
    "", "f", "-p 185 f", "f -p 185", "-p185 f", "-p x f", "-p 1,x f", "-p f", "-c 1 f", "-c x f",
    "-c -1 f", "-c", "-sv f", "-Ti 5 f", "-Ti5 f", "-D 10 f", "-i 2 -D 3 f", "-KU f", "-K -U f",
    "-r ^tcp_send.* f", "-r ^tcp", "--nosuch", "--nosuch f", "f g", "f g -d", "-v", "-Z", "--p f",
    "--per f", "--ver f", "--de f", "--deb f", "--del f", "--d 5 f", "--du 5 f", "--re f", "--off f",
    "--k f", "--t f", "--in 5 f", "--debug=1 f", "-vX f", "-f", "-df -P t:sched:sched_switch",
    "u:node:*", "a::b", "--pid=7 f", "--fold f", "-hv", "-TrsPKUvdf f",
]
# A word with a blank in it stands for one argument.
ATOMS = ["-d", "-a", "-f", "-I", "-A", "-U", "-K", "-adf", "-p", "-p1", "-L2", "--pid=3", "-F",
         "-F9", "-c", "-c100", "-C", "-C1", "5", "7", "-1", "x", "1,2", "--fol", "--freq", "--st=9",
         "--cgroupmap", "--nosuch", "-Z", "--c"]


def vectors():
    for line in PROFILE:
        yield "profile", line.split()
    for vector in PROFILE_VECTORS:
        yield "profile", vector
    for line in STACKCOUNT:
        yield "stackcount", line.split()
    chance = random.Random(49)
    for _ in range(120):
        yield "profile", [chance.choice(ATOMS) for _ in range(chance.randint(1, 6))]


def ask_argparse(parser, vector):
    """(exit code, message, values by option name) of argparse."""
    err, out = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
            values = vars(parser.parse_args(vector))
    except SystemExit as stop:
        # The message may have newlines of its own.
        return stop.code, err.getvalue().partition(": error: ")[2].rstrip("\n"), {}
    return 0, "", {name.replace("_", "-"): value for name, value in values.items()}


def ask_driver(command, vector):
    """The same for our parser, which prints a hint after the message, not the usage before it."""
    done = subprocess.run([driver, command] + vector, capture_output=True, text=True)
    if done.returncode == 2 and done.stdout:
        return 2, "stdout is not empty", {}
    message = done.stderr.partition(": error: ")[2].rpartition("\nTry '")[0]
    values = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if done.stderr and not message:
        message = done.stderr
    return done.returncode, message, {} if done.stdout.startswith("usage:") else values


def shown(value):
    if value is None:
        return ("-", "", "0")
    if isinstance(value, list):
        return (",".join(map(str, value)),)
    return (str(int(value) if isinstance(value, bool) else value),)


def difference(command, vector, parser):
    code, message, values = ask_argparse(parser, vector)
    our_code, our_message, our_values = ask_driver(command, vector)
    if command == "profile":
        # We accept decimals, and our message says so.
        message = message.replace("duration: must be an integer",
                                  "duration: must be a number of seconds")
    # We print control characters as question marks.
    message = "".join("?" if ord(c) < 32 else c for c in message)
    if our_code != code:
        return f"exit {our_code} ({our_message}), argparse {code} ({message})"
    if message.startswith("ambiguous option"):
        # We have more options than bcc, so more may match.
        for word in message.partition(" could match ")[2].split(", "):
            if word not in our_message:
                return f"{our_message!r} lacks {word}"
    elif our_message != message:
        return f"says {our_message!r}, argparse {message!r}"
    for name, value in values.items():
        if our_values.get(name) not in shown(value):
            return f"{name} is {our_values.get(name)}, argparse {value}"
    return None


def compare_parsing():
    parsers = {"profile": profile_parser(), "stackcount": stackcount_parser()}
    for command, vector in vectors():
        # Our `--` begins a command.
        why = None if "--" in vector else difference(command, vector, parsers[command])
        report("argparse: " + " ".join([command] + [repr(word) for word in vector]), why)


def table_parser(command):
    """An argparse parser for our own table of options."""
    text = subprocess.run([driver, "--table", command], capture_output=True, text=True,
                          check=True).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    description = subprocess.run([driver, "--help", command], capture_output=True, text=True,
                                 check=True).stdout.split("\n\n")[1]
    parser = argparse.ArgumentParser(prog=command, add_help=False, description=description)
    sections, groups = {"": parser}, {}
    tags = [row[4] for row in rows]
    for section, name, letter, metavar, tag, place, visible, text in rows:
        words = text.replace("%", "%%") if visible == "visible" else argparse.SUPPRESS
        if section not in sections:
            sections[section] = parser.add_argument_group(section)
        where = sections[section]
        # Options that exclude each other across sections are not shown as a group.
        together = tag and len({row[0] for row in rows if row[4] == tag}) == 1
        if together:
            if tag not in groups:
                groups[tag] = where.add_mutually_exclusive_group()
            where = groups[tag]
        if place != "option":
            where.add_argument(name, nargs=None if place == "required" else "?", help=words)
            continue
        names = (["-" + letter] if letter != "-" else []) + ["--" + name]
        if metavar.startswith("["):
            # argparse would take the next word as the value, so the metavar is part of the name
            # here.
            where.add_argument(names[0] + metavar, action="store_true", help=words)
        elif metavar:
            where.add_argument(*names, metavar=metavar, help=words)
        else:
            where.add_argument(*names, action="store_true", help=words)
    assert tags
    return parser


def compare_help():
    for command in ("profile", "stackcount"):
        ours = subprocess.run([driver, "--help", command], capture_output=True, text=True,
                              check=True).stdout.partition("\nexamples:\n")[0]
        theirs = table_parser(command).format_help()
        why = None
        for number, (our, their) in enumerate(zip(ours.split("\n"), theirs.split("\n")), 1):
            if our != their:
                why = f"line {number} is {our!r}, argparse has {their!r}"
                break
        if why is None and ours != theirs:
            why = "one is longer than the other"
        report(f"help of {command} is laid out as by argparse", why)


compare_parsing()
compare_help()
sys.exit(1 if failures else 0)
