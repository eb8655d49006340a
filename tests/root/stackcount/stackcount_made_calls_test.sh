#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Calls of all functions of programs that are made at random, against the programs' own counts:
# stackcount_made_calls_test.sh BUILD
# timeout: 300
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"
here=$(realpath "$(dirname "$0")")
stackcount=$(realpath "$stackcount")
have_uprobes || {
	skip "calls of programs made at random" "$no_uprobes"
	finish
}
compiled=(-O0 -O1 -O2 '-O3 -fcf-protection=full' '-Os -fno-plt' '-O2 -static'
	'-O2 -fomit-frame-pointer -no-pie' '-O2 -fstack-clash-protection -fpatchable-function-entry=4')
cd "$tmp" || exit 1
programs=0 calls=0
for ((seed = 0; seed < ${TEST_ALL:+40}+8; seed++)); do
	how=${compiled[seed % ${#compiled[@]}]}
	python3 "$here/stackcount_made_calls.py" "$seed" >called.c
	# shellcheck disable=SC2086 # several options
	"${CC:-cc}" -w -pthread $how called.c -o called 2>"$err" || {
		fail "compiled ($seed, $how)" "$(tail -n 1 "$err")"
		continue
	}
	"$stackcount" -r -U -o got.folded "$tmp/called:^(f[0-9]+|handler|work)(\\..*)?\$" -- ./called >own 2>"$err"
	# A function that the compiler changed for its callers is that function.
	sed -E 's/.*;([a-z0-9]+)(\.[a-z.0-9]*)? ([0-9]+)$/\1 \3/' got.folded |
		awk '{ sum[$1] += $2 } END { for (name in sum) print name, sum[name] }' | sort >got
	sort own | cmp -s - got ||
		fail "calls of program $seed, $how" "$(sort own | diff - got | head -n 4) $(tail -n 2 "$err")"
	programs=$((programs + 1)) calls=$((calls + $(awk '{ sum += $2 } END { print sum + 0 }' own)))
done
[ "$failed" -eq 0 ] && [ "$calls" -gt 1000 ]
check $? "each call is counted, and nothing else" "$calls calls of $programs programs"
finish
