# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of several languages that call each other, each in turn at the leaf: see several_embedded.c.
# $LANGUAGES has those beside Python and Perl.
import ctypes, os, sys, time

program = ctypes.PyDLL(None)
others = os.environ.get("LANGUAGES", "").split()


def leaf():
    os.getppid()


def ready():
    print("ready", os.getpid(), flush=True)
    sys.stdin.readline()


def to_php():
    program.run_php(b"outer_php();")


def to_java():
    program.run_java(b"leaf()")


def inner():
    program.run_perl(b"outer_perl()")


def outer():
    inner()


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        outer()


program.run_perl(b"sub outer_perl { inner_perl() } sub inner_perl { run_python($main::leaf) } 1")
if "php" in others:
    program.run_php(b"function outer_php() { inner_php(); } function inner_php() { posix_getppid(); }")
if "java" in others:
    to_java()
program.run_perl(b"$main::leaf = 'ready()'; 1")
outer()
for way in ["leaf()"] + ["to_%s()" % other for other in others]:
    program.run_perl(b"$main::leaf = '%s'; 1" % way.encode())
    for i in range(10):
        outer()
    work(float(os.environ.get("WORK", 0)))
