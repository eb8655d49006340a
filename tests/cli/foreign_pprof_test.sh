#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pprof files of other programs, and damaged ones: foreign_pprof_test.sh BUILD
# kind: foreign files
set -u
profile=$1/profile
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
command -v python3 >/dev/null || {
	skip "pprof files" "no python3"
	exit 0
}
cd "$tmp" || exit 1

cat >proto.py <<'END_PY'
# Writes profile.proto field by field. A message is a list of (number, value); a value is a number, bytes or a list.
def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])
def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value if isinstance(value, bytes) else message(value)
    return varint(number << 3 | 2) + varint(len(data)) + data
def message(fields):
    return b"".join(field(n, v) for n, v in fields)
def packed(*numbers):
    return b"".join(varint(n) for n in numbers)
STRINGS = [b"", b"cpu", b"nanoseconds", b"samples", b"count", b"f", b"g", b"/opt/lib/x.so.1", b"alloc_space", b"bytes", b"delay"]
def write(name, fields, strings=STRINGS):
    open(name, "wb").write(message(fields + [(6, s) for s in strings]))
def type_(t, u): return (1, [(1, STRINGS.index(t)), (2, STRINGS.index(u))])
FUNCTIONS = [(5, [(1, 1), (2, 5)]), (5, [(1, 2), (2, 6)])]
LOCATIONS = [(4, [(1, 1), (4, [(1, 1)])]), (4, [(1, 2), (4, [(1, 2)])])]
TABLES = FUNCTIONS + LOCATIONS
def sample(locations, *values): return (2, [(1, packed(*locations)), (2, packed(*values))])
END_PY

# ---- which value, and its unit
python3 - <<'END_PY'
from proto import *
A, B, D = type_(b"alloc_space", b"bytes"), type_(b"samples", b"count"), type_(b"delay", b"nanoseconds")
both = [sample([1], 1000, 2), sample([2, 1], 900000, 1)]
write("default.pb", [A, B] + both + TABLES + [(14, 8)])
write("last.pb", [B, A] + [sample([1], 2, 1000), sample([2], 1, 5)] + TABLES)
write("unknown.pb", [B, A] + [sample([1], 2, 1000), sample([2], 1, 5)] + TABLES + [(14, 10)])
write("delay.pb", [B, D, sample([1], 1, 7000000)] + TABLES)
C, P = type_(b"cpu", b"nanoseconds"), (11, [(1, 1), (2, 2)])
write("cpu.pb", [B, C, sample([1], 3, 30000000), sample([2], 1, 10000000)] + TABLES + [P, (12, 10000000), (10, 10**9)])
write("uneven.pb", [B, C, sample([1], 3, 30000000), sample([2], 1, 10000001)] + TABLES + [P, (12, 10000000)])
write("system.pb", [B, sample([1], 5), (5, [(1, 1), (3, 5)])] + FUNCTIONS[1:] + LOCATIONS)
write("negative.pb", [A, sample([1], -5)] + TABLES)
write("large.pb", [A, sample([1], 2**63 - 1), sample([2], 1)] + TABLES)
STRINGS += [b"a\x1b[1m\"<b", b"\xff"]
write("odd.pb", [(1, [(1, 11), (2, 12)]), sample([1], 5)] + TABLES, STRINGS)
END_PY
# value NAME FILE LINES CLOSING
value() {
	"$profile" --from "$2" -f >out 2>err
	[ "$(sort out)" = "$3" ] && [ "$(tail -n 1 err)" = "$4" ]
	check $? "$1" "$(cat out err)"
}
value "the value that default_sample_type names" default.pb $';f 1000\n;f;g 900000' \
	'901000 bytes of alloc_space, 2 stacks, 0 lost'
value "the last value, if none is named" last.pb $';f 1000\n;g 5' '1005 bytes of alloc_space, 2 stacks, 0 lost'
value "... or none that is there" unknown.pb $';f 1000\n;g 5' '1005 bytes of alloc_space, 2 stacks, 0 lost'
value "nanoseconds are a time" delay.pb ';f 7000000' '7.000 ms of delay, 1 stack, 0 lost'
value "CPU time that is samples of a period" cpu.pb $';f 3\n;g 1' '4 samples, 2 stacks, 0 lost'
value "CPU time that is not" uneven.pb $';f 30000000\n;g 10000001' '40.00 ms of cpu, 2 stacks, 0 lost'
value "names of units that are no words" odd.pb ';f 5' '5 counts, 1 stack, 0 lost'
"$profile" -q --from cpu.pb --format json | grep -q '"frequency":100,"period":0,"sample_ns":10000000,'
check $? "the period is the rate" "it is not"
for file in default last delay cpu uneven odd; do
	"$profile" -q --from $file.pb -f >want
	for format in pprof recording; do
		"$profile" -q --from $file.pb --format $format >again && "$profile" -q --from again -f >out && cmp -s want out
		check $? "$file.pb written as $format gives itself" "$(cat out)"
	done
done
"$profile" -q --from default.pb --format pprof | gzip -dc >again
grep -aq alloc_space again && grep -aq bytes again && ! grep -aq samples again
check $? "type and unit are written again" "$(strings again)"
"$profile" -q --from delay.pb --format speedscope | grep -q '"unit":"nanoseconds"' &&
	"$profile" -q --from default.pb --format speedscope | grep -q '"unit":"bytes"'
check $? "speedscope has the units" "it has not"
"$profile" -q --from default.pb --format json | grep -q '"measure":"alloc_space","unit":"bytes"'
check $? "JSON has the unit" "it has not"
"$profile" -q --from default.pb --format svg | grep -q '901,000 bytes'
check $? "a flame graph has the unit" "it has not"

"$profile" -q --from system.pb -f >out 2>err && [ "$(cat out)" = ";f 5" ]
check $? "a function that has its system's name only" "$(cat out err)"

# ---- a location without lines keeps its file and its address
python3 - <<'END_PY'
from proto import *
MAP = [(3, [(1, 1), (2, 0x7000), (3, 0x9000), (4, 0x1000), (5, 7)])]
write("bare.pb", [type_(b"samples", b"count"), sample([1, 2, 3], 5)] + MAP +
      [(4, [(1, 1), (2, 1), (3, 0x7123)]), (4, [(1, 2), (2, 1), (3, 0x7456)]), (4, [(1, 3), (3, 0xabcd)])])
END_PY
value "code without names" bare.pb ';[0xabcd];[x.so.1+0x1456];[x.so.1+0x1123] 5' '5 samples, 1 stack, 0 lost'
"$profile" -q --from bare.pb --format json -A >out
grep -q '"path":"/opt/lib/x.so.1"' out && grep -q '"address":"0x7123"' out && grep -q '"module":"x.so.1"' out
check $? "its file and address are kept" "$(cat out)"

# ---- frames that the file wants left out; the stacks are those of go tool pprof -traces
python3 - <<'END_PY'
from proto import *
STRINGS += [b"main", b"run", b"std::alloc(int)", b"(anonymous namespace)::leaf", b"mem", b"std::.*|mem", b"std::keep", b"std::k(?:eep)?",b"new\\d+", b"(?i)x", b"new12", b"inl"]
N = {s: i for i, s in enumerate(STRINGS)}
F = [(5, [(1, i + 1), (2, N[s])]) for i, s in enumerate([b"main", b"run", b"std::alloc(int)", b"(anonymous namespace)::leaf", b"mem", b"std::keep", b"new12", b"inl"])]
# locations 1..8 of one function each; 9: mem inlined into run; 10: run inlined into mem
L = [(4, [(1, i), (4, [(1, i)])]) for i in range(1, 9)] + [(4, [(1, 9), (4, [(1, 8)]), (4, [(1, 5)]), (4, [(1, 2)])]), (4, [(1, 10), (4, [(1, 2)]), (4, [(1, 5)])])]
S = [sample(l, n + 1) for n, l in enumerate([[4, 3, 2, 1], [5, 3, 1], [4, 5], [5], [4, 6, 1], [8, 3, 4, 5, 2, 1], [4, 9, 1], [4, 10, 1], [7, 1], [1, 3, 1, 3]])]
T = type_(b"samples", b"count")
write("drop.pb", [T, (7, N[b"std::.*|mem"])] + S + F + L, STRINGS)
write("keep.pb", [T, (7, N[b"std::.*|mem"]), (8, N[b"std::k(?:eep)?"])] + S + F + L, STRINGS)
write("digits.pb", [T, (7, N[b"new\\d+"])] + S + F + L, STRINGS)
write("odd.pb", [T, (7, N[b"(?i)x"])] + S + F + L, STRINGS)
END_PY
value "drop_frames: what matches is left out with what it calls, but for a whole stack" drop.pb \
	$';main 15\n;main;new12 9\n;main;run 14\n;mem 4\n;mem;(anonymous namespace)::leaf 3\n;std::alloc(int);main 10' \
	'55 samples, 6 stacks, 0 lost'
value "keep_frames: but not what matches this" keep.pb \
	$';main 10\n;main;new12 9\n;main;run 14\n;main;std::keep;(anonymous namespace)::leaf 5\n;mem 4\n;mem;(anonymous namespace)::leaf 3\n;std::alloc(int);main 10' \
	'55 samples, 7 stacks, 0 lost'
"$profile" -q --from digits.pb -f >out 2>err
grep -qx ';main 9' out && grep -qx ';main;std::keep;(anonymous namespace)::leaf 5' out
check $? "drop_frames: digits as Go writes them" "$(cat out err)"
"$profile" --from odd.pb -f >out 2>err
[ $? -eq 1 ] && grep -q 'by an expression that is not understood: its drop_frames is (?i)x$' err
check $? "drop_frames: what is not understood is refused" "$(cat out err)"

# ---- what Go's reader refuses
python3 - <<'END_PY'
from proto import *
T, S = type_(b"samples", b"count"), sample([1], 5)
def write_all(**files):
    for name, fields in files.items():
        write(name + ".bad", fields)
write_all(function_twice=[T, S] + TABLES + FUNCTIONS[:1], location_twice=[T, S] + TABLES + LOCATIONS[:1],
    mapping_twice=[T, S] + TABLES + [(3, [(1, 7)])] * 2, no_location=[T, sample([3], 5)] + TABLES,
    location_0=[T, sample([0], 5)] + TABLES, no_function=[T, S, (4, [(1, 1), (4, [(1, 9)])])] + FUNCTIONS,
    line_of_none=[T, S, (4, [(1, 1), (4, [(2, 9)])])] + FUNCTIONS, id_0=[T, S] + TABLES + [(5, [(2, 5)])],
    two_values=[T, sample([1], 5, 6)] + TABLES, no_value=[T, sample([1])] + TABLES,
    no_string=[T, S] + TABLES + [(14, 99)], function_name=[T, S] + TABLES + [(5, [(1, 3), (2, 99)])],
    label=[T, (2, [(1, 1), (2, 5), (3, [(1, 99)])])] + TABLES, comment=[T, S] + TABLES + [(13, 99)],
    appended=[T, S, (9, 5)] + TABLES + [(9, 6)], wrong_type=[T, S] + TABLES + [(12, b"x")],
    no_types=[S] + TABLES, number_for_message=[T, (2, 5)] + TABLES)
write("first_string.bad", [T, S] + TABLES, [b"x"] + STRINGS[1:])
write("no_strings.bad", [T, S] + TABLES, [])
END_PY
n=0
for file in *.bad; do
	"$profile" --from "$file" >out 2>err
	[ $? -eq 1 ] && [ ! -s out ] && grep -qE 'pprof|damaged' err && ! grep -q 'is not a stacktally' err
	check $? "$file is refused with a reason" "$(cat out err)"
	n=$((n + 1))
done
"$profile" --from no_types.bad 2>&1 | grep -q 'without sample_type, nothing tells what its values are$'
check $? "a file without types of values says so" "$("$profile" --from no_types.bad 2>&1)"
[ $n -eq 20 ]
check $? "20 damaged files were made" "$n"
"$profile" --from large.pb 2>err
grep -q 'the sum of the counts is too large' err
check $? "a sum of 2^63 is refused" "$(cat err)"
"$profile" --from negative.pb 2>err
grep -q 'counts below 0' err
check $? "counts below 0 are refused" "$(cat err)"

# ---- our own file, cut or appended to
"$profile" -q --from "$top/tests/golden/recordings/threads.stacktally" --format pprof | gzip -dc >whole.pb
python3 - "$profile" <<'END_PY'
import subprocess, sys
data = open("whole.pb", "rb").read()
ends, at = [], 0
def varint(at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
while at < len(data):  # where the fields end, and a byte before
    tag, at = varint(at)
    size, at = varint(at)
    if tag & 7 == 2:
        at += size
    ends += [at - 1, at]
ends = [end for end in ends if 30 < end < len(data)]
bad = []
for end in ends[:: max(1, len(ends) // 60)] + ends[-4:]:
    open("cut", "wb").write(data[:end])
    status = subprocess.run([sys.argv[1], "--from", "cut", "-f"], capture_output=True).returncode
    if status != 1:
        bad.append((end, status))
print("FAIL" if bad or len(ends) < 50 else "ok", "cuts at the ends of fields are refused" + (": %s of %d" % (bad, len(ends)) if bad else ""))
sys.exit(bool(bad))
END_PY
check $? "our own file is refused wherever it is cut" "see above"
gzip -k whole.pb
cat whole.pb.gz whole.pb.gz >two.pb.gz
"$profile" --from two.pb.gz -f >out 2>err
[ $? -eq 1 ] && grep -q 'were two files appended?' err
check $? "two files, one behind the other, are refused" "$(cat out err)"
exit $failed
