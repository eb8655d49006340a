# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages of any Debian release, by apt with its own state and cache: this machine's are not changed.

The address of the archive is read from this machine's apt sources.
"""

import glob
import os
import re
import shutil
import subprocess
import tempfile

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class NoPackages(Exception):
    """Why packages cannot be downloaded. That is not a failure of the tests."""


def cache_directory(name):
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "stacktally", name)


class Apt:
    """apt with its own state, cache and sources, for an architecture of Debian's.

    Of the suite `experimental` are those packages that it has, of sid the others.
    """

    def __init__(self, suite, directory, architecture="amd64"):
        if not shutil.which("apt-get"):
            raise NoPackages("no apt-get to fetch packages with")
        self.directory, self.architecture = directory, architecture
        for sub in ("state/lists/partial", "cache/archives/partial", "preferences"):
            os.makedirs(f"{directory}/{sub}")
        open(f"{directory}/status", "w").close()
        archive, security = archives()
        self.preferred = ["-t", suite] if suite == "experimental" else []
        with open(f"{directory}/sources.list", "w") as f:
            f.write(f"deb [signed-by={KEYRING}] {archive} {suite} main\n")
            if suite == "experimental":
                f.write(f"deb [signed-by={KEYRING}] {archive} sid main\n")
            elif security and suite != "sid":
                f.write(f"deb [signed-by={KEYRING}] {security} {suite}-security main\n")

    def __call__(self, *args, cwd=None):
        settings = {
            "Dir::State": f"{self.directory}/state",
            "Dir::State::status": f"{self.directory}/status",
            "Dir::Cache": f"{self.directory}/cache",
            "Dir::Etc::sourcelist": f"{self.directory}/sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": f"{self.directory}/preferences",
            "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
            "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture,
            "APT::Install-Recommends": "false",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
            "Acquire::IndexTargets::deb::CNF::DefaultEnabled": "false",
            "Acquire::Retries": "3",
        }
        argv = ["apt-get", "-q", *self.preferred] + [f"-o{k}={v}" for k, v in settings.items()] + list(args)
        done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            errors = re.findall(r"^[EW]: .*", done.stderr, re.M) or [done.stderr.strip()]
            raise NoPackages(f"apt-get {args[0]} failed: {errors[0]}")
        return done.stdout

    def unpack(self, packages, tree):
        """Downloads packages (NAME or NAME=VERSION) and unpacks them; none of their scripts runs."""
        with tempfile.TemporaryDirectory(dir=self.directory) as tmp:
            self("download", *packages, cwd=tmp)
            for package in sorted(glob.glob(f"{tmp}/*.deb")):
                subprocess.run(["dpkg", "-x", package, tree], check=True)


def archives():
    """The addresses of Debian's archive and security archive, from the machine's apt sources."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
                           "Created-By: Packages"], capture_output=True, text=True, check=False)
    archive = security = None
    for line in done.stdout.splitlines():
        address, release = line.split(" ", 1)
        address = address.rstrip("/")
        if release.endswith("-security") and address.endswith("debian-security"):
            security = security or address
        elif address.endswith("/debian"):
            archive = archive or address
    if not archive:
        raise NoPackages("no Debian archive among this machine's apt sources")
    if not os.path.exists(KEYRING):
        raise NoPackages(f"no {KEYRING} (package debian-archive-keyring)")
    return archive, security
