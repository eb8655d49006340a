#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of code that is generated at run time: names_jit_test.sh BUILD
# timeout: 240
# kind: generated code
. "$(dirname "$0")/../harness.bash" "$1"
cd "$tmp" || exit 1
maps=()
remove_maps() { rm -f "${maps[@]}"; }
at_exit=remove_maps

# ---- real runtimes
export SLOW=$slow
cat >loop.js <<'S'
function fibonacciOfJs(n) { return n < 2 ? n : fibonacciOfJs(n - 1) + fibonacciOfJs(n - 2) }
const end = process.cpuUsage().user + 1500000 * process.env.SLOW
let sum = 0
while (process.cpuUsage().user < end) sum += fibonacciOfJs(20)
console.log('node', process.pid, sum > 0)
S
cat >loop.py <<'S'
import os, time
def fibonacci_of_python(n):
    return n if n < 2 else fibonacci_of_python(n - 1) + fibonacci_of_python(n - 2)
end = time.process_time() + 1.5 * int(os.environ["SLOW"])
while time.process_time() < end:
    fibonacci_of_python(16)
print("python", os.getpid())
S
# runtime NAME FUNCTION [OPTION...] -- COMMAND...: most samples of the command have the function in their
# stack
runtime() {
	measure_command -F 499 "${@:3}"
	maps+=("/tmp/perf-$(awk '{ print $2 }' <<<"$said").map" "/tmp/jit-$(awk '{ print $2 }' <<<"$said").dump")
	calculates "$(counted "$2") > 0.5 * $(total) / $slow && $(total) > 100" # its start takes a share
	check $? "$1" "$(counted "$2") of $(total): $(hottest | cut -c 1-300) $(tail -n 2 "$err")"
	remove_maps
}
if command -v node >"$fate"; then
	# By frame pointers, V8's own structures are not read.
	runtime "node --perf-basic-prof: functions have their names" 'fibonacciOfJs' \
		--unwind=fp -- node --perf-basic-prof loop.js
	if node --perf-prof -e 0 2>"$fate" && compgen -G 'jit-*.dump' >"$fate"; then
		rm -f jit-*.dump
		runtime "node --perf-prof, which writes a jitdump: the same" 'fibonacciOfJs' \
			--unwind=fp -- node --perf-prof loop.js
		measure -F 499 -A --unwind=fp -- node --perf-prof loop.js
		says "frames show the file" 'fibonacciOfJs.* \[jit-[0-9]+\.dump\]$' "$out"
	else
		skip "node --perf-prof" "this node cannot write a jitdump"
	fi
	runtime "node without either: the same, by V8's structures" 'fibonacciOfJs \(loop\.js\)' \
		-- node loop.js
else
	skip "node's functions have their names" "there is no node"
fi
# interpreter NAME COMMAND...: a function is named, and no generated code is without a name. Python
# is mostly built without frame pointers, so few stacks reach the trampoline of a function.
interpreter() {
	measure_command -F 1999 -- "${@:2}"
	maps+=("/tmp/perf-$(awk '{ print $2 }' <<<"$said").map" "/tmp/jit-$(awk '{ print $2 }' <<<"$said").dump")
	[ "$(counted 'py::fibonacci_of_python:.*/loop.py')" -gt 0 ] && [ "$(counted ';\[jit\]')" -eq 0 ]
	check $? "$1" "$(counted 'py::fibonacci_of_python') named, $(counted ';\[jit\]') not: $(hottest)"
	remove_maps
}
python='' python_jit=''
for each in python3.{14,13,12} python3 "${PYENV_ROOT-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3; do
	"$each" -c 'import sys; sys.exit(not hasattr(sys, "activate_stack_trampoline"))' 2>"$fate" &&
		python=$each
	"$each" -c 'import sys; sys.exit(sys.version_info < (3, 13))' 2>"$fate" && python_jit=$each
done
if [ -n "$python" ]; then
	interpreter "python -X perf: functions have their names" "$python" -X perf loop.py
else
	skip "python -X perf: functions have their names" "no Python of 3.12 or later that has -X perf"
fi
if [ -n "$python_jit" ]; then
	interpreter "python -X perf_jit, which writes a jitdump: the same" "$python_jit" -X perf_jit loop.py
else
	skip "python -X perf_jit, which writes a jitdump: the same" "no Python of 3.13 or later"
fi
# Java writes a perf map when it is told to, or when it ends. A machine may have Java without javac.
cat >Loop.java <<'S'
public class Loop {
	static int fibonacciOfJava(int n) {
		return n < 2 ? n : fibonacciOfJava(n - 1) + fibonacciOfJava(n - 2);
	}

	public static void main(String[] arguments) {
		long pid = ProcessHandle.current().pid();
		System.out.println((arguments[0].equals("0") ? "java " : "ready ") + pid);
		for (long end = System.nanoTime() + 4000000000L * Integer.parseInt(System.getenv("SLOW")), sum = 0;
		     System.nanoTime() < end || !arguments[0].equals("0");)
			sum += fibonacciOfJava(20);
	}
}
S
if ! command -v javac >"$fate" || ! javac Loop.java 2>"$fate"; then
	skip "java: methods have their names" "there is no javac"
elif ! java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -version 2>"$fate"; then
	skip "java: methods have their names" "this Java writes no perf maps (17 and later do)"
else
	runtime "java -XX:+DumpPerfMapAtExit: methods have their names" 'Loop.fibonacciOfJava' \
		-- java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Loop 0
	begin java Loop 1 || finish
	maps+=("/tmp/perf-$pid.map")
	measure -F 499 -f -U -p "$pid" $slow
	has "java without one: the same, by the JVM's structures" 'Loop.fibonacciOfJava'
	sample -F 499 -U -p "$pid"
	jcmd "$pid" Compiler.perfmap >"$fate" 2>&1
	check $? "(jcmd PID Compiler.perfmap writes it while we sample)" "$(tail -n 1 "$fate")"
	works "$pid" 100
	sampled
	has "then methods have their names" 'Loop.fibonacciOfJava'
	calculates "$(counted ';\[jit\]$') < 0.1 * $(total)" # code that was compiled since
	check $? "and hardly any code is [jit]" "$(counted ';\[jit\]$') of $(total)"
	end
fi

# ---- which perf maps are used
map() { echo "/tmp/perf-$pid.map"; }
place() { sed -n 's/^code //p' <<<"$said"; }
# one NAME REGEX: the generated function has a name that matches
one() {
	measure -F 499 -f -U -p "$child" $slow
	calculates "$(counted ";main;$2\$") > 0.9 * $(total) && $(total) > 20"
	check $? "$1" "$(hottest) $(tail -n 2 "$err")"
}
begin "$programs/names_jit" || finish
maps+=("$(map)")
one "generated code without names is [jit]" '\[jit\]'
echo "$(place) first" >"$(map)"
one "a perf map that was written since is read" 'first'
echo "$(place) second" >>"$(map)"
one "its last entry is used" 'second'
chown nobody "$(map)"
one "a perf map that belongs neither to the process's user nor to root is not used" '\[jit\]'
rm "$(map)"
echo "$(place) linked" >real.map
ln -s "$PWD/real.map" "$(map)"
one "a perf map that is a link is not followed" '\[jit\]'
rm "$(map)"
mkfifo "$(map)"
one "a FIFO in its place does not delay the report" '\[jit\]'
rm "$(map)"
if mknod "$(map)" c 1 8 2>"$fate"; then # /dev/random: bytes without end
	one "a device in its place is not read" '\[jit\]'
	rm "$(map)"
fi
mkdir "$(map)"
one "nor a directory" '\[jit\]'
rmdir "$(map)"
# millions LINE: makes a perf map with that line two million times, and a line that is too long
millions() {
	yes "$1" | head -n 2000000 >"$(map)"
	printf 'x%.0s' {1..5000} >>"$(map)"
}
start=$SECONDS
millions '0 ffffffffffffffff everything'
one "two million lines that claim everything name nothing: no function is longer than 4 GB" '\[jit\]'
millions "$(place) again"
one "two million lines for the same code name it" 'again'
[ $((SECONDS - start)) -lt $((20 * slow)) ]
check $? "both are read within 20 s" "$((SECONDS - start)) s"
rm "$(map)"
end

if command -v setpriv >"$fate"; then
	chmod 755 "$tmp"
	cp "$programs/names_jit" "$tmp/other"
	begin setpriv --reuid=nobody --clear-groups "$tmp/other" || finish
	maps+=("$(map)")
	echo "$(place) theirs" >"$(map)"
	chown nobody "$(map)"
	one "a perf map that belongs to the process's own user is used" 'theirs'
	chown daemon "$(map)"
	one "one that belongs to another user is not" '\[jit\]'
	end
else
	skip "perf maps of another user's process" "there is no setpriv"
fi

# ---- a process in a pid namespace and with a /tmp of its own
if unshare -pfm --mount-proc true 2>"$err"; then
	cp "$programs/names_jit" /tmp/names_jit.$$
	maps+=("/tmp/names_jit.$$")
	begin unshare -pfm --mount-proc sh -c 'exec 3<"$1" && mount -t tmpfs none /tmp &&
		exec /proc/self/fd/3' sh "/tmp/names_jit.$$" || finish
	inside=$(ps -o pid= --ppid "$child" | tr -d ' ')
	echo "$(place) ofContainer" >"/proc/$inside/root/tmp/perf-$pid.map"
	echo "$(place) ofHost" >"/tmp/perf-$inside.map"
	maps+=("/tmp/perf-$inside.map")
	child=$inside
	[ "$pid" = 1 ]
	check $? "(a process is number 1 in its namespace)" "$pid"
	one "its perf map is the one in its own /tmp, with its number there" 'ofContainer'
	rm "/tmp/perf-$inside.map"
	end
else
	skip "a process in its own namespaces" "unshare: $(cat "$err")"
fi
finish
