#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pod.py DIRECTORY IMAGE URL: prints the pod that the DaemonSet of DIRECTORY makes on a node, for `podman
play kube`: with the settings of its config map but for URL, the name of a node, and the host's network; and
what has ended stays so.
Variables in the command are replaced, as the kubelet does.
"""
import re
import sys

import yaml


def main():
    directory, image, url = sys.argv[1:]
    with open(f"{directory}/daemonset.yaml") as file:
        template = yaml.safe_load(file)["spec"]["template"]
    with open(f"{directory}/kustomization.yaml") as file:
        (generator,) = yaml.safe_load(file)["configMapGenerator"]
    settings = {}
    for name in generator["envs"]:
        with open(f"{directory}/{name}") as file:
            settings.update(line.strip().split("=", 1) for line in file if line.strip() and line[0] != "#")
    settings["URL"] = url
    spec = template["spec"]
    spec["hostNetwork"] = True
    spec["restartPolicy"] = "Never"
    (container,) = spec["containers"]
    # podman 4.3 knows the older form of it.
    if container["securityContext"]["seccompProfile"]["type"] == "Unconfined":
        template["metadata"]["annotations"] = {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    container["image"] = image
    for variable in container["env"]:
        source = variable.get("valueFrom", {})
        if "fieldRef" in source:
            del variable["valueFrom"]
            variable["value"] = "here"
        elif "configMapKeyRef" in source:
            del variable["valueFrom"]
            variable["value"] = settings[source["configMapKeyRef"]["key"]]
    values = {variable["name"]: variable["value"] for variable in container["env"]}
    container["command"] = [re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], word)
                            for word in container["command"]]
    yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stacktally", **template["metadata"]},
                    "spec": spec}, sys.stdout)


main()
