#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What engines are sent, read by protoc: decode.py pprof|pyroscope|otlp FILE...

Prints JSON: "samples", their number; "labels", of each combination that samples or their series
have, the number of samples; "totals", of each type of value; "functions", of each name, the samples it is in; "unnamed", the samples
with a location that has a build-id and no name; "build_ids" of mappings; "types" of values. Fails on
fields that the schema lacks, and on references to entries that tables lack."""

import collections
import gzip
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PPROF = "/usr/share/gocode/src/github.com/google/pprof/proto/profile.proto"
SCHEMAS = {
    "pprof": (PPROF, "perftools.profiles.Profile"),
    "pyroscope": (os.path.join(HERE, "pyroscope.proto"), "push.v1.PushRequest"),
    "otlp": (
        os.path.join(HERE, "otlp.proto"),
        "opentelemetry.proto.ExportProfilesServiceRequest",
    ),
}
ESCAPE = re.compile(rb"\\([0-7]{3}|x[0-9a-f]{2}|.)")
SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def unescape(text):
    def one(match):
        code = match[1]
        if len(code) == 3 and code.isdigit():
            return bytes([int(code, 8)])
        return SIMPLE.get(code, code)

    return ESCAPE.sub(one, text)


def parse(lines):
    """protoc's text as a dictionary of lists."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == b"}":
            return message
        name, separator, value = line.partition(b": ")
        if name[:1].isdigit():
            sys.exit(f"unknown field {line!r}")
        if separator:
            if value[:1] == b'"':
                value = unescape(value[1:-1])
            elif value[:1].isdigit() or value[:1] == b"-":
                value = int(value)
            message[name.decode()].append(value)
        else:
            message[line[:-2].decode()].append(parse(lines))
    return message


def decode(what, content):
    path, name = SCHEMAS[what]
    text = subprocess.run(
        ["protoc", f"--proto_path={os.path.dirname(path)}", f"--decode={name}", path],
        input=content,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return parse(iter(text.splitlines()))


def one(message, name, otherwise=0):
    return message[name][0] if message[name] else otherwise


class Sums:
    def __init__(self):
        self.samples = 0
        self.labels = collections.Counter()
        self.functions = collections.Counter()
        self.unnamed = 0
        self.places = set()
        self.build_ids = set()
        self.types = set()
        self.totals = collections.Counter()

    def add(self, count, labels, functions, unnamed):
        self.samples += count
        self.labels[json.dumps(labels, sort_keys=True)] += count
        for function in set(functions):
            self.functions[function] += count
        self.unnamed += count if unnamed else 0

    def add_place(self, location, mapping, build_id):
        """A location without names, of which an engine finds the function in the file."""
        address = one(location, "address")
        inside = one(mapping, "memory_start") <= address < one(mapping, "memory_limit")
        self.places.add((build_id, address, inside))

    def print(self):
        json.dump(
            {
                "samples": self.samples,
                "labels": [[json.loads(k), n] for k, n in self.labels.items()],
                "functions": self.functions,
                "unnamed": self.unnamed,
                "places": sorted(self.places),
                "build_ids": sorted(self.build_ids),
                "types": sorted(self.types),
                "totals": self.totals,
            },
            sys.stdout,
            indent=1,
        )


def add_pprof(sums, content, series):
    profile = decode("pprof", gzip.decompress(content))
    strings = [text.decode() for text in profile["string_table"]]
    functions = {one(f, "id"): strings[one(f, "name")] for f in profile["function"]}
    mappings = {one(m, "id"): m for m in profile["mapping"]}
    locations = {one(l, "id"): l for l in profile["location"]}
    for mapping in mappings.values():
        sums.build_ids.add(strings[one(mapping, "build_id")])
    types = [
        strings[one(of, "type")] + " " + strings[one(of, "unit")] for of in profile["sample_type"]
    ]
    sums.types.update(types)
    for sample in profile["sample"]:
        labels = dict(series)
        for label in sample["label"]:
            key = strings[one(label, "key")]
            labels[key] = strings[one(label, "str")] if label["str"] else one(label, "num")
        stack = [locations[id] for id in sample["location_id"]]
        names = [functions[one(l, "function_id")] for of in stack for l in of["line"]]
        for of, value in zip(types, sample["value"]):
            sums.totals[of] += value
        sums.add(sample["value"][0], labels, names, any(not of["line"] for of in stack))
        for of in stack:
            if not of["line"]:
                mapping = mappings[one(of, "mapping_id")]
                sums.add_place(of, mapping, strings[one(mapping, "build_id")])


def add_pyroscope(sums, content):
    ids = set()
    for series in decode("pyroscope", content)["series"]:
        labels = {one(l, "name").decode(): one(l, "value").decode() for l in series["labels"]}
        for sample in series["samples"]:
            ids.add(one(sample, "ID"))
            add_pprof(sums, one(sample, "raw_profile"), labels)
    if len(ids) == 0 or not all(re.fullmatch(rb"[0-9a-f-]{36}", id) for id in ids):
        sys.exit(f"ids: {ids}")


def add_otlp(sums, content):
    request = decode("otlp", gzip.decompress(content))
    tables = one(request, "dictionary")
    strings = [text.decode() for text in tables["string_table"]]
    for table in ("mapping", "location", "function", "link", "attribute", "stack"):
        if any(one(tables, table + "_table").values()):
            sys.exit(f"the first entry of {table}_table is not empty")

    def text(message, name):
        return strings[one(message, name)]

    def value(any_value):
        return one(any_value, "string_value", b"").decode() or one(any_value, "int_value")

    def attributes(message):
        of = [tables["attribute_table"][i] for i in message["attribute_indices"]]
        return {text(a, "key_strindex"): value(one(a, "value")) for a in of}

    build_ids = []
    for mapping in tables["mapping_table"]:
        of = attributes(mapping)
        build_ids.append([of[k] for k in of if k.endswith("build_id.gnu")])
        sums.build_ids.update(build_ids[-1])
    for of in tables["location_table"][1:]:
        if not of["lines"]:
            id = one(of, "mapping_index")
            sums.add_place(of, tables["mapping_table"][id], "".join(build_ids[id]))
    for resource in request["resource_profiles"]:
        series = {
            one(a, "key").decode(): value(one(a, "value"))
            for a in one(resource, "resource")["attributes"]
        }
        profile = one(one(resource, "scope_profiles"), "profiles")
        if len(one(profile, "profile_id", b"")) != 16 or not one(profile, "time_unix_nano"):
            sys.exit("no id or time")
        of = one(profile, "sample_type")
        type = text(of, "type_strindex") + " " + text(of, "unit_strindex")
        sums.types.add(type)
        for sample in profile["samples"]:
            stack = tables["stack_table"][one(sample, "stack_index")]["location_indices"]
            lines = [tables["location_table"][i]["lines"] for i in stack]
            names = [
                text(tables["function_table"][one(l, "function_index")], "name_strindex")
                for of in lines
                for l in of
            ]
            sums.totals[type] += sum(sample["values"])
            sums.add(
                sum(sample["values"]),
                {**series, **attributes(sample)},
                names,
                any(not of for of in lines),
            )


def main():
    sums = Sums()
    for path in sys.argv[2:]:
        with open(path, "rb") as content:
            content = content.read()
        if sys.argv[1] == "pprof":
            add_pprof(sums, content, {})
        elif sys.argv[1] == "pyroscope":
            add_pyroscope(sums, content)
        else:
            add_otlp(sums, content)
    sums.print()


main()
