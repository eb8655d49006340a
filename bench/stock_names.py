#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How the user frames of stock programs are named.

  bench/stock_names.py BUILD [PROGRAM ...]

Runs each program that is installed for some seconds under `profile -U -F 499`, on work made of this
machine's own files, and counts the frames of its samples: those with a symbol, those told by where
their function begins ([FILE+0xSTART]), those of which only the file is known ([FILE]) and those of
which nothing is ([unknown]). Generated code is left out. Prints a table. Needs root.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SECONDS = 3
LEAST = 100  # samples of a program in the table
KINDS = ("symbol", "start", "file", "unknown")

# {big}: a program of some megabytes; {text}: a megabyte of text; {numbers}: lines of numbers; {c},
# {cc}: sources; {db}, {png}, {xml}, {json}: files of these kinds, if the work makes them first.
PROGRAMS = {
    "gzip": "gzip -9 -c {big}",
    "bzip2": "bzip2 -c {big}",
    "xz": "xz -6 -c {big}",
    "zstd": "zstd -19 -q -c {big}",
    "lz4": "lz4 -9 -c {big}",
    "brotli": "brotli -c {big}",
    "openssl": "openssl enc -aes-256-ctr -pbkdf2 -iter 2000000 -k x -in {big}; openssl genrsa 4096",
    "gpg": "gpg --batch --symmetric --passphrase x --homedir {tmp} -o - {big}",
    "sha256sum": "sha256sum {big}",
    "sort": "sort {numbers}",
    "grep": "grep -c '[0-9]*7[0-9]*3[0-9]*1$' {numbers}",
    "sed": "sed -e 's/\\([0-9]\\)3/\\1x/g' {numbers}",
    "mawk": "mawk '{{ n[$1 % 1000] += $1 }} END {{ for (i in n) print n[i] }}' {numbers}",
    "bc": "echo 'scale=3000; 4*a(1)' | bc -l",
    "diff": "diff {numbers} {shuffled}",
    "perl": "perl -ne '$n{{$_ % 997}} .= $_; END {{ print length for values %n }}' {numbers}",
    "python3": "/usr/bin/python3 -c 'import json, zlib; [zlib.compress(json.dumps(list(range(i))).encode()) "
               "for i in range(3000)]'",
    "tclsh": "echo 'for {{set i 0}} {{$i < 3000000}} {{incr i}} {{lappend l [expr {{$i * 3}}]}}' | tclsh",
    "node": "node -e 'let n = {{}}; for (let i = 0; i < 4e6; i++) n[\"k\" + i % 9999] = JSON.stringify([i])'",
    "php": "php -r 'for ($i = 0; $i < 9e6; $i++) $n[$i % 999] = md5($i);'",
    "ruby": "ruby -e '3000000.times.map {{ |i| i.to_s * 2 }}.sort'",
    "sqlite3": "sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n limit "
               "2000000) select i % 997, count(*), max(i || i) from n group by 1'",
    "jq": "jq 'map(.a * 2) | add' {json}",
    "xmllint": "xmllint --noout --xpath 'count(//a[@b > 3])' {xml}",
    "convert": "convert -size 1500x1500 plasma: -blur 0x8 {tmp}/x.png",
    "cc1 (gcc -O2)": "gcc -O2 -c -o /dev/null {c}",
    "cc1plus (g++ -O2)": "g++ -O2 -c -o /dev/null {cc}",
    "clang -O2": "clang -O2 -c -o /dev/null {c}",
    "ld": "ld -r -o /dev/null {library}",
    "objdump": "objdump -d {big}",
    "readelf": "readelf -wF {big}",
    "gdb": "gdb -batch -ex 'disassemble main' -ex 'info functions str' {big}",
    "git": "git -C {repository} log -p",
    "cmake": "cmake -P {cmake}",
    "z3": "z3 {smt}",
    "mandoc": "for i in 1 2 3 4 5 6 7 8 9; do mandoc -T html {man}; done",
    "man (groff)": "for i in 1 2 3; do groff -man -T utf8 {man}; done",
    "tar": "tar -cf - /usr/include /usr/share/doc",
    "bash": "bash -c 'for ((i = 0; i < 900000; i++)); do n=$((n * 7 + i)); done'",
    "dpkg-query": "for i in 1 2 3 4 5 6 7 8; do dpkg-query -W -f '${{Package}} ${{Depends}}\\n'; done",
    "apt-cache": "apt-cache dumpavail; apt-cache unmet",
    "psql": "psql --help",
}


def first_of(*paths):
    return next((path for path in paths if path and os.path.exists(path)), "/bin/bash")


def make_work(tmp, commands):
    """Files for the programs to work on, those that one of the commands names."""
    work = {"tmp": tmp, "big": first_of("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "/usr/bin/gdb",
                                        shutil.which("python3"))}
    text = {
        "numbers": lambda: "".join(f"{i * 2654435761 % 4294967296}\n" for i in range(1500000)),
        "shuffled": lambda: "".join(f"{i * 2654435761 % 4294967296}\n" for i in range(1500000) if i % 3),
        "json": lambda: "[" + ",".join(f'{{"a":{i},"b":"x{i}"}}' for i in range(400000)) + "]",
        "xml": lambda: "<r>" + "".join(f'<a b="{i % 9}">{i}</a>' for i in range(400000)) + "</r>",
        "cmake": lambda: "foreach(i RANGE 60000)\n string(REGEX REPLACE \"[0-9]\" \"x\" y \"a${i}b\")\n"
                 " list(APPEND l ${y})\nendforeach()\n",
        "smt": lambda: "".join(f"(declare-const p{i} Int)(assert (> (* p{i} p{i}) {i}))"
                       for i in range(60)) + "(assert (= (+ " + " ".join(f"p{i}" for i in range(60)) +
               ") 12345))(check-sat)",
        "man": lambda: ".TH X 1\n" + "".join(f".SH S{i}\n.TP\n.B w{i}\nSome words of text, \\fIitalic\\fP.\n"
                                    for i in range(6000)),
        "c": lambda: "".join(f"int f{i}(int x) {{ int s = 0; for (int k = 0; k < x; k++) s += k * {i} ^ s % "
                     f"(k + 3); return s; }}\n" for i in range(1500)),
        "cc": lambda: "#include <map>\n#include <regex>\n#include <string>\n" + "".join(
            f"std::map<std::string, int> m{i}; bool g{i}(const std::string &s) {{ m{i}[s]++; return "
            f"std::regex_match(s, std::regex(\"a{i}+\")); }}\n" for i in range(20)),
    }
    for name, make in text.items():
        if not any("{%s}" % name in command for command in commands):
            continue
        work[name] = os.path.join(tmp, name + {"c": ".c", "cc": ".cc"}.get(name, ""))
        with open(work[name], "w") as file:
            file.write(make())
    work["library"] = first_of("/usr/lib/x86_64-linux-gnu/libc.a")
    work["repository"] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return work


def count_frames(report):
    """{kind: frames} weighted by samples, and the samples."""
    with open(report) as file:
        report = json.load(file)
    frames, counts = report["frames"], dict.fromkeys(KINDS, 0)
    samples = 0
    for stack in report["stacks"]:
        if stack["comm"] in ("sh", "timeout"):
            continue
        samples += stack["count"]
        for number in stack.get("user", []):
            frame = frames[number]
            if frame.get("generated") or frame.get("unwind"):
                continue
            if not frame["name"]:
                kind = "unknown"
            elif frame.get("no_symbol"):
                kind = "start" if "+0x" in frame["name"] else "file"
            else:
                kind = "symbol"
            counts[kind] += stack["count"]
    return counts, samples


def measure(build, wanted=(), seconds=SECONDS, least=LEAST):
    """(program, samples, {kind: frames}) of each program that is installed."""
    with tempfile.TemporaryDirectory() as tmp:
        work = make_work(tmp, [PROGRAMS[program] for program in wanted or PROGRAMS])
        report = os.path.join(tmp, "report.json")
        environment = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}
        for program, command in PROGRAMS.items():
            tool = program.split()[-1].strip("()") if program.startswith("man") else command.split()[0]
            tool = {"for": program, "echo": program, "cc1": "gcc"}.get(tool, tool)
            if (wanted and program not in wanted) or not shutil.which(tool):
                continue
            command = command.format(**work)
            subprocess.run(
                [f"{build}/profile", "-q", "-U", "-F", "499", "-o", report, "--", "timeout",
                 str(seconds), "sh", "-c",
                 f"while :; do {{ {command}; }} >/dev/null 2>&1; done"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=environment, check=False)
            if os.path.exists(report):
                counts, samples = count_frames(report)
                os.unlink(report)
                if samples >= least:
                    yield program, samples, counts


def shares(counts):
    total = sum(counts.values()) or 1
    return [100 * counts[kind] / total for kind in KINDS]


def table(measured):
    """Lines of Markdown."""
    yield "| program | samples | symbol | `[FILE+0xSTART]` | `[FILE]` | `[unknown]` |"
    yield "|---|---:|---:|---:|---:|---:|"
    for program, samples, counts in measured:
        yield (f"| {program} | {samples:,} | " +
               " | ".join(f"{share:.1f} %" for share in shares(counts)) + " |")


def main():
    if len(sys.argv) < 2 or os.geteuid() != 0:
        sys.exit(__doc__)
    for line in table(measure(os.path.abspath(sys.argv[1]), sys.argv[2:])):
        print(line, flush=True)


if __name__ == "__main__":
    main()
