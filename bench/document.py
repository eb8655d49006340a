# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes docs/benchmarks.md from the rows of a run and the facts of the machine."""
import os
import platform
import re
import statistics
import subprocess
import time


# The peers' columns: what a row calls them, and their names.
PEERS = {"bpftrace": "bpftrace", "perf": "perf", "otel": "OpenTelemetry"}


def first_line(command):
    try:
        out = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "not installed"
    return (out.stdout or out.stderr).strip().split("\n")[0]


def machine(build, peers, otel):
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/etc/os-release") as file:
        system = re.search(r'PRETTY_NAME="(.*)"', file.read())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    facts = {
        "Date": time.strftime("%Y-%m-%d", time.gmtime()),
        "Machine": f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, "
                   f"{memory:.0f} GiB" + (", virtual" if is_virtual() else ""),
        "Kernel": platform.release(),
        "System": system[1] if system else "unknown",
        "Load before": "%.1f" % os.getloadavg()[0],
        "stacktally": first_line([os.path.join(build, "profile"), "--version"]),
    }
    commands = {"bpftrace": "bpftrace", "perf": "perf", "otel": otel}
    for peer, name in PEERS.items():
        facts[name] = first_line([commands[peer], "--version"]) if peer in peers else "MISSING, not measured"
    return facts


def is_virtual():
    with open("/proc/cpuinfo") as file:
        return " hypervisor" in file.read()


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.1f}"


def middle(row, tool):
    values = row["values"].get(tool)
    return statistics.median(values) if values else None


def ratio(row, peer):
    """The median of the ratios of each round, because a machine that slows down slows both."""
    pairs = zip(row["values"].get("ours", []), row["values"].get(peer, []))
    ratios = [ours / theirs for ours, theirs in pairs if theirs > 0]
    return statistics.median(ratios) if ratios else None


def verdict(row):
    """The target in words, and whether it was reached: None without a target or a peer."""
    ours = middle(row, "ours")
    if row["target"] is not None:
        return (f"{number(row['target'])} {row['unit']}",
                None if ours is None else ours <= row["target"])
    if not row["ratio"]:
        return "", None
    most, peer = row["ratio"]
    ratios = [ratio(row, p) for p in (("bpftrace", "perf") if peer == "the better" else (peer,))]
    ratios = [r for r in ratios if r is not None]
    return f"{most} of {PEERS.get(peer, peer)}'s", max(ratios) <= most if ratios else None


def table(rows):
    yield "| what | unit | ours | " + " | ".join(f"{name} | ratio" for name in PEERS.values()) + " | target | reached |"
    yield "|---|---|---:|" + "---:|---:|" * len(PEERS) + "---|---|"
    for row in rows:
        cells = [row["what"], row["unit"], number(middle(row, "ours"))]
        for peer in PEERS:
            r = ratio(row, peer)
            cells += [number(middle(row, peer)), "" if r is None else f"{r:.2f}"]
        target, reached = verdict(row)
        cells += [target, "" if reached is None else "yes" if reached else "**no**"]
        yield "| " + " | ".join(cells) + " |"


def spread(rows):
    for row in rows:
        for tool, values in row["values"].items():
            yield (f"- {row['what']}, {PEERS.get(tool, tool)}: " + " ".join(number(v) for v in values) +
                   f" {row['unit']}")


def document(facts, rows):
    lines = ["# Benchmarks", "",
             "Written by `make bench` (bench/run): do not edit.", "",
             "Each tool ran in turn, ours first, and that several times; the numbers are medians, "
             "the ratios medians of ours to the peer's of the same round, as machines speed up "
             "and slow down. bpftrace and perf are those of the distribution's packages; the OpenTelemetry "
             "eBPF profiler is the program that --peer names.", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += [""] + list(table(rows))
    lines += [""] + [f"{row['what']}: {row['note']}." for row in rows if row["note"]]
    for row in rows:
        if row.get("table"):
            lines += ["", f"## {row['what'][0].upper()}{row['what'][1:]}", ""] + row["table"]
    lines += ["", "## Every run", ""] + list(spread(rows))
    return "\n".join(lines) + "\n"
