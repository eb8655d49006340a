#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How stackcount checks its command line, before it needs privileges: stackcount_cli_test.sh BUILD
set -u
stackcount=$1/stackcount
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
# refuses NAME MESSAGE ARGUMENT...: status 2, that message and how to get help on stderr, no stdout
refuses() {
	local name=$1 message=$2 status
	shift 2
	timeout 20 "$stackcount" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	[ "$status" -eq 2 ] && [ ! -s "$tmp/out" ] &&
		[ "$(cat "$tmp/err")" = "stackcount: error: $message"$'\n'"Try 'stackcount --help'." ]
	check $? "$name" "status $status: $(head -n 3 "$tmp/err")"
}
# says NAME STATUS LINE ARGUMENT...: that status, that one line on stderr, no stdout
says() {
	local name=$1 wanted=$2 line=$3 status
	shift 3
	timeout 20 "$stackcount" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	[ "$status" -eq "$wanted" ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = "$line" ]
	check $? "$name" "status $status: $(head -n 3 "$tmp/err")"
}

refuses "no pattern" "the following arguments are required: pattern"
refuses "no pattern but options" "the following arguments are required: pattern" -K -D 1
refuses "two patterns" "unrecognized arguments: vfs_write" vfs_read vfs_write
refuses "an option that does not exist" "unrecognized arguments: --nosuch" --nosuch vfs_read
refuses "-p of no number" "argument -p/--pid: invalid int value: '1x'" -p 1x vfs_read
refuses "-c of no number" "argument -c/--cpu: invalid int value: 'x'" -c x vfs_read
refuses "-D of no number" "argument -D/--duration: must be a number of seconds" -D x vfs_read
refuses "-D 0" "argument -D/--duration: must be nonzero" -D 0 vfs_read
refuses "-i 0" "argument -i/--interval: must be nonzero" -i 0 vfs_read
refuses "-i of a negative number" "argument -i/--interval: must be positive" -i -1 vfs_read
refuses "-p and -L" "argument -L/--tid: not allowed with argument -p/--pid" -p 1 -L 1 vfs_read
refuses "--children without -p" "argument --children: needs -p/--pid" --children vfs_read
refuses "-p without its number" "argument -p/--pid: expected one argument" vfs_read -p
refuses "no command after --" "expected a command after --" vfs_read --
refuses "an ambiguous option" "ambiguous option: --d could match --duration, --debuginfo, --diff, --diff-share, --diff-raw, --delimited, --debug" --d vfs_read
says "an unknown format" 2 \
	"stackcount: unknown format 'pdf': use one of text, top, csv, tsv, folded, svg, html, pprof, speedscope, firefox, json, perf-script, recording" \
	--format pdf c:malloc
refuses "more formats than outputs" "argument --format: given 2 times for 1 output" \
	--format text --format folded vfs_read
says "a file of unknown format" 2 \
	"stackcount: no format has the extension of '$tmp/x.nosuch': use one of .txt .top .csv .tsv .folded .collapsed .svg .html .htm .pb.gz .pprof .speedscope.json .speedscope .profile.json .json .perf .perf.txt .stacktally, or --format" \
	-o "$tmp/x.nosuch" c:malloc
[ ! -e "$tmp/x.nosuch" ]
check $? "... and it is not created" "$(ls "$tmp")"
says "-K with -U" 2 \
	"ERROR: -K and -U are mutually exclusive. If you want both stacks, that is the default." -K -U vfs_read
says "-KU in one" 2 \
	"ERROR: -K and -U are mutually exclusive. If you want both stacks, that is the default." -KU vfs_read
says "too many parts" 1 "stackcount: Too many ':'-separated components in pattern a:b:c:d" a:b:c:d
says "too many parts of a USDT probe" 1 \
	"stackcount: Too many ':'-separated components in pattern u:a:b:c:d" u:a:b:c:d
says "a type that does not exist" 1 "stackcount: Type must be 'p', 't', or 'u', but got r" r:c:malloc
says "no such library" 1 "stackcount: unable to find library nosuchlib" nosuchlib:foo
says "no such recording" 1 "stackcount: cannot read $tmp/none: No such file or directory" --from "$tmp/none"
echo text >"$tmp/text"
timeout 20 "$stackcount" --from "$tmp/text" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "$tmp/text" "$tmp/err"
check $? "a file that is no recording" "$(cat "$tmp/err")"
"$stackcount" --version >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && grep -Eqx 'stackcount \(stacktally\) [0-9]+\.[0-9]+\.[0-9]+ \(commit ([0-9a-f]{12}(-modified)?|unknown)\)' "$tmp/out" && [ ! -s "$tmp/err" ]
check $? "--version" "$(cat "$tmp/out" "$tmp/err")"
"$stackcount" -h >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(wc -l <"$tmp/out")" -le 30 ] && ! grep -qE '.{81}' "$tmp/out"
check $? "-h on one screen" "$(cat "$tmp/out")"
"$stackcount" --help >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(head -c 18 "$tmp/out")" = "usage: stackcount " ] && [ ! -s "$tmp/err" ] &&
	grep -q "stackcount t:sched:sched_fork  # count stacks for sched_fork tracepoint" "$tmp/out"
check $? "--help, with bcc's examples" "$(head -n 3 "$tmp/out")"
"$stackcount" -h >/dev/full 2>"$tmp/err"
[ $? -eq 1 ]
check $? "-h on a full disk fails" "$(cat "$tmp/err")"
exit "$failed"
