#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --diff: changes since a recording, a folded file or a pprof file: diff_test.sh BUILD
# kind: comparisons
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
profile=$1/profile
recordings=$top/tests/golden/recordings
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"

report() { "$profile" -q --from "$recordings/$1.stacktally" "${@:2}" 2>"$tmp/err"; }

# ---- compared with itself in each format, nothing has changed
for recording in profile threads stackcount; do
	report $recording -f >"$tmp/plain.folded"
	# A comm that contains a semicolon cannot be read back from folded lines.
	report $recording -f | grep -v '^a;b' >"$tmp/$recording.folded"
	report $recording -adf | grep -v '^a;b' >"$tmp/$recording-ad.folded"
	report $recording --format pprof >"$tmp/$recording.pb.gz"
	gzip -dc <"$tmp/$recording.pb.gz" >"$tmp/$recording.pb"
	for base in "$recordings/$recording.stacktally" "$tmp/$recording.folded" \
		"$tmp/$recording-ad.folded" "$tmp/$recording.pb.gz" "$tmp/$recording.pb"; do
		report $recording -f --diff "$base" --diff-raw | grep -v '^a;b' >"$tmp/out"
		awk '$NF != $(NF - 1) { exit 1 }' "$tmp/out" && [ -s "$tmp/out" ]
		check $? "nothing changed since $(basename "$base")" "$(cat "$tmp/out" "$tmp/err")"
		sed 's/ [0-9]*$//' "$tmp/out" | sort >"$tmp/same"
		sort "$tmp/$recording.folded" | cmp - "$tmp/same"
		check $? "and no stack is missing, from $(basename "$base")" "see above"
	done
done

# Frames without a module are matched by their names. One line names the base.
for base in "$recordings/threads.stacktally" "$tmp/threads.folded" "$tmp/threads.pb.gz"; do
	report threads --format svg --diff "$base" >"$tmp/svg"
	grep -v "^compared with: $base, 65 samples" "$tmp/svg" >"$tmp/$(basename "$base").svg"
	[ "$(($(wc -l <"$tmp/svg") - 1))" = "$(wc -l <"$tmp/$(basename "$base").svg")" ] &&
		[ -s "$tmp/threads.stacktally.svg" ] && cmp "$tmp/threads.stacktally.svg" "$tmp/$(basename "$base").svg"
	check $? "the same flame graph compared with $(basename "$base")" "see above"
done

# ---- stacks with more, fewer, new and no samples; 121 samples in all
cat >"$tmp/base.folded" <<'END'
swapper/6;cpu_idle_poll 100
spin;__libc_start_call_main;main;pread64;do_syscall_64;__x64_sys_pread64;vfs_read 2
old;main;gone_[k] 140
END
report profile -f --diff "$tmp/base.folded" --diff-raw >"$tmp/raw"
for line in 'swapper/6;cpu_idle_poll 100 40' \
	'spin;__libc_start_call_main;main;pread64;do_syscall_64;__x64_sys_pread64;vfs_read 2 12' \
	'old;main;gone 140 0' 'nothing 0 2'; do
	grep -qxF "$line" "$tmp/raw"
	check $? "raw: $line" "$(cat "$tmp/raw")"
done
[ "$(tail -n 1 "$tmp/raw")" = 'old;main;gone 140 0' ]
check $? "the greatest change comes last" "$(tail -n 1 "$tmp/raw")"

# The base has 242 samples: each counts half.
report profile -f --diff "$tmp/base.folded" >"$tmp/scaled"
for line in 'swapper/6;cpu_idle_poll 50 40' 'old;main;gone 70 0'; do
	grep -qxF "$line" "$tmp/scaled"
	check $? "scaled: $line" "$(cat "$tmp/scaled")"
done
awk '{ base += $(NF - 1); now += $NF } END { exit base != 121 || now != 121 }' "$tmp/scaled"
check $? "scaled counts add up to as many samples" "$(cat "$tmp/scaled")"

report profile --diff "$tmp/base.folded" >"$tmp/text"
grep -qF '121 samples, 242 in the base, whose counts are scaled to as many' "$tmp/text" &&
	grep -qxF '        -70 (70 -> 0)' "$tmp/text" && grep -qxF '        -10 (50 -> 40)' "$tmp/text" &&
	grep -qxF '        +2 (0 -> 2)' "$tmp/text"
check $? "text says how much more and less" "$(cat "$tmp/text")"
tail -n 5 "$tmp/text" | head -n 4 | cmp - <(printf '    gone\n    main\n    -                old\n%s\n' \
	'        -70 (70 -> 0)')
check $? "text shows stacks that vanished" "$(tail -n 5 "$tmp/text")"

# ---- of recordings, rates are compared: 48 of 98 Hz in 10 s are 12 of 49 Hz in 5 s
base=$recordings/base.stacktally
changed() { # NAME LINE OPTION...
	report profile -f --diff "$base" "${@:3}" >"$tmp/out"
	grep -qxF "$2" "$tmp/out"
	check $? "$1: $2" "$(cat "$tmp/out" "$tmp/err")"
}
read='spin;__libc_start_call_main;main;pread64;do_syscall_64;__x64_sys_pread64;vfs_read'
push='spin;__libc_start_call_main;main;std::vector<int, std::allocator<int> >::push_back(int&&);operator new'
changed rates "$read 12 12"
changed rates "$push 12 23"
changed rates 'swapper/6;cpu_idle_poll 0 40'
changed shares "$read 62 12" --diff-share
changed counts "$read 48 12" --diff-raw
report profile --diff "$base" >"$tmp/text"
grep -qxF '121 samples in 5.0 s, 94 in 10.0 s in the base, whose counts are scaled to the same time and rate' "$tmp/text"
check $? "text says how the counts are scaled" "$(sed -n 3p "$tmp/text")"
report profile --diff "$base" --format html >"$tmp/page.html" && report profile --diff "$base" --format svg >"$tmp/graph.svg" &&
	grep -qx '40 samples, 33.06 %; before: 0, 0.00 %; +40</title>.*' "$tmp/graph.svg"
check $? "a flame graph shows how many more" "$(grep before "$tmp/graph.svg")"

# ---- a base of another kind causes a warning
warned() { # NAME WORDS FILE OPTION...
	"$profile" --from "$recordings/profile.stacktally" -f --diff "$3" "${@:4}" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 0 ] && [ -s "$tmp/out" ] && grep -qF "$2" "$tmp/err"
	check $? "$1" "$(cat "$tmp/err")"
}
warned "another scope" "WARNING: compared with $base, which is of something else: the scope is PID 99 there, all threads here" "$base"
warned "another event" 'the event is cycles there, cpu-clock here' "$recordings/threads.stacktally"
warned "another filter" 'the filter is CPU 3 there, none here' "$recordings/threads.stacktally"
warned "idle CPUs" 'idle CPUs are left out there, counted here' "$recordings/threads.stacktally"
warned "other stacks" 'the stacks are user + kernel there, user here' "$base" -U
warned "text has no time" "$tmp/base.folded does not hold how long it took: shares are compared" "$tmp/base.folded"
"$profile" --from "$recordings/profile.stacktally" -f --diff "$recordings/profile.stacktally" >"$tmp/out" 2>"$tmp/err"
[ "$(grep -c 'compared' "$tmp/err")" -eq 0 ]
check $? "a base of the same kind causes none" "$(cat "$tmp/err")"
# Filters apply to the base, too.
report profile -f --diff "$base" --name 'swap*' >"$tmp/out"
[ "$(cat "$tmp/out")" = 'swapper/6;cpu_idle_poll 0 40' ] && ! grep -q filter "$tmp/err"
check $? "--name selects from the base, too" "$(cat "$tmp/out" "$tmp/err")"

# ---- refusals
refused() { # NAME WORDS OPTION ...
	report profile "${@:3}" >"$tmp/out" && echo "status 0" >>"$tmp/out"
	[ ! -s "$tmp/out" ] && grep -qF "$2" "$tmp/err"
	check $? "$1 is refused" "$(cat "$tmp/err")"
}
printf 'a;b 5\nno count\n' >"$tmp/bad.folded"
head -c 200 "$tmp/profile.pb.gz" >"$tmp/cut.pb.gz"
head -c 200 "$tmp/profile.pb" >"$tmp/cut.pb"
refused "a line without a count" 'line 2' -f --diff "$tmp/bad.folded"
refused "gzip that was cut" 'not whole gzip' -f --diff "$tmp/cut.pb.gz"
refused "pprof that was cut" 'pprof' -f --diff "$tmp/cut.pb"
refused "a program" 'is not a stacktally recording' -f --diff /bin/ls
refused "no file" 'No such file' -f --diff "$tmp/nothing"
refused "a device" 'not a regular file' -f --diff /dev/null
refused "counts of events" 'it counts events (vfs_read), and this measurement samples CPUs (cpu-clock)' \
	-f --diff "$recordings/stackcount.stacktally"
refused "both scales" 'not allowed with argument' -f --diff "$base" --diff-raw --diff-share
refused "--diff-share alone" 'needs --diff' -f --diff-share
refused "--diff-raw alone" 'needs --diff' -f --diff-raw
refused "a format without differences" "cannot show differences" --format speedscope --diff "$tmp/base.folded"

# ---- pprof: the base has values below 0 and a label, as pprof -diff_base makes it
command -v python3 >"$tmp/found" || {
	skip "pprof of a difference" "no python3"
	exit $failed
}
printf 'x;main;same 10\nx;main;grew 30\nx;main;new 5\n' >"$tmp/now.folded"
printf 'x;main;same 10\nx;main;grew 20\ny;main;gone 7\n' >"$tmp/then.folded"
"$profile" -q --from "$tmp/now.folded" --diff "$tmp/then.folded" --diff-raw --format pprof 2>"$tmp/err" |
	gzip -dc >"$tmp/diff.pb"
cat >"$tmp/read.py" <<'END'
# Prints the samples of a pprof file: functions from the root, value, labels.
import sys
def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return n, at
def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value
def packed(data):
    at, numbers = 0, []
    while at < len(data):
        n, at = varint(data, at)
        numbers.append(n - (1 << 64) if n >> 63 else n)
    return numbers
strings, functions, locations, samples = [], {}, {}, []
for number, value in fields(open(sys.argv[1], "rb").read()):
    if number == 6:
        strings.append(value.decode())
    elif number == 5:
        row = dict(fields(value))
        functions[row[1]] = row[2]
    elif number == 4:
        row = dict(fields(value))
        locations[row[1]] = dict(fields(row[4]))[1]
    elif number == 2:
        samples.append(list(fields(value)))
for sample in samples:
    stack = packed(dict(sample)[1])[::-1]
    names = [strings[functions[locations[id]]] for id in stack]
    labels = [dict(fields(value)) for number, value in sample if number == 3]
    text = {strings[l[1]]: strings[l[2]] for l in labels if 2 in l}
    print(";".join([text["comm"]] + names), packed(dict(sample)[2])[0], text.get("pprof::base", ""))
END
python3 "$tmp/read.py" "$tmp/diff.pb" | sort | sed 's/ $//' >"$tmp/read"
sort >"$tmp/wanted" <<'END'
x;main;grew 30
x;main;new 5
x;main;same 10
x;main;grew -20 true
x;main;same -10 true
y;main;gone -7 true
END
diff "$tmp/wanted" "$tmp/read"
check $? "pprof has both sides of a difference" "$(cat "$tmp/err")"
"$profile" -q --from "$tmp/now.folded" --diff "$tmp/then.folded" --diff-share --format pprof 2>"$tmp/err" |
	gzip -dc >"$tmp/diff.pb"
python3 "$tmp/read.py" "$tmp/diff.pb" | awk '{ s += $2 } END { exit s < -1 || s > 1 }'
check $? "its base is scaled" "$(python3 "$tmp/read.py" "$tmp/diff.pb")"
exit $failed
