#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --diff of two builds of a stripped program: diff_rebuilt_test.sh BUILD
# Reports of this kind: functions of the two builds that happen to have one address were compared
# with each other.
# timeout: 120
# kind: comparisons
. "$(dirname "$0")/../harness.bash" "$1"
cd "$tmp" || exit 1
long='__attribute__((noinline)) void long_one(void) { for (volatile long i = 0; i < 300000000; i++); }'
short='__attribute__((noinline)) void short_one(void) { for (volatile long i = 0; i < 100000000; i++); }'
printf '%s\n' "$long" "$short" 'int main(void) { long_one(); short_one(); }' >1.c
printf '%s\n' "$short" "$long" 'int main(void) { long_one(); short_one(); }' >2.c
for i in 1 2; do
	gcc -O1 -Wl,--build-id "$i.c" -o program && strip program || exit 1
	"$profile" -q -U -F 499 -o "$i.stacktally" -- ./program 2>"$err" || cat "$err"
done
measure --from 2.stacktally --diff 1.stacktally -f
grep -q '\[program+0x[0-9a-f]* of another build\] [0-9]* 0$' "$out" &&
	! grep -qE '\[program\+0x[0-9a-f]+\] [1-9][0-9]* [1-9][0-9]*$' "$out"
check $? "functions of two builds are not compared by their addresses" "$(tail -n 3 "$out")"
says "a line tells which file was built anew" 'compared with another build of program' "$err"
measure --from 2.stacktally --diff 2.stacktally -f
grep -qE '\[program\+0x[0-9a-f]+\] ([1-9][0-9]*) \1$' "$out" && ! grep -q 'another build' "$out" "$err"
check $? "those of one build are" "$(tail -n 3 "$out")"
