#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For the report that viewers by time showed phases which a program never had: the times in the
# output of perf-script tell its phases: times_test.sh BUILD
# timeout: 120
# kind: time
. "$(dirname "$0")/../harness.bash" "$1"
cd "$tmp" || finish

# Five phases of two functions, each of a length of its own; one is the callee of the other.
cat >turns.c <<'END'
#include <stdlib.h>
#include <time.h>
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
volatile long spun;
#define BURN(name) __attribute__((noinline)) void name(long until) \
	{ while (now() < until) for (int i = 0; i < 100000; i++) spun++; }
BURN(parse)
BURN(link)
int main(void)
{
	long ends[] = { 300, 1000, 1400, 1600, 2500 };
	for (int i = 0; i < 5; i++)
		(i % 2 ? link : parse)(ends[i]);
}
END
gcc -O1 -fno-optimize-sibling-calls turns.c -o turns || finish
# phases FILE: the phases of parse and link in the order of the file's records
phases() {
	awk '/^turns .*:$/ { seen = 0 }
		!seen && /\t.* (parse|link)\+/ { seen = 1; print ($0 ~ / parse\+/) ? "parse" : "link" }' "$1" |
		uniq -c | awk '{ print $2, $1 }'
}
# ascending FILE: whether no record's time is before the last one's, in each report of the file
ascending() { awk '/^# =/ { last = 0 } /^[^#\t].*:$/ { at = $3 + 0; if (at < last) exit 1; last = at }' "$1"; }

for rate in 99 997; do
	measure -q -F $rate -o "turns.perf" -o turns.folded -- ./turns
	exits "times of samples, at $rate Hz" 0
	[ "$(phases turns.perf | cut -d' ' -f1 | paste -sd' ')" = "parse link parse link parse" ]
	check $? "the phases are the program's, at $rate Hz" "$(phases turns.perf)"
	ascending turns.perf
	check $? "times ascend, at $rate Hz" "$(grep ':$' turns.perf | head -n 20)"
	[ "$(grep -c '^[^	#].*:$' turns.perf)" -eq "$(total turns.folded)" ]
	check $? "there is a record for each sample, at $rate Hz" "$(total turns.folded)"
	grep -Eq '^# times : of samples, to within [0-9]+ ms$' turns.perf
	check $? "the head says how exact they are, at $rate Hz" "$(grep '^# times' turns.perf)"
done
# A recording tells phases, too, as finely as its buckets are.
measure -q -F 499 --time-buckets 0.1 -o turns.stacktally -o turns.folded -- ./turns
exits "a recording with times" 0
measure -q --from turns.stacktally -o again.perf
[ "$(phases again.perf | cut -d' ' -f1 | paste -sd' ')" = "parse link parse link parse" ]
check $? "the phases of a recording are the program's" "$(phases again.perf)"
ascending again.perf && [ "$(grep -c '^[^	#].*:$' again.perf)" -eq "$(total turns.folded)" ]
check $? "each sample of a recording has a time" "$(total turns.folded) $(grep '^# times' again.perf)"
# So they are where readers order samples by their time.
"$profile" -q --from turns.stacktally -o turns.speedscope.json -o turns.profile.json 2>"$err"
cat >phases.py <<'END'
import json

def phases(stacks):
    found = []
    for names in stacks:
        which = "parse" if "parse" in names else "link" if "link" in names else None
        if which and found[-1:] != [which]:
            found.append(which)
    return " ".join(found)

speedscope = json.load(open("turns.speedscope.json"))
names = [frame["name"] for frame in speedscope["shared"]["frames"]]
for profile in speedscope["profiles"]:
    if profile["name"].startswith("turns"):
        print("speedscope", phases([names[i] for i in stack] for stack in profile["samples"]))
for thread in json.load(open("turns.profile.json"))["threads"]:
    def names_of(stack):
        while stack is not None:
            frame = thread["stackTable"]["frame"][stack]
            yield thread["stringArray"][thread["funcTable"]["name"][thread["frameTable"]["func"][frame]]]
            stack = thread["stackTable"]["prefix"][stack]
    times = thread["samples"]["time"]
    if thread["name"].startswith("turns"):
        print("firefox", phases(set(names_of(stack)) for stack in thread["samples"]["stack"]), times == sorted(times))
END
python3 phases.py >"$out" 2>>"$err"
grep -qx 'speedscope parse link parse link parse' "$out"
check $? "the phases are the program's in speedscope's order of time" "$(cat "$out" "$err")"
grep -qx 'firefox parse link parse link parse True' "$out"
check $? "... and in the Firefox Profiler" "$(cat "$out" "$err")"
# What a range has of the functions: without its ends the first phase is one of parse, the last, too.
last=$(awk '/^turns .*:$/ { at = $3 } END { print at - 0.3 }' again.perf)
measure -q --from turns.stacktally --range "$last-" -f
grep -q 'parse' "$out" && ! grep -q 'link' "$out"
check $? "the last part is the last phase" "$last: $(cat "$out" "$err")"
measure -q --from turns.stacktally --range "0-$last" -f
grep -q 'parse' "$out" && grep -q 'link' "$out"
check $? "the first part has both" "$(cat "$out" "$err")"
# Two parts that meet have all.
both=0
for range in 0-1 1-; do
	measure -q --from turns.stacktally --range $range -o part.folded && both=$((both + $(total part.folded)))
done
[ "$both" -eq "$(total turns.folded)" ]
check $? "two parts that meet have each sample once" "$both of $(total turns.folded)"
measure -q -f --time-buckets 1 -- ./turns
[ "$(cat "$err" | wc -l)" -eq 1 ] && grep -q 'no output tells when' "$err"
check $? "buckets that no output has are refused" "$(cat "$out" "$err")"

# In intervals: a phase goes on in the next one.
measure -q -F 499 -i 1 -o 'each-%n.perf' -o each.folded -- ./turns
exits "times of samples, in intervals" 0
found=$(for ((i = 1; ; i++)); do [ -e "each-$i.perf" ] || break; phases "each-$i.perf"; done | cut -d' ' -f1 | uniq)
[ "$(echo "$found" | paste -sd' ')" = "parse link parse link parse" ] && [ -e each-2.perf ]
check $? "the phases are the program's, in intervals" "$found"
wrong=
for file in each-*.perf; do ascending "$file" && grep -q '^# times : of samples' "$file" || wrong+=" $file"; done
[ -z "$wrong" ]
check $? "each interval has times of its own" "$(grep -h '^# times' each-*.perf)"
[ "$(cat each-*.perf | grep -c '^[^#	].*:$')" -eq "$(grep ";" each.folded | awk "{ n += \$NF } END { print n }")" ]
check $? "there is a record for each sample, in intervals" "$(tail -n 3 each.folded)"

# Among all that the machine runs.
sample -F 499 -o all.perf --format perf-script
./turns
sampled
found=$(phases all.perf | cut -d' ' -f1 | paste -sd' ')
[ "$found" = "parse link parse link parse" ]
check $? "the phases are the program's, of the whole machine" "$(phases all.perf; cat "$err")"
finish
