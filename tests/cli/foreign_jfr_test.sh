#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
# Recordings of the JDK's Flight Recorder, beside what its own reader (jfr print) says of them:
# foreign_jfr_test.sh BUILD
set -u
export LC_ALL=C.UTF-8
build=$(cd "$1" && pwd)
profile=$build/profile
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1

# ---- files as the unit tests make them
mkdir seeds
"$build/tests/unit/test_jfr" seeds
tail -c +2 seeds/compressed-3 >small.jfr
"$profile" --from small.jfr -qfa >out 2>err
[ "$(sort out)" = 'GC äö;[truncated];a.Main.main;[sleeping]_[k] 2
main;a.Main.main;a.Main.a.Main$$Lambda.run;a.Main.copy_[i] 2
main;a.Main.main;write;copy_[k] 2' ]
check $? "samples of a file of two chunks" "$(cat out err)"
for name in x.folded x.pb.gz x.stacktally x.json; do # told by content
	cp small.jfr $name
	"$profile" --from $name -qfa 2>err | cmp -s - out
	check $? "a JFR file that is called $name" "$(cat err)"
done
"$profile" --from - -qfa <small.jfr 2>err | cmp -s - out
check $? "a JFR file on standard input" "$(cat err)"
cat small.jfr | "$profile" --from - -qfa 2>err | cmp -s - out
check $? "a JFR file from a pipe" "$(cat err)"
gzip -c small.jfr >packed.jfr
"$profile" --from packed.jfr -qfa 2>err | cmp -s - out
check $? "a JFR file that is packed" "$(cat err)"
"$profile" --from small.jfr -f >out 2>err
grep -q '^small.jfr: counted are 4 jdk.ExecutionSample and 2 jdk.NativeMethodSample; --value shows 2 jdk.ObjectAllocationSample (alloc), 2 jdk.JavaMonitorEnter (lock); 6 events have no stack$' err
check $? "what is not shown is told" "$(cat err)"
"$profile" --from small.jfr --value lock >out 2>err
grep -q '^3.000 ms of lock of 2 events' err && grep -q '^    a.B\[\]$' out
check $? "--value lock is the time of waiting" "$(cat out err)"
"$profile" --from small.jfr --range 10-11 -qf >out 2>err
[ "$(awk '{ n += $NF } END { print n }' out)" = 2 ]
check $? "--range takes a part by the times of samples" "$(cat out err)"
"$profile" --from small.jfr --diff small.jfr --value cpu -f >out 2>err
[ -s out ] && [ "$(awk '$NF != $(NF - 1)' out | wc -l)" -eq 0 ]
check $? "--diff reads two JFR files" "$(cat out err)"
head -c 4000 small.jfr >cut.jfr
"$profile" --from cut.jfr -qf >out 2>err
[ -s out ] && grep -q '^WARNING: cut.jfr: the last [0-9]* bytes are lost, a chunk that is not complete: it is cut$' err
check $? "what is lost of a cut file is told" "$(cat err)"
head -c 2000 small.jfr >cut.jfr
"$profile" --from cut.jfr -qf >out 2>err
[ $? -eq 1 ] && [ ! -s out ] && grep -q 'the chunk at byte 0 of this JFR file is damaged: it is cut' err
check $? "a file without a whole chunk is refused" "$(cat err)"

# ---- a program that the JDK records
if ! type java jfr jcmd >/dev/null 2>&1; then
	skip "recordings of the JDK" "there is no JDK: apt-get install openjdk-17-jdk-headless"
	exit $failed
fi
cat >Busy.java <<'END'
import java.util.concurrent.locks.LockSupport;
public class Busy {
	static volatile long sink;
	static volatile Object kept;
	static long spin(long n) { long x = 1; for (long i = 0; i < n; i++) x = x * 31 + (x >>> 7); return x; }
	static long deep(int n) { return n == 0 ? spin(20000) : deep(n - 1); }
	static synchronized void locked() { sink += spin(200000); }
	public static void main(String[] args) throws Exception {
		long end = System.currentTimeMillis() + 4000;
		Runnable lambda = () -> { while (System.currentTimeMillis() < end) locked(); };
		Thread[] all = { new Thread(lambda, "döner"), new Thread(lambda, "a thread of a long name"), new Thread(() -> {
			while (System.currentTimeMillis() < end) LockSupport.parkNanos(20_000_000L); }, "日本") };
		for (Thread thread : all) thread.start();
		while (System.currentTimeMillis() < end) { sink += deep(100); kept = new byte[100000]; }
		for (Thread thread : all) thread.join();
	}
}
END
cat >busy.jfc <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
<event name="jdk.ExecutionSample"><setting name="enabled">true</setting><setting name="period">10 ms</setting></event>
<event name="jdk.ObjectAllocationInNewTLAB"><setting name="enabled">true</setting><setting name="stackTrace">true</setting></event>
<event name="jdk.ObjectAllocationOutsideTLAB"><setting name="enabled">true</setting><setting name="stackTrace">true</setting></event>
<event name="jdk.JavaMonitorEnter"><setting name="enabled">true</setting><setting name="stackTrace">true</setting><setting name="threshold">0 ms</setting></event>
<event name="jdk.ThreadPark"><setting name="enabled">true</setting><setting name="stackTrace">true</setting><setting name="threshold">0 ms</setting></event>
</configuration>
END
java -XX:StartFlightRecording=filename="$tmp/busy.jfr",settings="$tmp/busy.jfc" Busy.java >log 2>&1 &
java=$!
for ((i = 0; i < 100; i++)); do
	sleep 0.1
	jcmd $java JFR.dump filename="$tmp/dump.jfr" >>log 2>&1 && [ -s dump.jfr ] && [ "$(jfr print --events jdk.ExecutionSample dump.jfr | grep -c startTime)" -gt 5 ] && break
done
wait $java
[ -s busy.jfr ] && [ -s dump.jfr ]
check $? "the JDK records" "$(cat log)"

# As jfr print tells the events of these types: folded stacks, and the times of the events.
cat >truth.py <<'END'
import collections, json, re, subprocess, sys
def nanoseconds(text): return round(float(text[2:-1]) * 1e9) if text else 0
file, kind = sys.argv[1:3]
weight = {"alloc": lambda v: v.get("tlabSize", 0) or v["allocationSize"], "lock": lambda v: nanoseconds(v["duration"])}.get(kind, lambda v: 1)
types = {"cpu": "jdk.ExecutionSample", "alloc": "jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB",
	 "lock": "jdk.JavaMonitorEnter,jdk.ThreadPark"}[kind]
text = subprocess.run(["jfr", "print", "--json", "--stack-depth", "64", "--events", types, file], capture_output=True, text=True, check=True).stdout
def shown(name):
	name = re.sub(r"(\$\$Lambda)\$\d+", r"\1", name.replace("/", "."))
	return re.sub(r"[+.]0x[0-9a-f]+(\.\d+)?", "", name)
def class_name(name):
	bare = name.lstrip("[")
	plain = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short", "Z": "boolean"}
	if bare == name: return shown(name)
	return (plain.get(bare) or shown(bare[1:].rstrip(";"))) + "[]" * (len(name) - len(bare))
stacks = collections.Counter()
for event in json.loads(text)["recording"]["events"]:
	v = event["values"]
	thread = v.get("sampledThread") or v.get("eventThread") or {"javaName": "", "osName": ""}
	stack = v["stackTrace"] or {"frames": [], "truncated": False}
	frames = [shown(f["method"]["type"]["name"] + "." + f["method"]["name"]) for f in stack["frames"]]
	about = v.get("objectClass") or v.get("monitorClass") or v.get("parkedClass")
	if about: frames.insert(0, class_name(about["name"]))
	if stack["truncated"]: frames.append("[truncated]")
	comm = (thread["javaName"] or thread["osName"]).encode()[:15].decode("utf-8", "ignore")
	stacks[";".join([comm] + frames[::-1])] += weight(v)
for stack, n in stacks.items(): print(stack, round(n / 1000) if kind == "lock" else n)
END
# same NAME FILE VALUE TYPES: the events are those that jfr print tells
same() {
	python3 truth.py "$2" "$3" | sort >wanted
	"$profile" --from "$2" --value "$3" -qf 2>err | sort >out
	[ "$(wc -l <wanted)" -ge "$4" ] && cmp -s wanted out
	check $? "$1" "$(cat err; diff wanted out | grep -o ".\{90\}$" | head -n 6)"
}
same "samples are those of jfr print" busy.jfr cpu 2
same "samples of a dump are" dump.jfr cpu 2
same "allocations are" busy.jfr alloc 1
same "waits for locks are" busy.jfr lock 1
cat >times.py <<'END'
# Since the first of them, in seconds: the times of samples as jfr print tells them, and those of perf-script's text.
import datetime, json, re, subprocess, sys
text = subprocess.run(["jfr", "print", "--json", "--events", "jdk.ExecutionSample", "busy.jfr"], capture_output=True, text=True, check=True).stdout
wanted = [datetime.datetime.fromisoformat(e["values"]["startTime"]).timestamp() for e in json.loads(text)["recording"]["events"]]
own = [float(at) for at in re.findall(r"^[^#\s].* ([0-9]+\.[0-9]+): ", sys.stdin.read(), re.M)]
since = [[at - min(times) for at in sorted(times)] for times in (wanted, own)]
far = [pair for pair in zip(*since) if abs(pair[0] - pair[1]) > 0.003]
print(len(wanted), "and", len(own), "samples; apart:", far[:5])
sys.exit(bool(far) or len(wanted) != len(own) or len(own) < 20)
END
"$profile" --from busy.jfr --value cpu -q --format perf-script | python3 times.py >apart 2>&1
check $? "samples have their times, within 3 ms" "$(cat apart)"
exit $failed
