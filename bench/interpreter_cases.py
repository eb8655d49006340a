# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of functions of interpreted programs. To be mixed into cases.Cases, whose rounds it uses.

The same interpreter under a name without `python` is not looked at, so its stacks are walked natively
only: that is what the functions are compared with.
"""
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, replace

from measure import BpfStatistics, Failed
from otel import PROBING, SAMPLING, Otel, libc_of
from row import Row

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHALLOW, DEEP = 17, 97
MANY_CHAINS = 40
OTEL_TRIES = 8
LEAST_OTEL_NS = 20  # for a function that it walks
# Each calls getppid() below so many functions, each of which has code of its own. They have CHAINS
# chains of functions, of which each call takes the next.
PYTHON = r"""
import os, sys
source = "".join(f"def level_{i}(n):\n return level_{i + 1}(n - 1) if n else os.getppid()\n" for i in range(100))
chains = []
for i in range(CHAINS):
    functions = {"os": os}
    exec(compile(source, f"levels{i}.py", "exec"), functions)
    chains.append(functions["level_0"])
for line in sys.stdin:
    depth, times = map(int, line.split())
    for i in range(times): chains[i % CHAINS](depth)
    print(flush=True)
"""
PERL = r"""
$| = 1;
my @chains;
for my $chain (0 .. CHAINS - 1) {
    eval join "", "package Chain$chain;\n",
        map { "sub level_$_ { my \$n = shift; return \$n ? level_@{[$_ + 1]}(\$n - 1) : getppid() }\n" } 0 .. 99;
    push @chains, \&{"Chain${chain}::level_0"};
}
while (<STDIN>) {
    my ($depth, $times) = split;
    $chains[$_ % CHAINS]->($depth) for 1 .. $times;
    print "\n";
}
"""
PHP = r"""
for ($chain = 0, $source = ""; $chain < CHAINS; $chain++)
    for ($i = 0; $i < 100; $i++)
        $source .= "function chain_{$chain}_level_$i(\$n) " .
            "{ return \$n ? chain_{$chain}_level_" . ($i + 1) . "(\$n - 1) : posix_getppid(); }\n";
eval($source);
while ($line = fgets(STDIN)) {
    [$depth, $times] = explode(" ", $line);
    for ($i = 0; $i < (int)$times; $i++) ("chain_" . $i % CHAINS . "_level_0")((int)$depth);
    echo "\n";
}
"""
RUBY = r"""
$stdout.sync = true
chains = (0...CHAINS).map do |chain|
  eval "module Chain#{chain}\n" + (0..99).map { |i|
    "def self.level_#{i}(n) = n > 0 ? level_#{i + 1}(n - 1) : Process.ppid\n" }.join + "self\nend"
end
while line = $stdin.gets
  depth, times = line.split.map(&:to_i)
  times.times { |i| chains[i % CHAINS].level_0(depth) }
  puts
end
"""
JAVASCRIPT = r"""
let source = "";
for (let i = 0; i < 100; i++)
    source += `function level_${i}(n) { return n ? level_${i + 1}(n - 1) : process.ppid; }\n`;
const chains = [];
for (let i = 0; i < CHAINS; i++)
    chains.push(new Function(`/* ${i} */` + source + "return level_0;")());
require("readline").createInterface(process.stdin).on("line", line => {
    const [depth, times] = line.split(" ").map(Number);
    for (let i = 0; i < times; i++) chains[i % CHAINS](depth);
    console.log("");
});
"""
# Calls mkdir(), as nothing in Java calls getppid().
JAVA = "import java.io.File;\npublic class Levels {\n static boolean last() { return new File(\"/proc/none\").mkdir(); }\n" + \
       "".join(f" static boolean level_{i}(int n) {{ return n > 0 ? level_{i + 1}(n - 1) : last(); }}\n" for i in range(100)) + \
       """ static boolean level_100(int n) { return last(); }
 public static void main(String[] arguments) throws Exception {
  var reader = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
  for (String line; (line = reader.readLine()) != null;) {
   String[] words = line.split(" ");
   for (int i = 0; i < Integer.parseInt(words[1]); i++) level_0(Integer.parseInt(words[0]));
   System.out.println();
  }
 }
}
"""
# Calls getppid(), below functions of some 50 bytes, without frame pointers.
NATIVE = ("#include <stdio.h>\n#include <unistd.h>\nstatic volatile int sink;\n"
          "__attribute__((noinline)) int level_100(int n) { return getppid(); }\n" +
          "".join(f"__attribute__((noinline)) int level_{i}(int n) "
                  f"{{ int r = n ? level_{i + 1}(n - 1) : getppid(); sink += {i}; return r; }}\n"
                  for i in range(99, -1, -1)) +
          r"""
int main(void)
{
	int depth, times;

	while (scanf("%d %d", &depth, &times) == 2) {
		while (times--)
			level_0(depth);
		puts("");
		fflush(stdout);
	}
}
""")
# Works below 17 functions, three of which C code calls.
SAMPLED = r"""
import json, zlib
def work(tree): return zlib.compress(json.dumps(tree).encode())
source = "".join(f"def level_{i}(n):\n return " + ("max(map(level_%d, [n]))" if i % 5 == 4 else "level_%d(n)")
                 % (i + 1) + "\n" for i in range(15)) + "def level_15(n): return len(work(n))\n"
functions = {"work": work}
exec(compile(source, "levels.py", "exec"), functions)
tree = {f"key-{i}": list(range(i % 20)) for i in range(200)}
while True: functions["level_0"](tree)
"""


class InterpreterCases:
    def functions(self):
        """The time of one function, from runs at two depths."""
        rows = []
        for program in programs(self.sizes.other_releases):
            rows.append(self.function_row(program, 1))
            if program.source:
                rows.append(self.function_row(program, MANY_CHAINS))
        for program in [native_program(self.bench), *java_programs(self.bench)]:
            rows.append(self.function_row(program, 1))
        return rows + self.sample_with_functions()

    def function_row(self, program, chains):
        what = f"BPF run time per function of {program.name}, hot, between {SHALLOW} and {DEEP} calls deep"
        if chains > 1:
            row = Row(f"{what}, {chains * 100:,} functions in turn", "ns",
                      note="more functions than any cache of them has places")
        else:
            row = Row(what, "ns", program.target, program.ratio, program.note)
        with BpfStatistics():
            self.alternate(self.tools("otel"), lambda tool: row.add(
                tool, self.function_ns(tool, program.command(chains), program.function)))
        return row

    def function_ns(self, tool, command, function):
        """At a uprobe of a function of the C library, which is what the peer attaches to."""
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            call(program, SHALLOW, 1)  # it has started
            if tool == "otel":
                return self.otel_function_ns(program, function)
            return self.our_function_ns(program, function)
        finally:
            program.kill()
            program.wait()

    def our_function_ns(self, program, function):
        run = self.bench.start([self.stackcount, "-p", str(program.pid), f"{libc_of(program.pid)}:{function}"],
                               self.out)
        run.wait_for_words(self.out, "Hit Ctrl-C")
        cost = self.slope(program, lambda: run.bpf("on_uprobe"))
        run.interrupt()
        run.finish()
        with open(self.out) as out:
            if not re.search(rf"level_{DEEP}( \(|$)", out.read(), re.M):
                raise Failed("the functions are not in the stacks")
        return cost

    def otel_function_ns(self, program, function):
        with Otel(self.bench, self.otel, 19, [f"uprobe:{libc_of(program.pid)}:{function}"]) as otel:
            for _ in range(OTEL_TRIES):  # it learns of the program some seconds after its start
                time.sleep(2)
                cost = self.slope(program, lambda: otel.bpf(PROBING))
                if cost >= LEAST_OTEL_NS:
                    return cost
        raise Failed("it walks no functions of this program")

    def slope(self, program, read):
        calls = self.sizes.function_calls
        call(program, SHALLOW, calls)  # numbers of functions come with calls
        costs = []
        for depth in (SHALLOW, DEEP):
            call(program, depth, calls)
            before = read()
            call(program, depth, calls)
            after = read()
            runs = after[1] - before[1]  # those of other processes, which end at once, too
            if not calls <= runs < calls * self.sizes.strays:
                raise Failed(f"its program ran {runs} times")
            costs.append((after[0] - before[0]) / calls)
        return (costs[1] - costs[0]) / (DEEP - SHALLOW)

    def sample_with_functions(self):
        what = "BPF run time per sample at 499 Hz: python3 with 17 functions"
        with_functions = Row(what, "ns")
        native = Row(f"{what}, walked natively only", "ns")
        times = Row("the former in terms of the latter, median of the rounds", "times", 1.5)
        other_name = self.bench.path("snake")
        shutil.copy(os.path.realpath("/usr/bin/python3"), other_name)

        def sample(program):
            with self.bench.beside(["taskset", "-c", "0", program, "-c", SAMPLED], 1) as busy:
                run = self.bench.start([self.profile, "-q", "-f", "-F", "499", "-p",
                                        str(busy.processes[0].pid)], self.out)
                run.wait_for_bpf()
                time.sleep(0.5)
                cost = self.per_sample(lambda: run.bpf("on_clock"))
                run.stop()
            return cost

        def measure(_):
            with_functions.add("ours", sample("/usr/bin/python3"))
            native.add("ours", sample(other_name))
            times.add("ours", with_functions.values["ours"][-1] / native.values["ours"][-1])

        with BpfStatistics():
            self.alternate(["ours"], measure)
        return [with_functions, native, times, self.samples_beside_otel()]

    def per_sample(self, read):
        before = read()
        time.sleep(self.sizes.seconds)
        after = read()
        return (after[0] - before[0]) / max(1, after[1] - before[1])

    def samples_beside_otel(self):
        """On all CPUs, as the peer samples the whole machine."""
        row = Row("BPF run time per sample at 499 Hz: python3 with 17 functions on all CPUs", "ns",
                  ratio=(0.25, "otel"))

        def measure(tool):
            if tool == "otel":
                with Otel(self.bench, self.otel, 499) as otel:
                    time.sleep(self.sizes.settle_seconds)
                    row.add(tool, self.per_sample(lambda: otel.bpf(SAMPLING)))
                return
            run = self.bench.start([self.profile, "-q", "-f", "-F", "499"], self.out)
            run.wait_for_bpf()
            time.sleep(1)
            row.add(tool, self.per_sample(lambda: run.bpf("on_clock")))
            run.stop()

        with BpfStatistics(), self.bench.beside(["/usr/bin/python3", "-c", SAMPLED], os.cpu_count()):
            self.alternate(self.tools("otel"), measure)
        return row


def call(program, depth, times):
    program.stdin.write(f"{depth} {times}\n")
    program.stdin.flush()
    program.stdout.readline()


TOGETHER = "the program's functions were made one after another, so in CPython 3.11 they lie together and one " \
           "copy serves several; docs/interpreters.md has the cost of functions that lie apart"
UNOPTIMIZED = "without the compiler that inlines functions (--no-opt)"


@dataclass
class Program:
    name: str
    words: list
    source: str = ""    # the last word of its command, with CHAINS in it; Java has a file
    target: float = None  # ns
    ratio: tuple = None
    note: str = ""
    function: str = "getppid"

    def command(self, chains):
        return self.words + ([self.source.replace("CHAINS", str(chains))] if self.source else [])


# Of Debian releases: (release, packages, program).
IN_RELEASES = [
    ("trixie", ["python3.13"], Program("CPython 3.13", ["python3.13", "-c"], PYTHON, ratio=(0.25, "otel"))),
    ("bookworm", ["perl"], Program("Perl 5.36", ["perl", "-e"], PERL, ratio=(0.4, "otel"))),
    ("bookworm", ["php8.2-cli"],
     Program("PHP 8.2", ["php8.2", "-n", "-d", "extension=posix", "-r"], PHP, ratio=(0.6, "otel"))),
    ("bookworm", ["ruby3.1"], Program("Ruby 3.1", ["ruby3.1", "-e"], RUBY, target=350)),
    ("bookworm", ["nodejs"],
     Program("JavaScript in node 18", ["node", "--no-opt", "-e"], JAVASCRIPT, ratio=(0.8, "otel"),
             note=UNOPTIMIZED)),
]


def programs(other_releases):
    """This machine's python3, and the interpreters of Debian releases that can be had."""
    version = subprocess.run(["/usr/bin/python3", "-V"], capture_output=True, text=True, check=True).stdout
    yield Program("CPython " + re.search(r"\d\.\d+", version)[0], ["/usr/bin/python3", "-c"], PYTHON,
                  ratio=(0.25, "otel"), note=TOGETHER)
    for release, packages, program in IN_RELEASES if other_releases else []:
        root = subprocess.run([sys.executable, os.path.join(TOP, "tests", "root_of"), release] + packages,
                              capture_output=True, text=True, check=False)
        if root.returncode == 0:
            yield replace(program, words=["chroot", root.stdout.strip()] + program.words)
        else:
            print(f"    MISSING: {program.name}: {root.stderr.strip()}", flush=True)


def native_program(bench):
    source = bench.path("levels.c")
    with open(source, "w") as file:
        file.write(NATIVE)
    subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", "-o", source[:-2], source], check=True)
    return Program("C without frame pointers", [source[:-2]], ratio=(0.1, "otel"))


def java_programs(bench):
    """This machine's Java, if it has a compiler."""
    if not shutil.which("javac"):
        print("    MISSING: Java: no javac", flush=True)
        return
    source = bench.path("Levels.java")
    with open(source, "w") as file:
        file.write(JAVA)
    subprocess.run(["javac", source], check=True)
    for name, options, note in (("Java, interpreted", ["-Xint"], ""),
                                ("Java, compiled", ["-XX:TieredStopAtLevel=1"], "functions that are inlined, too")):
        yield Program(name, ["java", *options, "-Xmx128m", "-cp", os.path.dirname(source), "Levels"], target=150,
                      note=note, function="mkdir")
