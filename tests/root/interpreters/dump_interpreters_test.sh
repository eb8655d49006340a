#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions and lines of sleeping threads of interpreted programs, against the programs' own accounts, in dumps and in
# time off the CPU: dump_interpreters_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")

# asleep: whether all threads of $pid sleep
asleep() { ! cut -d ' ' -f 3 "/proc/$pid/task"/*/stat 2>>"$fate" | grep -qv S; }
# program REGEX: of each thread of the dump in $out, the frames that match, innermost first, without directories
program() {
	awk -v of="$1" '/^[^ ]/ { name = "" } /^[^ ].* \([0-9\/]+\):/ { name = $1 }
		name && /^ / && $0 ~ of { sub(/^ */, ""); sub(/ \([^()]*\//, " ("); print name ": " $0 }' "$out"
}
# dumps TITLE THREAD FRAME...: the thread's functions of the program are these, innermost first
dumps() {
	program ' \([^()]*:[0-9]+\)$' | sed -n "s/^$2: //p" | grep -v '\.[ch][c]*:' >"$tmp/seen"
	printf '%s\n' "${@:3}" >"$tmp/true"
	cmp -s "$tmp/seen" "$tmp/true"
	check $? "$1" "$(paste -d '|' "$tmp/true" "$tmp/seen")"
}

# ---- Python: the tracebacks of all threads that it writes itself
cat >"$tmp/sleeper.py" <<'S'
import faulthandler, os, queue, signal, socket, sys, threading, time
faulthandler.register(signal.SIGUSR1, file=open(sys.argv[1], "w"), all_threads=True)

def consumer():
    def wait_for_job():
        return queue.Queue().get()
    wait_for_job()

class Server:
    def accept(self):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen()
        s.accept()

def deep(n):
    if n:
        return deep(n - 1)
    time.sleep(1000)

def generate():
    yield [deep(20) for _ in range(1)]

threading.Thread(target=consumer, daemon=True).start()
threading.Thread(target=Server().accept, daemon=True).start()
threading.Thread(target=lambda: next(generate()), daemon=True).start()
time.sleep(0.2)
print("ready", os.getpid(), flush=True)
time.sleep(1000)
S
# One list of lines for each thread, in any order: their names are not known to either.
threads_of() {
	python3 - "$1" <<'END'
import re, sys
threads = [[]]
for line in open(sys.argv[1]):
    frame = re.match(r'  File ".*?([^/"]*)", line (\d+) in (.*)', line) or \
            re.match(r' .*? \((?:.*/)?([^()/]*\.py):(\d+)\)$', line)
    if frame:
        threads[-1].append(f"{frame[1]}:{frame[2]}")
    elif not line.startswith("    ") and threads[-1]:
        threads.append([])
print("\n".join(sorted(" ".join(thread) for thread in threads if thread)))
END
}
for python in $(releases /usr/bin/python3 $(ls -d ~/.pyenv/versions/3.{6..15}*/bin/python3 2>>"$fate")); do
	begin "$python" "$tmp/sleeper.py" "$tmp/account"
	await 10 asleep
	measure --dump -p "$pid"
	kill -USR1 "$pid"
	await 10 grep -q '<module>' "$tmp/account"
	threads_of "$tmp/account" >"$tmp/true"
	threads_of "$out" >"$tmp/seen"
	[ "$(wc -l <"$tmp/true")" -eq 4 ] && cmp -s "$tmp/true" "$tmp/seen"
	check $? "$("$python" --version): the lines of its own tracebacks" "$(diff "$tmp/true" "$tmp/seen")"
	says "... with functions" '^ +(consumer\.<locals>\.)?wait_for_job \(.*/sleeper.py:6\)$' "$out"
	measure --off-cpu -f -p "$pid" 0.5
	has "... in time off the CPU, too" ';(consumer\.<locals>\.)?wait_for_job \(sleeper\.py\);([^;]*;)*(Queue\.)?get \(queue\.py\);.*\[blocked\]$'
	lacks "... with nothing unknown" '\[python: '
	end
done

# ---- Java: jstack
cat >"$tmp/Sleeper.java" <<'S'
import java.util.concurrent.*;
class Sleeper {
	static final Object lock = new Object();
	static void take() { synchronized (lock) { try { Thread.sleep(1000000); } catch (InterruptedException e) { } } }
	static void await_job() { try { new LinkedBlockingQueue<String>().take(); } catch (InterruptedException e) { } }
	public static void main(String[] a) throws Exception {
		new Thread(() -> take(), "holder").start();
		Thread.sleep(300);
		new Thread(Sleeper::await_job, "consumer").start();
		new Thread(() -> Sleeper.take(), "waits").start();
		Thread.sleep(300);
		System.out.println("ready " + ProcessHandle.current().pid());
		new java.net.ServerSocket(0).accept();
	}
}
S
# A method's names and lines as jstack has them, without what has no line.
if command -v javac jstack >>"$fate" && javac -d "$tmp/classes" "$tmp/Sleeper.java" 2>"$err"; then
	begin java -Xmx128m -cp "$tmp/classes" Sleeper
	sleep 1
	measure --dump -p "$pid"
	jstack "$pid" >"$tmp/account" 2>>"$fate"
	for thread in holder consumer waits; do
		awk -v of="\"$thread\"" '/^"/ { on = index($0, of) == 1 }
			on && /\tat .*:[0-9]+\)/ { sub(/^\tat /, ""); sub(/\([^(]*\//, "("); sub(/\(/, " ("); print }' \
			"$tmp/account" >"$tmp/true"
		program ' \([^()]*\.java:[0-9]+\)$' | sed -n "s/^$thread: //p" >"$tmp/seen"
		[ -s "$tmp/true" ] && cmp -s "$tmp/true" "$tmp/seen"
		check $? "Java: the methods and lines of $thread are those of jstack" "$(diff "$tmp/true" "$tmp/seen")"
	done
	end
else
	skip "threads of Java" "no javac or jstack"
fi

# ---- the others: small programs whose stacks are known
cat >"$tmp/s.pl" <<'S'
$| = 1;
sub nap { sleep 1000 }
sub run { my @x = map { nap() }
	1 }
print "ready $$\n";
run();
S
begin perl "$tmp/s.pl"
await 10 asleep
measure --dump -p "$pid"
dumps "Perl" perl "main::nap (s.pl:2)" "main::run (s.pl:3)" "{main} (s.pl:6)"
end

if command -v php >>"$fate"; then
	cat >"$tmp/s.php" <<'S'
<?php
class A {
	function nap() { sleep(1000); }
	function run() {
		array_map(function ($x) { $this->nap(); }, [1]);
	}
}
echo "ready ", getmypid(), "\n";
(new A)->run();
S
	begin php "$tmp/s.php"
	await 10 asleep
	measure --dump -p "$pid"
	dumps "PHP" php "A::nap (s.php:3)" "A::{closure} (s.php:5)" "A::run (s.php:5)" "{main} (s.php:9)"
	end
fi

if command -v ruby >>"$fate"; then
	cat >"$tmp/s.rb" <<'S'
def nap
  sleep 1000
end
def run() [1].each { |x|
    nap } end
t = Thread.new { run }
sleep 0.1 until t.stop?
puts "ready #{$$}"
$stdout.flush
t.join
S
	begin ruby "$tmp/s.rb"
	await 10 asleep
	measure --dump -p "$pid"
	dumps "Ruby: a thread" "s.rb:6" "Object#nap (s.rb:2)" "block in Object#run (s.rb:5)" "Object#run (s.rb:4)" "block in <main> (s.rb:6)"
	end
fi

if command -v node >>"$fate"; then
	cat >"$tmp/s.js" <<'S'
function nap() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }
function run() { [1].map(nap); }
setTimeout(run, 300);
console.log("ready " + process.pid);
S
	begin node "$tmp/s.js"
	sleep 1
	await 10 asleep
	measure --dump -p "$pid"
	# Without lines: V8's are not known.
	program '/s\.js\)$' | sed -n 's/^node: //p' >"$tmp/seen"
	[ "$(cat "$tmp/seen")" = $'nap (s.js)\nrun (s.js)' ]
	check $? "JavaScript" "$(cat "$tmp/seen" "$err")"
	grep -q ' (node:internal/' "$out" && ! grep -q '(node:.*) (node:' "$out"
	check $? "a file of node itself stands once" "$(grep -m 3 '(node:' "$out")"
	end
fi

# ---- memory that says anything: a walk that does not end, or leaves its own memory, would show here
if /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
	begin /usr/bin/python3 "$here/python_hostile.py" "$RANDOM" 20000
	wrong=0 seen=0 n=0 until=$((SECONDS + 40))
	while ((SECONDS < until)); do
		timeout -s KILL $((20 * slow)) "$profile" --dump -p "$pid" >"$out" 2>"$err" || wrong=$?
		n=$((n + 1))
		grep -q '^    PyEval_EvalCode$' "$out" && seen=$((seen + 1))
	done
	[ "$wrong" -eq 0 ] && [ "$n" -ge $((slow > 1 ? 2 : 5)) ] && [ "$seen" -ge $((n / 2)) ]
	check $? "forged frames end no dump, and leave native frames whole" "status $wrong, $seen stacks of $n: $(tail -n 3 "$err")"
	end
fi
finish
