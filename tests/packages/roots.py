# SPDX-License-Identifier: GPL-2.0-or-later
"""New root file systems of Debian releases: made once by mmdebstrap, kept as BUILD/roots/NAME.tar."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
from debian import NoPackages, archives  # noqa: E402


def machine_setting(name):
    """A setting of this machine's apt, which may have an archive that stands still."""
    done = subprocess.run(["apt-config", "dump", name, "--format", "%v%n"], capture_output=True,
                          text=True, check=False)
    return done.stdout.strip()


def get_root(build, suite, kind="", include=()):
    """The path of the tar archive. `kind` names roots with packages beyond apt and the essential ones."""
    directory = os.path.join(build, "roots")
    os.makedirs(directory, exist_ok=True)
    name = f"{suite}-{kind}" if kind else suite
    path = os.path.join(directory, f"{name}.tar")
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            if not shutil.which("mmdebstrap"):
                raise NoPackages("no mmdebstrap")
            argv = ["mmdebstrap", "--mode=root", "--variant=apt", "--format=tar",
                    "--aptopt=APT::Install-Recommends \"false\"",
                    "--aptopt=Acquire::Languages \"none\"", "--aptopt=Acquire::Retries \"3\""]
            valid = machine_setting("Acquire::Check-Valid-Until")
            if valid:
                argv.append(f"--aptopt=Acquire::Check-Valid-Until \"{valid}\"")
            if include:
                argv.append("--include=" + ",".join(include))
            done = subprocess.run(argv + [suite, f"{path}.new", archives()[0]], capture_output=True,
                                  text=True, check=False, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                errors = [line for line in done.stderr.splitlines() if line.startswith("E:")]
                raise NoPackages(f"mmdebstrap failed: {(errors or [done.stderr[-200:]])[0]}")
            os.rename(f"{path}.new", path)
    return path


def unpack(archive, directory):
    os.makedirs(directory)
    subprocess.run(["tar", "-xf", archive, "-C", directory, "--numeric-owner",
                    "--exclude=./dev/*"], check=True)
    for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9), ("tty", 0)):
        os.mknod(f"{directory}/dev/{name}", 0o20666, os.makedev(5 if name == "tty" else 1, minor))
        os.chmod(f"{directory}/dev/{name}", 0o666)


@contextlib.contextmanager
def root(archive, directory):
    """A root of its own with the kernel's file systems mounted; removed afterwards."""
    mounts = [("proc", "proc"), ("sysfs", "sys"), ("tracefs", "sys/kernel/tracing")]
    unpack(archive, directory)
    mounted = []
    try:
        for kind, where in mounts:
            subprocess.run(["mount", "-t", kind, kind, f"{directory}/{where}"], check=True)
            mounted.append(where)
        yield directory
    finally:
        for where in reversed(mounted):
            subprocess.run(["umount", "-l", f"{directory}/{where}"], check=False)
        subprocess.run(["rm", "-rf", "--one-file-system", directory], check=False)
