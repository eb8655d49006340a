#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of tests/root/harness.bash: none of them passes on an empty report or after a measurement
# that failed: harness_test.sh BUILD
. "$(dirname "$0")/../root/harness.bash" "$1"

# verdict WANTED NAME CHECK...: the check prints WANTED (ok or FAIL) for this report
verdict() {
	local said wanted=$1 name=$2
	said=$("${@:3}")
	[[ $said == "$wanted "* ]]
	check $? "$name" "$said"
}
status=0
: >"$out"
echo '0 samples, 0 stacks, 0 lost' >"$err"
verdict FAIL "has fails on an empty report" has case ';main'
verdict FAIL "lacks fails on an empty report" lacks case ';main'
verdict ok "none passes on an empty report" none case
verdict FAIL "named_work fails on an empty report" eval 'named_work main; check $? case ""'
status=1
verdict FAIL "none fails if the measurement failed" none case
status=0
: >"$err"
verdict FAIL "none fails without a closing line" none case
echo 'nested;main;outer 30' >"$out"
echo '30 samples, 1 stack, 0 lost' >"$err"
verdict ok "has passes on a stack that matches" has case ';main'
verdict FAIL "has fails if none matches" has case ';inner'
verdict ok "lacks passes if none matches" lacks case ';inner'
verdict FAIL "lacks fails on a stack that matches" lacks case ';main'
verdict FAIL "none fails if there are samples" none case
echo '0 samples, 0 stacks, 3 lost' >"$err"
: >"$out"
verdict FAIL "none fails if samples were lost" none case
finish
