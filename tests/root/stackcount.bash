# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of stackcount share, upon harness.bash: . stackcount.bash BUILD_DIR
# shellcheck shell=bash disable=SC2034 # variables are for those who source it
. "$(dirname "${BASH_SOURCE[0]}")/harness.bash" "$1"

calls=$programs/sc_calls
folded=$tmp/folded
cpus=$(getconf _NPROCESSORS_ONLN)

# ---- what this kernel can do
have_kprobes() { [ -e /sys/bus/event_source/devices/kprobe/type ]; }
have_uprobes() { [ -e /sys/bus/event_source/devices/uprobe/type ]; }
no_kprobes='this kernel has no kprobes (CONFIG_KPROBES)'
no_uprobes='this kernel has no uprobes (CONFIG_UPROBES)'
# can FEATURE: whether tests/vm/features says that the kernel can
can() {
	[ -n "${features-}" ] || features=$("$programs/../vm/features" 2>>"$fate")
	grep -qF "feature $1: yes" <<<"$features"
}

# ---- running
# count ARGUMENT...: stackcount to its end, its report in $out and the rest in $err; sets $status.
count() {
	"$stackcount" "$@" >"$out" 2>"$err"
	status=$?
}
# attach ARGUMENT...: starts stackcount and waits until it counts. The report goes to $out and,
# folded, to $folded; sets $counter.
attach() {
	: >"$out"
	"$stackcount" -o - -o "$folded" --format text --format folded "$@" >"$out" 2>"$err" &
	counter=$!
	started+=("$counter")
	await 60 attached && grep -q '^Tracing' "$out"
}
attached() { grep -q '^Tracing' "$out" || ! kill -0 "$counter" 2>>"$fate"; }
# detach: ends what attach started as Ctrl-C does; sets $status.
detach() {
	kill -INT "$counter" 2>>"$fate"
	wait "$counter"
	status=$?
}
# turn: has the program that `begin` started do its turns; sets $turns.
turn() {
	local line
	turns=0
	kill -USR1 "$pid"
	while read -r -t 300 line <&"$reading"; do
		case $line in done*) turns=${line#done } && return 0 ;; esac
	done
	return 1
}
# thread_id NAME: of the program that `begin` started
thread_id() { sed -n "s/^$1 //p" <<<"$said"; }

# ---- what came of it
# is NAME NUMBER EXPECTED
is() {
	[ "$2" = "$3" ]
	check $? "$1" "$2, not $3; $(head -n 3 "$err" | cut -c 1-300)"
}
# fails STATUS NAME REGEX ARGUMENT...: exits so, says so in one line, has nothing on stdout
fails() {
	local wanted=$1 name=$2 regex=$3
	count "${@:4}"
	[ "$status" -eq "$wanted" ] && [ ! -s "$out" ] && grep -Eq -- "$regex" "$err" &&
		{ [ "$wanted" -eq 2 ] || [ "$(wc -l <"$err")" -eq 1 ]; }
	check $? "$name" "exit status $status; $(tail -n 3 "$err" | cut -c 1-400) $(head -n 3 "$out")"
}
# entries TEXT_FILE: the multi-line report's entries, one a line, frames joined by ;
entries() {
	awk '/^Tracing|^Detaching/ { next } /^[0-9][0-9]:/ { next }
	/^$/ { if (line != "") print line; line = ""; next }
	{ sub(/^ +/, ""); line = line == "" ? $0 : line ";" $0 }
	END { if (line != "") print line }' "${1-$out}"
}
