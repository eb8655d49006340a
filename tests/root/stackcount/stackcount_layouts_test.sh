#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The layouts of stackcount's reports, live and from a recording: stackcount_layouts_test.sh BUILD
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

# One process; each of its system calls has a kernel and a user stack.
begin "$calls" wait getpgid 500
recording=$tmp/recording.stacktally
attach -o "$recording" --format recording -p "$pid" t:raw_syscalls:sys_enter
turn
detach
is "a recording is written along with the reports" "$status" 0
user='syscall;sc_getpgid;turns;once;main;__libc_start_call_main;__libc_start_main;_start'
cp "$out" "$tmp/live"
cp "$folded" "$tmp/live.folded"
kernel=$(entries "$tmp/live" | sed -n "s/;$user;500\$//p")
[ -n "$kernel" ]
check $? "a tracepoint's stack is the kernel's, then the user's" "$(tail -n 20 "$tmp/live")"

# shows NAME BLOCK ARGUMENT...: a measurement and the recording print these lines for the stack
shows() {
	local name=$1 block=$2
	shift 2
	attach -p "$pid" "$@" t:raw_syscalls:sys_enter
	turn
	detach
	block_is "$name" "$block"
	"$stackcount" --from "$recording" "$@" >"$out" 2>"$err"
	block_is "$name, from the recording" "$block"
}
# block_is NAME BLOCK: $out has these lines. P stands for a pid, X for hexadecimal digits, A12 and
# A16 for addresses.
block_is() {
	local found
	found=$(awk -v RS= -v ORS='\n\n' '/500$/' "$out" | sed -E "s/\+0x[0-9a-f]+/+0xX/
		s/^  [0-9a-f]{12} {5}/  A12      /; s/^  [0-9a-f]{16} /  A16 /
		s/^  0x[0-9a-f]{16} /  0xA16 /; s/\[[0-9]+\]$/[P]/")
	[[ $'\n'$found$'\n' == *"$2"* ]]
	check $? "$1" "$(tail -n 14 <<<"$found")"
}
lines() { tr ';' '\n' <<<"$1" | sed "s/^/${2-  }/; s/\$/${3-}/"; }
k=$(lines "$kernel") u=$(lines "$user")
shows "default: frames by 2 blanks, the count by 4" $'\n'"$k"$'\n'"$u"$'\n    500\n'
shows "-d: kernel and user apart" "$k"$'\n    --\n'"$u"$'\n    500\n' -d
shows "-s: offsets" "$(lines "$kernel" '  ' '+0xX')"$'\n'"$(lines "$user" '  ' '+0xX')"$'\n    500\n' -s
shows "-v: addresses, 16 wide" "$(lines "$kernel" '  A16 ')"$'\n'"$(lines "$user" '  A12      ')"$'\n    500\n' -v
shows "-sv: both" "$(lines "$kernel" '  A16 ' '+0xX')"$'\n'"$(lines "$user" '  A12      ' '+0xX')"$'\n    500\n' -sv
shows "-dsv: all" "$(lines "$kernel" '  A16 ' '+0xX')"$'\n    --\n'"$(lines "$user" '  A12      ' '+0xX')"$'\n    500\n' -dsv
shows "-U: the user's part" $'\n'"$u"$'\n    500\n' -U
shows "-U -d: no delimiter" $'\n'"$u"$'\n    500\n' -U -d
shows "-a: the kernel's frames are marked" "$(lines "$kernel" '  ' '_[k]')"$'\n'"$u"$'\n    500\n' -a

# ---- -K: stacks that differ in their user part only are one
sum=$(total "$tmp/live.folded")
count --from "$recording" -K
last=$(entries | tail -n 1)
is "-K: the kernel's part" "${last%;*}" "$kernel"
is "... with the counts of all of them" "${last##*;}" "$(awk -v end="$(tr ';' '\n' <<<"$kernel" | tac | paste -sd ';')" \
	'{ line = $0; sub(/ [0-9]+$/, "", line)
	   if (substr(line, length(line) - length(end)) == ";" end) sum += $NF } END { print sum }' "$tmp/live.folded")"
count --from "$recording" -K -d
is "-K -d: no delimiter" "$(grep -c -- '--' "$out")" 0

# ---- folded
path='_start;__libc_start_main;__libc_start_call_main;main;once;turns;sc_getpgid;syscall'
kpath=$(tr ';' '\n' <<<"$kernel" | tac | paste -sd ';')
folds() { # NAME LINE ARGUMENT...
	count --from "$recording" "${@:3}"
	grep -qxF -- "$2" "$out" && [ "$(grep -Evc '^[^ ]*;.* [0-9]+$|^[^;]* [0-9]+$' "$out")" -eq 0 ]
	check $? "$1" "$(tail -n 2 "$out")"
}
# A recording does not know that -p was given: without -P there is no process in the line.
folds "-f" ";$path;$kpath 500" -f
folds "-df" ";$path;-;$kpath 500" -df
folds "-Pf" "sc_calls;$path;$kpath 500" -Pf
folds "-Pdf" "sc_calls;$path;-;$kpath 500" -Pdf
folds "-Uf" ";$path 500" -Uf
folds "-f -a" ";$path;${kpath//;/_[k];}_[k] 500" -f -a
folds "-f -s -v change nothing" ";$path;$kpath 500" -f -s -v
grep -qxF "sc_calls;$path;$kpath 500" "$tmp/live.folded"
check $? "-f, live with -p" "$(tail -n 1 "$tmp/live.folded")"
for options in '' -d -s -P -f -df; do
	# shellcheck disable=SC2086 # none or one
	count --from "$recording" $options
	sum2=$(awk '/^ +[0-9]+$/ { s += $1 } /^[^ ].* [0-9]+$/ && !/^Tracing/ { s += $NF } END { print s }' "$out")
	is "the counts of '$options' add up" "$sum2" "$sum"
done

# ---- title and end
count --from "$recording" -P
is "the title is that of the measurement" "$(head -n 1 "$out")" \
	'Tracing 1 functions for "t:raw_syscalls:sys_enter".'
is "... a blank line follows" "$(sed -n 2p "$out")" ''
is "... and nothing is detached at the end" "$(grep -c Detaching "$out")" 0
awk '/^    [0-9]+$/ { print $1 }' "$out" | sort -nc
check $? "the hottest stack comes last" "$(awk '/^    [0-9]+$/ { print $1 }' "$out" | tr '\n' ' ')"
is "each entry names the process" "$(grep -c "^    sc_calls \[$pid\]\$" "$out")" \
	"$(grep -Ec '^    [0-9]+$' "$out")"

# ---- files
count --from "$recording" -o "$tmp/report.folded" -o "$tmp/report.txt"
[ "$status" -eq 0 ] && [ ! -s "$out" ] && grep -q "^;$path;$kpath 500\$" "$tmp/report.folded" &&
	grep -q '^    500$' "$tmp/report.txt"
check $? "-o FILE twice, in the formats of their extensions" "$(cat "$err")"
count --from "$recording" -o "$tmp/again.stacktally"
count --from "$tmp/again.stacktally" -f
[ -s "$out" ] && cmp -s "$out" <("$stackcount" --from "$recording" -f 2>>"$fate")
check $? "a recording of a recording reports the same" "$(diff "$out" <("$stackcount" --from "$recording" -f 2>&1) | head -n 3)"
if command -v setpriv >>"$fate"; then
	# The user nobody cannot read the directory, but can read stdin.
	chmod 644 "$recording"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$stackcount" --from /dev/stdin -f \
		<"$recording" >"$out" 2>"$err"
	is "a recording is reported without privileges" "$?" 0
	[ -s "$out" ] && cmp -s "$out" <("$stackcount" --from "$recording" -f 2>>"$fate")
	check $? "... the same" "$(head -n 2 "$out")"
else
	skip "a recording is reported without privileges" "there is no setpriv (util-linux)"
fi
fails 1 "a directory as the output" "^stackcount: cannot write $tmp: Is a directory" \
	--from "$recording" -o "$tmp" --format folded
fails 1 "a file that is no recording" "$tmp/live" --from "$tmp/live"
fails 2 "an interval and a recording" 'one report' -i 1 -o "$tmp/x.stacktally" -D 1 t:sched:sched_switch
end
finish
