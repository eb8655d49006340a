# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock Debian kernels, ready to boot: downloaded once with apt, kept in a cache.

Only the kernel and the few modules that a test machine needs are kept; the kernel is unpacked, because
it starts faster by its PVH entry, and qemu cannot start all packed ones of arm64. A machine of another
architecture than the host's has a root of its own, of Debian 12's packages.
"""

import fcntl
import glob
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from debian import Apt, NoPackages, cache_directory  # noqa: E402

SUITES = {"5.10": "bullseye", "6.1": "bookworm", "6.12": "trixie", "newest": "sid"}
MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "virtio_rng",
           "fuse"]  # for names_dead_mount_test.sh
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
# What the tests call; without recommended packages.
ROOT = ("base-files bash coreutils findutils grep sed gawk util-linux mount procps diffutils bc python3 perl "
        "gcc libc6-dev binutils elfutils gdb libcap2-bin openssl sqlite3 xz-utils bzip2 zstd git "
        "strace file").split()
FORMAT = 2  # of the cache; a new number makes everything again


class Kernel:
    def __init__(self, label, directory, arch):
        self.label, self.directory, self.arch = label, directory, arch
        self.image = os.path.join(directory, "vmlinux")
        self.packed = os.path.join(directory, "bzImage")
        self.modules = os.path.join(directory, "modules.cpio")
        with open(os.path.join(directory, "version")) as f:
            self.version = f.read().strip()


def get_kernel(label, update=False, packed=False, arch="x86_64"):
    """The current kernel of that Debian release, from the cache if it is there; with its packed image."""
    name = f"{label}-{FORMAT}" if arch == "x86_64" else f"{label}-{arch}-{FORMAT}"
    directory = os.path.join(cache_directory("vm"), name)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (update or not os.path.exists(os.path.join(directory, "version")) or
                packed and not os.path.exists(os.path.join(directory, "bzImage"))):
            make_kernel(SUITES[label], directory, arch)
    return Kernel(label, directory, arch)


def get_root(arch, suite="bookworm"):
    """A directory with Debian's packages of that architecture, unpacked but not configured."""
    directory = os.path.join(cache_directory("vm"), f"root-{suite}-{arch}-{FORMAT}")
    os.makedirs(directory, exist_ok=True)
    root = os.path.join(directory, "root")
    with open(os.path.join(directory, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(root):
            with tempfile.TemporaryDirectory(dir=directory, prefix="fetch.") as tmp:
                apt, tree = Apt(suite, tmp, DEBIAN[arch]), f"{tmp}/tree"
                apt("update")
                apt("-y", "--download-only", "install", *ROOT)
                for package in sorted(glob.glob(f"{tmp}/cache/archives/*.deb")):
                    subprocess.run(["dpkg", "-x", package, tree], check=True)
                finish_root(tree)
                os.rename(tree, root)
    return root


def finish_root(tree):
    """What the scripts of packages would have done."""
    for name in ("dev", "proc", "sys", "run", "tmp", "root", "home"):
        os.makedirs(f"{tree}/{name}", exist_ok=True)
    if not os.path.lexists(f"{tree}/bin/sh"):
        os.symlink("bash", f"{tree}/bin/sh")
    for name, target in (("awk", "gawk"),):
        if not os.path.lexists(f"{tree}/usr/bin/{name}"):
            os.symlink(target, f"{tree}/usr/bin/{name}")
    with open(f"{tree}/etc/passwd", "w", encoding="utf-8") as f:
        f.write("root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/nonexistent:/bin/sh\n")
    with open(f"{tree}/etc/group", "w", encoding="utf-8") as f:
        f.write("root:x:0:\nnogroup:x:65534:\n")


def make_kernel(suite, directory, arch):
    if os.uname().machine != "x86_64":
        raise NoPackages("test machines run on amd64 ones, this is " + os.uname().machine)
    with tempfile.TemporaryDirectory(dir=directory, prefix="fetch.") as tmp:
        version, tree = fetch(Apt(suite, tmp, DEBIAN[arch]), tmp)
        image = (glob.glob(f"{tree}/boot/vmlinuz-*") +
                 glob.glob(f"{tree}/usr/lib/modules/*/vmlinuz"))[0]
        with open(f"{tmp}/vmlinux", "wb") as f:
            f.write(unpack_kernel(image))
        shutil.copyfile(image, f"{tmp}/bzImage")
        with open(f"{tmp}/modules.cpio", "wb") as f:
            f.write(pack_modules(tree))
        with open(f"{tmp}/version", "w") as f:
            f.write(version + "\n")
        for name in ("vmlinux", "bzImage", "modules.cpio", "version"):  # version last: it marks a complete entry
            os.replace(f"{tmp}/{name}", f"{directory}/{name}")


def fetch(apt, tmp):
    """Downloads and unpacks the kernel package on which linux-image-ARCHITECTURE depends."""
    apt("update")
    architecture = apt.architecture
    plan = re.findall(r"^Inst (\S+) \((\S+) ", apt("-s", "install", f"linux-image-{architecture}"), re.M)
    version = next((name[len("linux-image-"):] for name, _ in plan
                    if re.match(rf"linux-image-\d.*-{architecture}$", name)), None)
    if not version:
        raise NoPackages(f"linux-image-{architecture} depends on no kernel package there")
    # The newest kernels split their image over several packages.
    wanted = [f"{name}={package}" for name, package in plan
              if re.match(r"linux-(image|binary|modules)", name) and
              version[:-len(architecture) - 1] in name]
    tree = f"{tmp}/tree"
    apt.unpack(wanted, tree)
    return version, tree


def get_headers(kernel):
    """A directory with the kernel's headers, from the cache if they are there.

    Debian has them in two trees, the architecture's and the common one; here they are one tree, as
    bcc wants them in BCC_KERNEL_SOURCE.
    """
    headers = os.path.join(kernel.directory, f"headers-{kernel.version}")
    with open(os.path.join(kernel.directory, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(headers):
            with tempfile.TemporaryDirectory(dir=kernel.directory, prefix="fetch.") as tmp:
                apt, package = Apt(SUITES[kernel.label], tmp), f"linux-headers-{kernel.version}"
                apt("update")
                plan = re.findall(r"^Inst (linux-headers-\S+) \((\S+) ", apt("-s", "install", package), re.M)
                apt.unpack([f"{name}={version}" for name, version in plan], f"{tmp}/tree")
                one = f"{tmp}/tree/usr/src/{package}"
                shutil.copytree(f"{tmp}/tree/usr/src/{package.removesuffix('-amd64')}-common", one,
                                symlinks=True, dirs_exist_ok=True,
                                ignore=lambda path, names: [
                                    name for name in names
                                    if os.path.islink(os.path.join(path, name)) or
                                    name in ("Makefile", "scripts", "tools")])
                os.rename(one, headers)
    return headers


# ---- the contents of the packages

def unpack(data):
    """Unpacks a compressed file or kernel; trailing bytes are ignored."""
    if data[:2] == b"\x1f\x8b":
        return zlib.decompressobj(31).decompress(data)  # the trailer may be missing
    if data[:6] == b"\xfd7zXZ\0":
        return lzma.LZMADecompressor().decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE,
                              check=True).stdout
    if data[:4] == b"\x7fELF":
        return data
    raise NoPackages(f"unknown compression {data[:6].hex()}")


def unpack_kernel(path):
    """The kernel in an image. A bzImage's setup header (boot protocol 2.08) says where it is; images of
    arm64 are it, or say so in the header of their EFI program."""
    with open(path, "rb") as f:
        data = f.read()
    if data[4:8] == b"zimg":
        offset, length = struct.unpack_from("<II", data, 8)
        return unpack(data[offset:offset + length])
    if data[0x38:0x3c] == b"ARM\x64":
        return data
    if data[:2] == b"\x1f\x8b":
        return unpack(data)
    sectors = data[0x1f1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    start = (sectors + 1) * 512 + offset
    # The last four bytes are the unpacked size, appended by the kernel's build.
    return unpack(data[start:start + length - 4])


def pack_modules(tree):
    """A cpio archive with the modules that are needed and their load order."""
    files = {}
    for directory, _, names in os.walk(tree):
        for name in names:
            m = re.match(r"(.*)\.ko(\.(xz|zst|gz))?$", name)
            if m:
                files[m[1].replace("-", "_")] = os.path.join(directory, name)
    modules = {}  # name: contents, in load order

    def add(name):
        name = name.replace("-", "_")
        if name in modules or name not in files:  # built in; if not, the boot fails and says so
            return
        with open(files[name], "rb") as f:
            data = unpack(f.read())
        m = re.search(rb"\0depends=([^\0]*)\0", data)
        for needed in m[1].decode().split(",") if m and m[1] else []:
            add(needed)
        modules[name] = data

    for module in MODULES:
        add(module)
    order = "".join(f"{name}.ko\n" for name in modules)
    return cpio({"modules": None, "modules/order": order.encode(),
                 **{f"modules/{name}.ko": data for name, data in modules.items()}})


def cpio(entries):
    """A newc archive, the format of the kernel's initial file system; None is a directory."""
    out = []

    def add(name, mode, data):
        header = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        text = b"070701" + b"".join(b"%08X" % field for field in header) + name.encode() + b"\0"
        out.append(text + b"\0" * (-len(text) % 4) + data + b"\0" * (-len(data) % 4))

    for name, data in entries.items():
        add(name, 0o40755 if data is None else 0o100755, data or b"")
    add("TRAILER!!!", 0, b"")
    return b"".join(out)
