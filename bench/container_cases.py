# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of naming containers: many of them, of each runtime, with many processes in them. To be
mixed into cases.Cases, whose tools and rounds it uses.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import time

from measure import Failed
from row import Row

BURN_US = 4000 # of each second, of one process of each container, so that most are sampled


class ContainerCases:
    def container_names(self):
        """Naming alone, and a run of the machine with and without it."""
        containers, processes = self.sizes.containers, self.sizes.processes
        seconds = 2 * self.sizes.process_seconds
        what = (f"{containers} containers of Docker, containerd, CRI-O and Podman with {processes:,} "
                "processes")
        naming = Row(f"CPU time of naming {what}", "ms")
        share = Row(f"... in terms of the CPU time of profile --show-cgroup {seconds}", "%", 5)
        others = Row("CPU time of finding the paths of as many cgroups that are no containers", "ms")
        unnamed = Row("containers that were left without a name", "containers", 0)
        memory = Row("memory that it takes, in profile and in the child that reads the files", "MB", 2)
        run = [self.profile, "--show-cgroup", "-f", "-o", self.bench.path("stacks.folded"), str(seconds)]
        program = os.path.join(self.bench.build, "bench", "container_names")

        def measure(tool):
            named, ms, kb = machine.name(program, machine.cgroups)
            run_ms = self.bench.run(machine.within(run))
            naming.add(tool, ms)
            share.add(tool, 100 * ms / (run_ms["user"] + run_ms["system"]))
            unnamed.add(tool, containers - named)
            others.add(tool, machine.name(program, machine.others)[1])
            memory.add(tool, (kb - machine.name(program, machine.cgroups[:1])[2]) * 1024 / 1e6)

        with Containers(self.bench, containers, processes) as machine:
            self.alternate(["ours"], measure)
        return [naming, share, others, unnamed, memory]


class Containers:
    """Processes in cgroups that are called as containers are, and what the runtimes keep of these on
    disk, in a mount namespace of their own."""

    def __init__(self, bench, containers, processes):
        self.bench, self.each = bench, processes // containers
        self.files = bench.path("containers")
        self.top = os.path.join(hierarchy(), f"stacktally-bench-{os.getpid()}")
        self.cgroups, self.others, self.started, self.podmans = [], [], [], []
        self.runtimes = [(docker, containerd, crio, self.podman)[i % 4] for i in range(containers)]

    def podman(self, identity, number):
        self.podmans.append({
            "id": identity, "names": [f"box-{number}"], "image": identity[::-1], "layer": identity[1:] + "0",
            "metadata": json.dumps({"image-name": "localhost/box:1", "image-id": identity[::-1],
                                    "name": f"box-{number}", "created-at": 1795684824}),
            "created": "2026-11-26T09:20:24.72747295Z", "flags": {"MountLabel": "", "ProcessLabel": ""}})
        return f"libpod-{identity}.scope/container", "/var/lib/containers/storage/overlay-containers/containers.json", self.podmans

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        for number, runtime in enumerate(self.runtimes):
            identity = hashlib.sha256(str(number).encode()).hexdigest()
            cgroup, path, content = runtime(identity, number)
            write(self.files + path, content)
            self.cgroups.append(os.path.join(self.top, cgroup))
            self.others.append(os.path.join(self.top, f"app-{identity}x.service"))
            os.makedirs(self.cgroups[-1])
            os.makedirs(self.others[-1])
        self.namespace = subprocess.Popen(
            ["unshare", "-m", "--propagation", "private", "sh", "-c",
             'mount --bind "$0/run" /run && mount --bind "$0/var/lib" /var/lib && echo ready && exec cat',
             self.files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.started.append(self.namespace)
        if self.namespace.stdout.readline() != "ready\n":
            raise Failed("no mount namespace")
        self.processes = subprocess.Popen(
            [os.path.join(self.bench.build, "bench", "many_containers"), str(self.each), str(BURN_US)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.started.append(self.processes)
        self.processes.stdin.write("".join(cgroup + "\n" for cgroup in self.cgroups))
        self.processes.stdin.close()
        if self.processes.stdout.readline() != "ready\n":
            raise Failed("bench/many_containers cannot start its processes")

    def __exit__(self, *unused):
        for process in self.started:
            process.terminate()
            process.wait()
        for directory, _, _ in os.walk(self.top, topdown=False):
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                try:
                    os.rmdir(directory)
                    break
                except OSError: # its processes are about to end
                    time.sleep(0.05)
        shutil.rmtree(self.files, ignore_errors=True)

    def within(self, command):
        return ["nsenter", "-t", str(self.namespace.pid), "-m"] + command

    def name(self, program, cgroups):
        """(how many of them have the name of a container, ms of CPU time, KB)"""
        identities = "".join(f"{os.stat(cgroup).st_ino}\n" for cgroup in cgroups)
        said = subprocess.run(self.within([program]), input=identities, capture_output=True, text=True,
                              check=True).stdout.split()
        return int(said[0]), float(said[1]), int(said[2])


def docker(identity, number):
    content = {"StreamConfig": {}, "State": {"Running": True, "Pid": 1000 + number}, "ID": identity,
               "Created": "2026-11-26T09:20:24.72747295Z", "Path": "/bin/box", "Args": [],
               "Config": {"Hostname": identity[:12], "Env": some_settings(), "Image": "registry/box:1",
                          "Labels": {"com.docker.compose.service": f"box-{number}"}},
               "Image": "sha256:" + identity, "Name": f"/box-{number}", "HostConfig": {}, "MountPoints": {}}
    return (f"system.slice/docker-{identity}.scope", f"/var/lib/docker/containers/{identity}/config.v2.json",
            content)


def containerd(identity, number):
    uid = f"01234567_89ab_cdef_0123_{number:012}"
    content = oci({"io.kubernetes.cri.container-name": "box", "io.kubernetes.cri.image-name": "registry/box:1",
                   "io.kubernetes.cri.container-type": "container",
                   "io.kubernetes.cri.sandbox-name": f"box-{number}",
                   "io.kubernetes.cri.sandbox-namespace": "prod"})
    return (f"kubepods.slice/kubepods-pod{uid}.slice/cri-containerd-{identity}.scope",
            f"/run/containerd/io.containerd.runtime.v2.task/k8s.io/{identity}/config.json", content)


def crio(identity, number):
    uid = f"01234567_89ab_cdef_0123_{number:012}"
    content = oci({"io.kubernetes.container.name": "box", "io.kubernetes.cri-o.ImageName": "registry/box:1",
                   "io.kubernetes.pod.name": f"box-{number}", "io.kubernetes.pod.namespace": "prod"})
    return (f"kubepods.slice/kubepods-pod{uid}.slice/crio-{identity}.scope",
            f"/run/containers/storage/overlay-containers/{identity}/userdata/config.json", content)


def oci(annotations):
    """As long as those that runtimes write, some 10 KB, and in their order."""
    return {"ociVersion": "1.0.2", "process": {"args": ["/bin/box"], "env": some_settings()},
            "mounts": [{"destination": f"/mount/{i}", "type": "bind", "source": f"/var/lib/somewhere/{i}",
                        "options": ["rbind", "rprivate"]} for i in range(20)],
            "annotations": annotations,
            "linux": {"seccomp": {"syscalls": [{"names": [f"call_{i}" for i in range(300)]}]}}}


def some_settings():
    return [f"SETTING_{i}=some value of it" for i in range(40)]


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(content, file)


def hierarchy():
    """Where cgroup v2 is mounted."""
    with open("/proc/self/mountinfo") as mounts:
        found = re.search(r"^\S+ \S+ \S+ / (\S+) .* - cgroup2 ", mounts.read(), re.M)
    if not found:
        raise Failed("cgroup v2 is not mounted")
    return found[1]
