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

from measure import BpfStatistics, Failed
from row import Row

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHALLOW, DEEP = 17, 97
# Each calls getppid() below so many functions, each of which has code of its own.
PYTHON = r"""
import os, sys
source = "".join(f"def level_{i}(n):\n return level_{i + 1}(n - 1) if n else os.getppid()\n" for i in range(100))
functions = {"os": os}
exec(compile(source, "levels.py", "exec"), functions)
first = functions["level_0"]
for line in sys.stdin:
    depth, times = map(int, line.split())
    for _ in range(times): first(depth)
    print(flush=True)
"""
PERL = r"""
$| = 1;
eval join "", map { "sub level_$_ { my \$n = shift; return \$n ? level_@{[$_ + 1]}(\$n - 1) : getppid() }\n" } 0 .. 99;
while (<STDIN>) {
    my ($depth, $times) = split;
    level_0($depth) for 1 .. $times;
    print "\n";
}
"""
PHP = r"""
for ($i = 0, $source = ""; $i < 100; $i++)
    $source .= "function level_$i(\$n) { return \$n ? level_" . ($i + 1) . "(\$n - 1) : posix_getppid(); }\n";
eval($source);
while ($line = fgets(STDIN)) {
    [$depth, $times] = explode(" ", $line);
    for ($i = 0; $i < (int)$times; $i++) level_0((int)$depth);
    echo "\n";
}
"""
RUBY = r"""
$stdout.sync = true
eval (0..99).map { |i| "def level_#{i}(n) = n > 0 ? level_#{i + 1}(n - 1) : Process.ppid\n" }.join
while line = $stdin.gets
  depth, times = line.split.map(&:to_i)
  times.times { level_0(depth) }
  puts
end
"""
JAVASCRIPT = r"""
let source = "";
for (let i = 0; i < 100; i++)
    source += `function level_${i}(n) { return n ? level_${i + 1}(n - 1) : process.ppid; }\n`;
const first = new Function(source + "return level_0;")();
require("readline").createInterface(process.stdin).on("line", line => {
    const [depth, times] = line.split(" ").map(Number);
    for (let i = 0; i < times; i++) first(depth);
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
        for name, command, note in programs(self.sizes.other_releases):
            rows.append(self.function_row(name, command, note, 80))
        for name, command, note in java_programs(self.bench):
            rows.append(self.function_row(name, command, note, 150, "mkdir"))
        return rows + self.sample_with_functions()

    def function_row(self, name, command, note, most, system_call="getppid"):
        row = Row(f"BPF run time per function of {name}, hot, between {SHALLOW} and {DEEP} calls deep", "ns", most,
                  note=note)
        with BpfStatistics():
            self.alternate(["ours"], lambda tool: row.add(tool, self.function_ns(command, system_call)))
        return row

    def function_ns(self, command, system_call):
        calls = self.sizes.function_calls
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        run = self.bench.start([self.stackcount, "-p", str(program.pid), f"t:syscalls:sys_enter_{system_call}"],
                               self.out)
        try:
            run.wait_for_words(self.out, "Hit Ctrl-C")
            call(program, SHALLOW, calls)  # numbers of functions come with calls
            costs = []
            for depth in (SHALLOW, DEEP):
                call(program, depth, calls)
                before = run.bpf()
                call(program, depth, calls)
                after = run.bpf()
                runs = after[1] - before[1]  # those of other processes, which end at once, too
                if not calls <= runs < calls * self.sizes.strays:
                    raise Failed(f"its program ran {runs} times")
                costs.append((after[0] - before[0]) / calls)
            run.interrupt()
            run.finish()
        finally:
            program.kill()
            program.wait()
        with open(self.out) as out:
            if not re.search(rf"level_{DEEP}( \(|$)", out.read(), re.M):
                raise Failed("the functions are not in the stacks")
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
                before = run.bpf()
                time.sleep(self.sizes.seconds)
                after = run.bpf()
                run.stop()
            return (after[0] - before[0]) / max(1, after[1] - before[1])

        def measure(_):
            with_functions.add("ours", sample("/usr/bin/python3"))
            native.add("ours", sample(other_name))
            times.add("ours", with_functions.values["ours"][-1] / native.values["ours"][-1])

        with BpfStatistics():
            self.alternate(["ours"], measure)
        return [with_functions, native, times]


def call(program, depth, times):
    program.stdin.write(f"{depth} {times}\n")
    program.stdin.flush()
    program.stdout.readline()


TOGETHER = "the program's functions were made one after another, so in CPython 3.11 they lie together and one " \
           "copy serves several; docs/interpreters.md has the cost of functions that lie apart"
UNOPTIMIZED = "without the compiler that inlines functions (--no-opt)"
# Of Debian releases: (name, release, packages, command, program, note).
IN_RELEASES = [
    ("CPython 3.13", "trixie", ["python3.13"], ["python3.13", "-c"], PYTHON, ""),
    ("Perl 5.36", "bookworm", ["perl"], ["perl", "-e"], PERL, ""),
    ("PHP 8.2", "bookworm", ["php8.2-cli"], ["php8.2", "-n", "-d", "extension=posix", "-r"], PHP, ""),
    ("Ruby 3.1", "bookworm", ["ruby3.1"], ["ruby3.1", "-e"], RUBY, ""),
    ("JavaScript in node 18", "bookworm", ["nodejs"], ["node", "--no-opt", "-e"], JAVASCRIPT, UNOPTIMIZED),
]


def programs(other_releases):
    """(name, command, note) of this machine's python3, and of interpreters of Debian releases that can be had."""
    version = subprocess.run(["/usr/bin/python3", "-V"], capture_output=True, text=True, check=True).stdout
    yield "CPython " + re.search(r"\d\.\d+", version)[0], ["/usr/bin/python3", "-c", PYTHON], TOGETHER
    for name, release, packages, command, program, note in IN_RELEASES if other_releases else []:
        root = subprocess.run([sys.executable, os.path.join(TOP, "tests", "root_of"), release] + packages,
                              capture_output=True, text=True, check=False)
        if root.returncode == 0:
            yield name, ["chroot", root.stdout.strip()] + command + [program], note
        else:
            print(f"    MISSING: {name}: {root.stderr.strip()}", flush=True)


def java_programs(bench):
    """(name, command, note) of this machine's Java, if it has a compiler."""
    if not shutil.which("javac"):
        print("    MISSING: Java: no javac", flush=True)
        return
    source = bench.path("Levels.java")
    with open(source, "w") as file:
        file.write(JAVA)
    subprocess.run(["javac", source], check=True)
    for name, options, note in (("Java, interpreted", ["-Xint"], ""),
                                ("Java, compiled", ["-XX:TieredStopAtLevel=1"], "functions that are inlined, too")):
        yield name, ["java", *options, "-Xmx128m", "-cp", os.path.dirname(source), "Levels"], note
