#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All formats of both commands: of a live measurement, in intervals, and from a recording. Files are
# written whole or not at all: formats_test.sh BUILD
# timeout: 300
# kind: outputs
. "$(dirname "$0")/../harness.bash" "$1"
suffixes=(txt folded svg html pb.gz speedscope.json profile.json json perf stacktally)
declare -A called=([txt]=text [folded]=folded [svg]=svg [html]=html [pb.gz]=pprof
	[speedscope.json]=speedscope [profile.json]=firefox [json]=json [perf]=perf-script [stacktally]=recording)
cd "$tmp" || finish
pprof() { if command -v go >/dev/null && go tool pprof "$@" 2>>"$fate"; then :; else return 1; fi; }
go tool pprof -h >"$fate" 2>&1 || unset -f pprof
export HOME=$tmp PPROF_TMPDIR=$tmp

# outputs PREFIX: sets $arguments to one -o for each format
outputs() {
	local suffix
	arguments=()
	for suffix in "${suffixes[@]}"; do arguments+=(-o "$1.$suffix"); done
}
# page_data FILE: the data in an HTML page, which begins with JSON
page_data() {
	python3 -c '
import base64, re, sys, zlib
found = re.search(r"id=\"data\">([^<]*)<", open(sys.argv[1]).read())
sys.stdout.buffer.write(zlib.decompress(base64.b64decode(found[1])))' "$1"
}
# samples_in FILE: the number of samples in the file, read from its format
samples_in() {
	case $1 in
	*.txt) awk '/^ +[0-9]+$/ { n += $1 } END { print n + 0 }' "$1" ;;
	*.folded) total "$1" ;;
	*.svg) sed -n 's/^\(samples\|events\): //p' "$1" ;;
	*.html) page_data "$1" | grep -ao '\["\(samples\|events\)","[0-9]*"\]' | tr -dc '0-9' ;;
	*.pb.gz) pprof -raw -sample_index=0 "$1" | awk '/^Locations$/ { exit }
		/^ +[0-9]+( +[0-9]+)?: / { sub(":", "", $1); n += $1 } END { print n + 0 }' ;;
	*.speedscope.json) python3 -c '
import json, sys
of = json.load(open(sys.argv[1]))
each = of["stacktally"]["sample_ns"] or 1
print(sum(sum(p["weights"]) for p in of["profiles"] if "stacktally" not in p) // each)' "$1" ;;
	*.profile.json) python3 -c '
import json, sys
print(sum(sum(t["samples"]["weight"]) for t in json.load(open(sys.argv[1]))["threads"]))' "$1" ;;
	*.json) python3 -c '
import json, sys
print(sum(s["count"] for s in json.load(open(sys.argv[1]))["stacks"]))' "$1" ;;
	*.perf) grep -c '^[^	#].*:$' "$1" ;;
	esac
}
# timeless FILE: the file; of perf-script the records without times, which a recording does not have,
# a line for each, sorted
timeless() {
	case $1 in
	*.perf) sed '/^#/d; /^[^	].*:$/s/ [0-9.]*: / /' "$1" |
		awk 'BEGIN { RS = ""; FS = "\n"; OFS = ";" } { $1 = $1; print }' | sort ;;
	*) cat "$1" ;;
	esac
}
# same_samples NAME PREFIX: each format has as many samples as the folded one, and the recording
# gives the same files again, byte for byte, but for times
same_samples() {
	local suffix wanted command=$profile
	case $1 in stackcount*) command=$stackcount ;; esac
	wanted=$(total "$2.folded")
	[ "$wanted" -gt 0 ]
	check $? "$1: there are samples" "$(cat "$err")"
	outputs again
	"$command" -q "${options[@]}" --from "$2.stacktally" "${arguments[@]}" >"$out" 2>"$err"
	check $? "$1: all formats from the recording" "$(cat "$err")"
	for suffix in "${suffixes[@]}"; do
		if [ "$suffix" != stacktally ] && { [ "$suffix" != pb.gz ] || declare -F pprof >"$fate"; }; then
			[ "$(samples_in "$2.$suffix")" = "$wanted" ]
			check $? "$1: .$suffix has all samples" "$(samples_in "$2.$suffix") of $wanted"
		fi
		[ -s "$2.$suffix" ] && cmp <(timeless "$2.$suffix") <(timeless "again.$suffix") >"$out" 2>&1
		check $? "$1: .$suffix from the recording is the same" "$(cat "$out")"
		"$command" -q "${options[@]}" --from "$2.stacktally" --format "${called[$suffix]}" -o - \
			>stdout.out 2>"$err"
		cmp stdout.out "again.$suffix" >"$out" 2>&1
		check $? "$1: --format ${called[$suffix]} -o - is the same" "$(cat "$out" "$err")"
	done
}
# pprof_times FILE: the start and the duration, which have fields of their own
pprof_times() {
	gzip -dc <"$1" | protoc --decode_raw | while read -r field value; do
		case $field in
		9:) date -u -d "@${value:0:10}" "+%FT%T.${value:10}Z" ;;
		10:) awk -v ns="$value" 'BEGIN { print "duration: " ns / 1e9 " s" }' ;;
		esac
	done
}
# tells NAME PREFIX PATTERN...: each format but bcc's two has these facts about the measurement
tells() {
	local name=$1 prefix=$2 suffix pattern missing
	shift 2
	for suffix in svg html speedscope.json json perf pb.gz; do
		missing=
		case $suffix in
		pb.gz)
			gzip -dc <"$prefix.pb.gz"
			pprof_times "$prefix.pb.gz"
			;;
		html) page_data "$prefix.html" ;;
		*) cat "$prefix.$suffix" ;;
		esac | tr -d '\\' >plain
		for pattern in "$@"; do grep -aEq -- "$pattern" plain || missing+=" $pattern"; done
		[ -z "$missing" ]
		check $? "$name: .$suffix describes the measurement" "it lacks$missing"
	done
}
year=$(date -u +%Y)
# The release may contain a +, which must not mean repetition in the pattern.
facts=("$(uname -n)" "$(uname -r | sed 's/[.+]/\\&/g')" "$year-[01][0-9]-[0-3][0-9]T[0-9:]+\.[0-9]{9}Z")

# ---- profile, live
options=(--inlines --lines --per-thread --show-cgroup)
outputs live
measure -F 499 "${options[@]}" "${arguments[@]}" -- "$programs/names_inlined" 400
exits "profile writes all formats at once" 0
closing
[ "$samples" -eq "$(total live.folded)" ]
check $? "profile: the closing line has the same number of samples" "$samples: $(cat "$err")"
same_samples "profile" live
tells "profile" live "${facts[@]}" 'profile -F 499 --inlines.*names_inlined 400' cpu-clock \
	'rate: 499 Hz|"rate","499 Hz"|# rate : 499|"frequency":499' \
	"samples: $samples|# samples : $samples|\"samples\",\"$samples\"|\"samples\":$samples" \
	'lost: nothing|# lost : nothing|"lost","nothing|"lost":0' \
	'duration: [0-9.]+ s|# duration : [0-9.]+ s|"duration","[0-9.]+ s"|"duration_ns":[1-9]'
if declare -F pprof >"$fate"; then
	pprof -raw live.pb.gz >raw
	id=$(readelf -n "$programs/names_inlined" | sed -n 's/.*Build ID: //p')
	grep -q "^1: 0x[0-9a-f]*/0x[0-9a-f]*/0x[0-9a-f]* .*names_inlined $id " raw
	check $? "pprof: the first mapping is the program, with its build-id" "$id $(grep -A 3 ^Mappings raw)"
	awk '/^Locations/ { at = 1; next } /^Mappings/ { at = 0 } at && / M=[0-9]+ / { in_user = !/0xffffffff/ }
		at && in_user && !/M=/ && /:[1-9][0-9]*(:[0-9]+)? s=/ { found = 1 } END { exit !found }' raw
	check $? "pprof: a location has its inlined functions, with lines" "$(grep -A 9 ^Locations raw)"
	awk '/^Locations/ { at = 1; next } /^Mappings/ { exit }
		at && $1 ~ /^[0-9]+:$/ { if ($1 + 0 != ++n) exit 1 } END { exit n < 3 }' raw
	check $? "pprof: ids follow one another" "$(grep -A 9 ^Locations raw)"
	grep -q '^samples/count cpu/nanoseconds' raw
	check $? "pprof: samples/count, cpu/nanoseconds" "$(grep -A 1 ^Samples raw)"
	for label in 'comm:\[names_inlined\]' 'mode:\[user\]' 'cgroup:\[/' 'pid:\[[0-9]+\]' 'tid:\[[0-9]+\]'; do
		grep -Eq "$label" raw
		check $? "pprof: $label" "$(sed -n '/^Samples/,/^Loc/p' raw | head -n 5)"
	done
	"$profile" -q -F 499 -o kernel.pb.gz -- dd if=/dev/zero of=/dev/null bs=1M count=4000 2>"$err"
	pprof -raw kernel.pb.gz >raw
	grep -Eq 'mode:\[kernel\]' raw
	check $? 'pprof: mode:\[kernel\]' "$(cat "$err"; sed -n '/^Samples/,/^Loc/p' raw | head -n 5)"
fi
python3 - <<'END' >"$tmp/said" 2>&1
import json, re
of = json.load(open("live.speedscope.json"))
names = [p["name"] for p in of["profiles"] if "stacktally" not in p]
assert names and all(re.fullmatch(r".+ \(\d+/\d+\)", n) for n in names) and len(set(names)) == len(names), names
frames = of["shared"]["frames"]
assert sum("line" in f for f in frames) >= 3, frames[:9]
END
check $? "speedscope: a profile for each thread, frames with their lines" "$(tail -n 1 "$tmp/said")"

mv live.stacktally kept.stacktally

# ---- in intervals
options=()
begin "$programs/nested" || finish
outputs 'each-%n'
measure -q -F 499 -p "$pid" "${arguments[@]}" -i 1 2
exits "all formats in intervals" 0
same_samples "an interval" each-2
end

# ---- stackcount
begin "$programs/nested" 10000000 || finish
options=(-P)
outputs events
"$stackcount" -D 1 -P --name nested "${arguments[@]}" t:syscalls:sys_enter_clock_gettime >"$out" 2>"$err"
check $? "stackcount writes all formats at once" "$(cat "$err")"
end
suffixes=(txt folded svg html pb.gz speedscope.json profile.json json stacktally) # .perf would have a record for each event
same_samples "stackcount" events
suffixes=(perf)
outputs events
"$stackcount" -q --from events.stacktally "${arguments[@]}" 2>"$err"
tells "stackcount" events "${facts[@]}" 'stackcount -D 1 -P' 't:syscalls:sys_enter_clock_gettime' \
	"$(total events.folded)" '1 in 1|"period":1'
if declare -F pprof >"$fate"; then
	pprof -raw events.pb.gz | grep -q '^events/count'
	check $? "stackcount: pprof has events/count" "$(pprof -raw events.pb.gz | grep -A 1 ^Samples)"
fi

# ---- terminals
"$profile" -q --from kept.stacktally -o live.json 2>"$err"
for format in pprof recording; do
	script -qec "'$profile' --from kept.stacktally --format $format" typed >typed.out 2>&1
	status=$?
	[ $status -eq 2 ] && grep -q 'not for a terminal' typed.out
	check $? "$format is refused on a terminal" "$status: $(head -c 300 typed.out)"
done
script -qec "'$profile' -q --from kept.stacktally --format json -o - 2>'$err'" typed >typed.out 2>&1
tr -d '\r' <typed.out | cmp - live.json >"$out" 2>&1
check $? "text formats are not" "$(cat "$out")"

# ---- whole or not at all: killed before each system call with which it writes its files
suffixes=(txt folded svg html pb.gz speedscope.json profile.json json perf stacktally)
outputs files/killed
# kept_whole CALL NUMBER: kills "${writes[@]}" when it enters that system call for the NUMBERth time.
# Each file must then be as in whole/, missing, or still old. Fails if there was no such call.
kept_whole() {
	local file name
	rm -rf files && cp -r "$before" files
	! { strace -f -o trace -e trace="$1" -e inject="$1:signal=KILL:when=$2" "${writes[@]}"; } \
		>>"$fate" 2>&1 || return
	kills=$((kills + 1))
	for file in files/*; do
		name=${file#files/}
		case $name in
		'*') nones=$((nones + 1)) ;;
		# Linux cannot replace a file by a nameless one in one step. Between the two, the
		# new file has a name of its own.
		*.stacktally-new)
			[ "$1" = rename ] && cmp -s "$file" "whole/${name%.stacktally-new}" || wrong+=" $1 $2: $name"
			;;
		*) if cmp -s "$file" "whole/$name"; then
			wholes=$((wholes + 1))
		elif cmp -s "$file" "$before/$name"; then
			nones=$((nones + 1))
		else
			wrong+=" $1 $2: $name"
		fi ;;
		esac
	done
}
if command -v strace >/dev/null; then
	writes=("$profile" -q --from kept.stacktally "${arguments[@]}")
	mkdir files none old
	"${writes[@]}" 2>"$err"
	check $? "(files are written)" "$(cat "$err")"
	mv files whole
	for suffix in "${suffixes[@]}"; do echo old >"old/killed.$suffix"; done
	for before in none old; do
		kills=0 wholes=0 nones=0 wrong=
		for call in openat write linkat rename close; do
			for ((number = 1; number < 200; number++)); do kept_whole $call $number || break; done
		done
		[ -z "$wrong" ] && [ "$kills" -gt 30 ] && [ "$wholes" -gt 9 ] && [ "$nones" -gt 9 ]
		check $? "killed $kills times, it leaves whole files or $before" "$wholes whole, $nones $before, wrong:$wrong"
	done
	# The recording of a live measurement is written with the other files.
	writes=("$profile" -q -F 999 "${arguments[@]}" -- "$programs/nested" 40)
	before=none kills=0 wholes=0 nones=0 wrong=
	for number in 1 5 9; do
		rm -rf files && mkdir files
		{ strace -f -o trace -e trace=linkat -e inject="linkat:signal=KILL:when=$number" "${writes[@]}"; } \
			>>"$fate" 2>&1 || kills=$((kills + 1))
		files=$(find files -type f | wc -l)
		[ "$files" -eq $((number - 1)) ] || wrong+=" linkat $number: $(ls files)"
	done
	[ -z "$wrong" ] && [ "$kills" -eq 3 ]
	check $? "killed at its end, a measurement leaves the files that were written" "killed $kills times:$wrong"
	rm -rf files/*
	strace -f -o trace -P files -e trace=openat -e inject=openat:error=EOPNOTSUPP:when=1 \
		"$profile" -q --from kept.stacktally -o files/beside.json 2>"$err" &&
		cmp files/beside.json live.json >"$out" 2>&1 && [ "$(ls files/beside*)" = files/beside.json ] &&
		grep -q INJECTED trace
	check $? "the same on a file system without nameless files" "$(cat "$err" "$out"; ls files)"
	strace -f -o trace -P files -e inject=openat:error=EOPNOTSUPP:when=1 \
		-e trace=openat "$profile" -q --from kept.stacktally -o files/full.json -o /dev/full \
		--format json --format json 2>"$err"
	[ $? -eq 1 ] && grep -q INJECTED trace && ! compgen -G 'files/full.json.*' >"$fate"
	check $? "an error leaves no temporary file there" "$(cat "$err"; ls files)"
else
	skip "killed, it leaves whole files or none" "there is no strace"
fi

# ---- full disks, directories that cannot be written
measure -q --from kept.stacktally -o /dev/full --format json
exits "a full disk is an error" 1
says "the message says so" 'cannot write /dev/full: No space left on device'
mkdir small
measure -q --from kept.stacktally -f
room=$(($(wc -c <"$out") / 1024 + 8)) # KB
if mount -t tmpfs -o size=$((room + 56))k none small 2>"$err"; then
	dd if=/dev/zero of=small/filler bs=1k count=56 2>>"$fate"
	for suffix in html perf; do
		measure -q --from kept.stacktally -o "small/x.$suffix"
		exits "a disk that is too small for .$suffix is an error" 1
		says "the message says so (.$suffix)" "cannot write small/x\.$suffix: No space left on device"
	done
	measure -q --from kept.stacktally -o small/x.folded
	exits "a file that fits is written" 0
	[ "$(ls small)" = $'filler\nx.folded' ]
	check $? "nothing is left of those that did not fit" "$(ls small)"
	umount small
else
	skip "a disk that is too small" "$(cat "$err")"
fi
for path in nosuch/x.json "$tmp" /proc/x.json; do
	begun=$(date +%s%N)
	measure -q -F 99 -o "$path" --format json 30
	[ "$status" -eq 1 ] && grep -q "cannot write $path" "$err" && [ $(($(date +%s%N) - begun)) -lt 20000000000 ]
	check $? "an output that cannot be written is refused before the measurement: ${path##*/}" "$status: $(cat "$err")"
done
finish
