#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pod.py DIRECTORY IMAGE URL: prints the pod that the DaemonSet of DIRECTORY makes on a node, for `podman
play kube`: its config map with URL in place of what its file says, the node's name, and the host's network.
"""
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
    (container,) = spec["containers"]
    container["image"] = image
    for variable in container["env"]:
        source = variable.get("valueFrom", {})
        if "fieldRef" in source:
            del variable["valueFrom"]
            variable["value"] = "here"
        elif "configMapKeyRef" in source:
            settings[source["configMapKeyRef"]["key"]] # there must be one
    yaml.safe_dump_all([
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": generator["name"]}, "data": settings},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stacktally", **template["metadata"]},
         "spec": spec}], sys.stdout)


main()
