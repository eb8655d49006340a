#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# JSON of speedscope and of the Firefox Profiler, whole and damaged, and perf's data:
# foreign_json_test.sh BUILD
# kind: foreign files
set -u
build=$(cd "$1" && pwd)
profile=$build/profile
recordings=$(cd "$(dirname "$0")/../golden/recordings" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1

# reads NAME WANTED <JSON: as folded stacks; lines in any order
reads() {
	cat >in.json
	"$profile" --from in.json -qf 2>err | sort >out
	sort <<<"$2" | diff - out >&2
	check $? "$1" "$(cat err out)"
}
# refuses NAME WORDS <JSON
refuses() {
	cat >in.json
	"$profile" --from in.json -qf >out 2>err && echo "status 0" >>out
	[ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$2" err
	check $? "$1 is refused" "$(cat err out | cut -c 1-300)"
}

# ---- speedscope
frames='"shared":{"frames":[{"name":"main"},{"name":"a","file":"/srv/a.py","line":3},{"name":"sys_read","file":"[kernel]"}]}'
reads "sampled profiles, their members in any order" 'one;main;a;sys_read 3
two;main 4' <<END
{"profiles":[{"weights":[1,2,0],"samples":[[0,1,2],[0,1,2],[0]],"name":"one","type":"sampled","unit":"none"},
{"type":"sampled","name":"two (77)","unit":"none","samples":[[0]],"weights":[4],"other":{"x":[1,{}]}}],$frames}
END
"$profile" --from in.json --format json >out 2>err
grep -q '"tgid":77' out || grep -q '"pid":77' out
check $? "a process id behind a name" "$(head -c 600 out)"
reads "py-spy's names of threads" 'Thread 5 "x;main 1
;main 1
worker;main 4' <<END
{"profiles":[{"type":"sampled","name":"Thread 17778 \\"worker\\"","unit":"none","samples":[[0]],"weights":[4]},
{"type":"sampled","name":"Thread 5 \\"x","unit":"none","samples":[[0]],"weights":[1]},
{"type":"sampled","name":"Thread 8 \\"\\"","unit":"none","samples":[[0]],"weights":[1]}],$frames}
END
"$profile" --from in.json --format json >out 2>err
grep -q '"comm":"worker","pid":0,"tid":17778' out
check $? "... and their ids" "$(head -c 600 out)"
reads "events" 't;main 3000000
t;main;a 5000000' <<END
{$frames,"profiles":[{"type":"evented","name":"t","unit":"milliseconds","events":[{"type":"O","frame":0,"at":1},
{"type":"O","frame":1,"at":3},{"type":"C","frame":1,"at":8},{"type":"C","frame":0,"at":9}]}]}
END
"$profile" --from in.json --top >out 2>err
grep -q '8.000 ms of time' out
check $? "... are times" "$(head -4 out)"
reads "seconds with decimals" 'p;main 20000000' <<END
{$frames,"profiles":[{"type":"sampled","name":"p","unit":"seconds","samples":[[0],[0]],"weights":[0.01,1e-2]}]}
END
refuses "a frame that is not there" 'damaged' <<<"{$frames,\"profiles\":[{\"type\":\"sampled\",\"samples\":[[3]],\"weights\":[1]}]}"
refuses "a weight below 0" 'below 0' <<<"{$frames,\"profiles\":[{\"type\":\"sampled\",\"samples\":[[0]],\"weights\":[-1]}]}"
refuses "half a byte" 'no whole number' <<<"{$frames,\"profiles\":[{\"unit\":\"bytes\",\"samples\":[[0]],\"weights\":[1.5]}]}"
refuses "too much" 'too large' <<<"{$frames,\"profiles\":[{\"samples\":[[0],[0]],\"weights\":[9e18,9e18]}]}"
refuses "too few weights" 'damaged' <<<"{$frames,\"profiles\":[{\"samples\":[[0],[0]],\"weights\":[1]}]}"
refuses "two units" 'more than one unit' <<<"{$frames,\"profiles\":[{\"unit\":\"bytes\",\"samples\":[],\"weights\":[]},{\"unit\":\"seconds\",\"samples\":[],\"weights\":[]}]}"
refuses "a function that is left and not entered" 'damaged' <<<"{$frames,\"profiles\":[{\"type\":\"evented\",\"events\":[{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}"
refuses "time that goes back" 'below 0' <<<"{$frames,\"profiles\":[{\"type\":\"evented\",\"unit\":\"seconds\",\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":2},{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}"
python3 -c 'print("{\"shared\":{\"frames\":[{\"name\":\"f\"}]},\"profiles\":[{\"samples\":[[" + ",".join(["0"] * 70000) + "]],\"weights\":[1]}]}")' >deep.json
refuses "a stack of 70,000 frames" 'too large' <deep.json
refuses "JSON of another kind" "JSON of another kind than speedscope's and the Firefox Profiler's" <<<'{"traceEvents":[]}'

# ---- the Firefox Profiler
thread='"name":"T","pid":"9.1","stringArray":["main","work","[kernel.kallsyms]","sys"],
"resourceTable":{"name":[2],"length":1},"funcTable":{"name":[0,1,3],"resource":[-1,-1,0],"length":3},
"frameTable":{"func":[0,1,2],"line":[null,7,null],"length":3},
"stackTable":{"frame":[0,1,2],"prefix":[null,0,1],"length":3}'
reads "a thread with its tables" 'T;main;work 1
T;main;work;sys 2' <<END
{"meta":{"interval":10,"startTime":1700000000000},"threads":[{"samples":{"stack":[2,1,2],"time":[0,1,2]},$thread}]}
END
"$profile" --from in.json --format json >out 2>err
grep -q '"frequency":100' out
check $? "the interval is a rate" "$(head -c 600 out)"
reads "tables of all threads, weights" 'T;main 5
U;main;work 6' <<END
{"meta":{},"threads":[{"name":"T","samples":{"stack":[0,null],"weight":[5,0]}},
{"name":"U","samples":{"weight":[6],"stack":[1],"weightType":"samples"}}],"shared":{${thread#*,*,}}}
END
refuses "stacks that lead to themselves" 'damaged' <<<"{\"meta\":{},\"threads\":[{\"samples\":{\"stack\":[0]},$(sed 's/"prefix":\[null,0,1\]/"prefix":[0,0,1]/' <<<"$thread" | tr -d '\n')}]}"
refuses "a raw profile" 'a raw profile of Firefox' <<<'{"meta":{},"threads":[{"samples":{"schema":{"stack":0},"data":[]}}]}'

# ---- what we write
count() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"; }
count_weights() {
	python3 -c 'import json, sys
parts = json.load(open(sys.argv[1]))["profiles"]
print("sum", sum(sum(p["weights"]) for p in parts if "stacktally" not in p))' "$1"
}
for recording in profile languages threads; do
	"$profile" -q --from "$recordings/$recording.stacktally" -f >whole 2>err
	for format in speedscope firefox; do
		"$profile" -q --from "$recordings/$recording.stacktally" --format "$format" -o "own.json" 2>err
		"$profile" --from own.json -qf >out 2>err
		# speedscope's weights are times.
		[ "$format" = firefox ] && want=$(count whole) || want=$(awk '{ print $2 }' <(count_weights own.json))
		[ "$(count out)" = "$want" ]
		check $? "$recording as $format is read" "$(count out), not $want: $(cat err)"
		for size in 100 400; do
			head -c -"$size" own.json >cut.json
			refuses "$recording as $format, cut by $size" '' <cut.json
		done
	done
done

# ---- speedscope shows the first profile: that is of all processes, or threads, each the root of its stacks
for recording in profile threads times; do
	"$profile" -q --from "$recordings/$recording.stacktally" --format speedscope -o own.json 2>err
	python3 - <<'END' >out 2>&1
import json
from collections import Counter
of = json.load(open("own.json"))
names = [f["name"] for f in of["shared"]["frames"]]
one, rest = of["profiles"][0], of["profiles"][1:]
def stacks(profile, root=()):
    found = Counter()
    for stack, weight in zip(profile["samples"], profile["weights"]):
        found[root + tuple(names[i] for i in stack)] += weight
    return found
if rest:
    assert one["name"].startswith(("all processes", "all threads")), one["name"]
    assert of["activeProfileIndex"] == 0 and one["endValue"] == sum(one["weights"])
    assert stacks(one) == sum((stacks(p, (p["name"],)) for p in rest), Counter())
else:
    assert not one["name"].startswith("all"), one["name"]
print(len(rest))
END
	grep -qx '[0-9]*' out
	check $? "speedscope's first profile of $recording" "$(cat out err)"
done

# ---- a pipe, and --diff
"$profile" -q --from "$recordings/profile.stacktally" --format speedscope 2>err | "$profile" --from - -qf >out 2>err
[ -s out ]
check $? "speedscope's JSON from a pipe" "$(cat err)"

# ---- sums: the same total, in the same unit, when read again
# sums RECORDING TYPE UNIT RECORD TOTAL
sums() {
	"$build/stackcount" -q --from "$recordings/$1.stacktally" -o "$1.profile.json" -o "$1.perf" 2>err
	grep -o '"weightType":"[a-z-]*"' "$1.profile.json" | sort -u | grep -qx "\"weightType\":\"$2\""
	check $? "the Firefox Profiler's weights of $1" "$(grep -o '"weightType":"[a-z-]*"' "$1.profile.json")"
	grep -q "^# records : [0-9]*, each for $4;" "$1.perf"
	check $? "perf script's records of $1" "$(grep records "$1.perf")"
	"$build/stackcount" --from "$1.profile.json" -f 2>err | awk -v wanted="$5" \
		'{ sum += $NF } END { exit sum > wanted || sum < wanted - 20000 }' && grep -q "$3" err
	check $? "... read again" "$(cat err)"
}
sums sums bytes 'bytes of' '12346 bytes' 1234571986
sums calls tracing-ms '1.235 s of' '12346 ns' 1234571986
sums outstanding bytes 'bytes of' '1 bytes' 10000

# ---- which value of a pprof file
"$profile" -q --from "$recordings/profile.stacktally" -o both.pb.gz 2>err
"$profile" --from both.pb.gz --value nosuch -f >out 2>err
[ $? -eq 1 ] && grep -qF 'it has no value nosuch, but: samples (count), cpu (nanoseconds)' err
check $? "a value that is not there" "$(cat err)"
"$profile" --from both.pb.gz --value samples -qf >out 2>err && [ -s out ]
check $? "a value by its name" "$(cat err)"
"$profile" --from "$recordings/profile.stacktally" --value samples -qf >out 2>err
[ $? -eq 1 ] && grep -qF 'it has one value only' err
check $? "a recording has no values to choose from" "$(cat err)"

# ---- perf's data
printf 'PERFILE2' >empty.data
mkdir none
PATH=$tmp/none "$profile" --from empty.data -f >out 2>err
[ $? -eq 1 ] && grep -qF 'which takes perf' err && [ "$(wc -l <err)" -eq 1 ]
check $? "perf's data without perf" "$(cat err)"
if command -v perf >found && perf record -q -F 499 -g -o some.data -- python3 -c 'sum(range(9000000))' >out 2>err; then
	"$profile" --from some.data -qf >out 2>err
	perf script -i some.data 2>err | "$profile" --from - -qf 2>err | sort >by_hand
	[ -s out ] && sort out | cut -d';' -f 1 | cmp -s - <(cut -d';' -f 1 by_hand)
	check $? "perf's data, whatever its name" "$(head -3 out err)"
	"$profile" --from empty.data -f >out 2>err
	[ $? -eq 1 ] && grep -qF 'run it to see why' err && [ "$(wc -l <err)" -eq 1 ]
	check $? "damaged data of perf" "$(cat err)"
else
	skip "perf's data" "perf does not record here"
fi
exit "$failed"
