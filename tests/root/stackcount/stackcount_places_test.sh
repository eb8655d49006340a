#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Places inside of functions: offsets, lines of source code, inlined functions, against a program
# that knows how often it was there: stackcount_places_test.sh BUILD
# timeout: 180
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

places=$programs/sc_places
# refuses NAME REGEX ARGUMENT...: as `fails 1`, and if it counts, it ends
refuses() { fails 1 "$1" "$2" -D 1 "${@:3}"; }
source=$(dirname "$0")/../../workloads/sc_places.c
# marked TEXT: the line of the program's source that has this mark
marked() { grep -n "MARK: $1" "$source" | cut -d: -f1; }
# here [OPTION...] PATTERN: counts it in a run of the program; $told is what that says
here() {
	count -U -f -o - --format text -o "$folded" --format folded "$@" -- "$places" "$turns"
	told=$(cat "$out")
}
knows() { awk -v name="$1" '$1 == name { print $2 }' <<<"$told"; }
turns=20000

if ! have_uprobes; then
	skip "places inside of functions" "$no_uprobes"
	exit 0
fi

# ---- lines
here "$places:sc_places.c:$(marked inside)"
is "a line is counted each time" "$(total "$folded")" "$(knows line)"
is "... by its function's callers" "$(counted ';main;place_lines$' "$folded")" "$(knows line)"
here "$places:workloads/sc_places.c:$(marked end)"
is "a file may be named by the end of its path" "$(total "$folded")" "$turns"
here "p:$places:sc_places.c:$(marked end)"
is "... after p:" "$(total "$folded")" "$turns"
here "$places:sc_places.c:$(marked small)"
is "a line of an inlined function has places in all that contain it" "$(total "$folded")" "$(knows small)"
refuses "a line without code; its neighbours are named" \
	"the compiler made no code of line $(marked 'no code'); lines [0-9]* and $(marked end) have some" \
	"$places:sc_places.c:$(marked 'no code')"
refuses "a file that the program has not" 'no source file of it is called aces.c$' "$places:aces.c:1"
cp "$places" "$tmp/stripped" && strip -g "$tmp/stripped"
refuses "a program without DWARF" 'has no debug information \(DWARF\)' "$tmp/stripped:sc_places.c:1"
cp "$tmp/stripped" "$tmp/bare"
objcopy --only-keep-debug "$places" "$tmp/stripped.debug" && objcopy -S --add-gnu-debuglink="$tmp/stripped.debug" "$places" "$tmp/stripped"
count -U -q -f "$tmp/stripped:sc_places.c:$(marked inside)" -- "$tmp/stripped" 3000
is "... whose debug file is beside it" "$(awk '$1 == "line" { print $2 }' "$out")" "$(grep -v '^[a-z]* [0-9]*$' "$out" | total /dev/stdin)"

# ---- offsets
at=$("$stackcount" -l "$places:sc_places.c:$(marked inside)" 2>>"$err" | sed -n 's/^.*+0x\([0-9a-f]*\)$/\1/p')
first=$("$stackcount" -l "$places:place_lines" 2>>"$err" | sed -n 's/^.*+0x\([0-9a-f]*\)$/\1/p')
offset=$((16#$at - 16#$first))
here "$places:place_lines+$offset"
is "an offset is counted each time" "$(total "$folded")" "$(knows line)"
here "$(printf '%s:place_lines+0x%x' "$places" "$offset")"
is "... in hexadecimal digits" "$(total "$folded")" "$(knows line)"
size=$(nm -S "$places" | awk '$4 == "place_lines" { print $2 }')
# Each instruction by objdump, and no byte between two.
objdump -d --no-show-raw-insn "$places" | awk '
	/<place_lines>:$/ { inside = 1; next } /^$/ { inside = 0 }
	inside { sub(/:.*/, ""); gsub(/ /, ""); print }' | while read -r hex; do
	echo $((16#$hex - 16#$first))
done >"$tmp/starts" 2>>"$err"
if [ -s "$tmp/starts" ]; then
	wrong=0
	for ((i = 0; i < 16#$size; i++)); do
		"$stackcount" -l "$places:place_lines+$i" >"$out" 2>"$err"
		accepted=$?
		grep -qx "$i" "$tmp/starts"
		[ $? -eq "$accepted" ] || { [ "$accepted" -eq 1 ] && grep -q 'cannot be traced safely' "$err"; } || wrong=$((wrong + 1))
	done
	is "all instructions, and nothing between them, can be probed" "$wrong" 0
else
	skip "all instructions, and nothing between them, can be probed" "no objdump here"
fi
second=$(sed -n 2p "$tmp/starts")
refuses "in the middle of an instruction, a probe is refused" \
	'is in the middle of an instruction, where a probe would crash the program: instructions begin at \+0x0 and \+0x' \
	"$places:place_lines+$((second - 1))"
refuses "behind the end of the function" 'has no byte 0x10000: it has 0x[0-9a-f]*$' "$places:place_lines+0x10000"
refuses "an offset in a function that does not exist" 'did you mean place_lines' "$places:place_line+1"
refuses "an offset in an IFUNC" 'No functions matched|cannot be probed|middle' "c:strlen+1"
"$stackcount" --if 'arg1 > 1' "$places:place_lines+$offset" -- "$places" 1 >"$out" 2>"$err"
is "arguments are not known there" $? 2
says "... which is told" 'inside of a function, and where one was inlined, arguments are not known'
refuses "what is inside of a function does not return" 'is no function, and does not return' --time "$places:place_lines+$offset"

# ---- inlined functions
here --inlined "$places:place_small"
is "an inlined function is counted at all places" "$(total "$folded")" "$(knows small)"
is "... as one function" "$(sed -n 's/^Tracing \([0-9]*\) functions.*/\1/p' "$out")" 1
is "... a place in a loop" "$(counted ';place_second;place_small$' "$folded")" "$((turns / 4 * 6))"
is "... a place after a condition" "$(counted ';place_first;place_small$' "$folded")" "$((turns / 2))"
here --inlined "$places:place_both"
is "calls and inlined code of one function together" "$(total "$folded")" "$(knows both)"
here --inlined "$places:place_loop"
if [ -s "$folded" ]; then
	is "a loop's entry, exactly or told" "$(($(total "$folded") == $(knows looped))) $(grep -c 'its turns are counted' "$err")" "1 0"
else
	says "a loop's entry, exactly or told" 'place_loop.*(cannot be traced safely|turns are counted)'
fi
here "$places:place_both"
says "without --inlined, that is said" 'not counted: calls at [0-9]* places? where the compiler inlined .*--inlined counts them'
refuses "a function that is only inlined" 'the compiler inlined it at [0-9]* places, which --inlined counts$' "$places:place_small"
refuses "inlined functions take DWARF" 'has no debug information' --inlined "$tmp/bare:place_small"
refuses "tracepoints are not inlined" 'is no function of a library or program' --inlined t:sched:sched_switch

# ---- debug information that lies
cat >"$tmp/lies.s" <<'S'
	.file 1 "lies.c"
	.globl main
	.type main, @function
main:
	.cfi_startproc
	.loc 1 10
	movl $100000, %ecx
	.loc 1 11
	.byte 0x48
	.loc 1 12
	.byte 0xff, 0xc0
	.loc 1 13
	decl %ecx
	jnz main+5
	.loc 1 14
	xorl %eax, %eax
	ret
	.cfi_endproc
	.size main, .-main
	.section .note.GNU-stack,"",@progbits
S
if [ "$(uname -m)" = x86_64 ] && gcc -g -no-pie "$tmp/lies.s" -o "$tmp/lies" 2>>"$err"; then
	"$stackcount" -l "$tmp/lies:lies.c:13" >"$out" 2>"$err"
	is "assembly has lines" $? 0
	refuses "a line in the middle of an instruction is refused" \
		'cannot be traced safely: where the debug information has it, it is not known that an instruction begins' \
		"$tmp/lies:lies.c:11"
	count -U -q -f "$tmp/lies:lies.c:13" -- "$tmp/lies"
	is "... and the others are counted" "$(total "$out")" 100000
else
	skip "debug information that lies" "no compiler here"
fi
exit $failed
