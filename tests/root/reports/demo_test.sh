#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo shows stacks whose functions all have names: demo_test.sh BUILD
# kind: symbols
. "$(dirname "$0")/../harness.bash" "$1"
if ! command -v gcc >"$fate" || ! mkdir -p "$1/demo" 2>"$fate" || ! [ -w "$1/demo" ]; then
	skip "the demo" "no gcc, or $1 cannot be written"
	finish
fi
scripts/demo "$1" >"$out" 2>"$err"
check $? "the demo runs" "$(tail -n 3 "$err")"
sed -n '/^The hottest stacks/,/^By process/p' "$out" >"$tmp/stacks"
[ "$(grep -c '^    -  ' "$tmp/stacks")" -eq 4 ]
check $? "it shows four stacks" "$(cat "$tmp/stacks")"
! grep -E '^ +\[[^]]+\]$' "$tmp/stacks" >"$tmp/nameless" && grep -q '^    main$' "$tmp/stacks"
check $? "all their functions have names" "$(tr '\n' ' ' <"$tmp/nameless")"
grep -q '^Try next:' "$out"
check $? "and ends with what to try next" "$(tail -n 3 "$out")"
finish
