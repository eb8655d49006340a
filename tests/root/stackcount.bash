# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests of stackcount, on top of harness.bash: . stackcount.bash BUILD_DIR
# shellcheck shell=bash disable=SC2034 # the tests use the variables
. "$(dirname "${BASH_SOURCE[0]}")/harness.bash" "$1"

calls=$programs/sc_calls
folded=$tmp/folded
cpus=$(getconf _NPROCESSORS_ONLN)

# ---- features of this kernel
have_kprobes() { [ -e /sys/bus/event_source/devices/kprobe/type ]; }
have_uprobes() { [ -e /sys/bus/event_source/devices/uprobe/type ]; }
no_kprobes='this kernel has no kprobes (CONFIG_KPROBES)'
no_uprobes='this kernel has no uprobes (CONFIG_UPROBES)'
# can FEATURE: succeeds if tests/vm/features finds the feature in this kernel
can() {
	[ -n "${features-}" ] || features=$("$programs/../vm/features" 2>>"$fate")
	grep -qF "feature $1: yes" <<<"$features"
}

# ---- running
# count ARGUMENT...: runs stackcount; its report is in $out, its messages in $err, its status in
# $status
count() {
	"$stackcount" "$@" >"$out" 2>"$err"
	status=$?
}
# attach ARGUMENT...: starts stackcount and waits until it counts. The report goes to $out and, in
# folded lines, to $folded; $counter is the process. Fails if stackcount ended.
attach() {
	: >"$out"
	"$stackcount" -o - -o "$folded" --format text --format folded "$@" >"$out" 2>"$err" &
	counter=$!
	started+=("$counter")
	await 60 attached && grep -q '^Tracing' "$out"
}
attached() { grep -q '^Tracing' "$out" || ! kill -0 "$counter" 2>>"$fate"; }
# detach: ends it as Ctrl-C does; sets $status
detach() {
	kill -INT "$counter" 2>>"$fate"
	wait "$counter"
	status=$?
}
# turn: makes the program that `begin` started do its turns; sets $turns to their number
turn() {
	local line
	turns=0
	kill -USR1 "$pid"
	while read -r -t 300 line <&"$reading"; do
		case $line in done*) turns=${line#done } && return 0 ;; esac
	done
	return 1
}

# ---- the results
# is NAME NUMBER EXPECTED
is() {
	[ "$2" = "$3" ]
	check $? "$1" "$2, not $3; $(head -n 3 "$err" | cut -c 1-300)"
}
# fails STATUS NAME REGEX ARGUMENT...: stackcount exits with STATUS, prints one line on stderr,
# which matches, and nothing on stdout
fails() {
	local wanted=$1 name=$2 regex=$3
	count "${@:4}"
	[ "$status" -eq "$wanted" ] && [ ! -s "$out" ] && grep -Eq -- "$regex" "$err" &&
		{ [ "$wanted" -eq 2 ] || [ "$(wc -l <"$err")" -eq 1 ]; }
	check $? "$name" "exit status $status; $(tail -n 3 "$err" | cut -c 1-400) $(head -n 3 "$out")"
}
# entries [TEXT_FILE]: the entries of a multi-line report, one on a line, with frames joined by ;
entries() {
	awk '/^Tracing|^Detaching/ { next } /^[0-9][0-9]:/ { next }
	/^$/ { if (line != "") print line; line = ""; next }
	{ sub(/^ +/, ""); line = line == "" ? $0 : line ";" $0 }
	END { if (line != "") print line }' "${1-$out}"
}

# ---- what is outstanding
# outstanding NAME: `BLOCKS BYTES` of the stacks with this function, in $json
outstanding() {
	python3 - "$json" "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
names = [frame["name"] for frame in report["frames"]]
mine = [s for s in report["stacks"] if sys.argv[2] in [names[i] for i in s["user"]]]
print(sum(s["events"] for s in mine), sum(s["count"] for s in mine))
END
}
json=$tmp/report.json

# knows NAME: the stacks of the program that was run have what it has printed, line by line
knows() {
	local name blocks bytes n=0
	is "$1: it ends well" "$status" 0
	while read -r name blocks bytes; do
		case $name in
		m[ln]_*) is "$1: outstanding of $name" "$(outstanding "$name")" "$blocks $bytes"; n=$((n + 1)) ;;
		esac
	done <"$tmp/said"
	[ "$n" -gt 0 ]
	check $? "$1: it knows what is outstanding" "$(cat "$tmp/said")"
}
# leaks OPTION... -- COMMAND
leaks() {
	rm -f "$json"
	"$stackcount" "${@:1:$#}" >"$tmp/said" 2>"$err"
	status=$?
	sed -i '/^Tracing/d; /^Detaching/d' "$tmp/said"
}
