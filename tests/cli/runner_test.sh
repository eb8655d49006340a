#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The test runner itself: given tests that pass, fail, skip, crash, hang and say nothing, it must
# count each as what it is, say why, and end with the right line and status.
top=$(cd "$(dirname "$0")/../.." && pwd)
fake=$TMPDIR/fake
mkdir -p "$fake"/{cli,unit} "$TMPDIR/build/tests/unit"

# expect NAME STATUS LAST_LINE [TEXT...]: what the runner made of the fake tests
expect() {
	local name=$1 status=$2 last=$3 out got text
	shift 3
	out=$("$top/tests/run" --again "${again:-0}" --only cli,unit --tests "$fake" "$TMPDIR/build" 2>&1)
	got=$?
	rm -f "$fake"/cli/* "$fake"/unit/* "$TMPDIR"/build/tests/unit/*
	[ $got = "$status" ] || { echo "$out"; echo "FAIL $name: status $got, not $status"; return; }
	[ "$(tail -n 1 <<<"$out")" = "$last" ] ||
		{ echo "$out"; echo "FAIL $name: last line '$(tail -n 1 <<<"$out")'"; return; }
	for text in "$@"; do
		grep -qF -- "$text" <<<"$out" || { echo "$out"; echo "FAIL $name: no '$text'"; return; }
	done
	echo "ok $name"
}
fake() { cat >"$fake/cli/$1_test.sh"; }
fake_unit() {
	: >"$fake/unit/test_$1.c"
	cat >"$TMPDIR/build/tests/unit/test_$1"
	chmod +x "$TMPDIR/build/tests/unit/test_$1"
}

fake pass <<<'echo "ok one"; echo "ok two"; echo noise'
expect "passes are counted" 0 "2 passed, 0 failed, 0 skipped"

fake fail <<<'echo "ok one"; echo "the reason is here"; echo "FAIL two: not equal"'
expect "a FAIL line fails and shows the log" 1 "1 passed, 1 failed, 0 skipped" \
	"two: not equal" "| the reason is here"

fake skip <<<'echo "ok one"; echo "skip two: no such kernel"'
expect "a skip is counted and its reason shown" 0 "1 passed, 0 failed, 1 skipped" \
	"cli/skip_test.sh: two: no such kernel"

fake status <<<'echo "ok one"; exit 3'
expect "a bad exit status fails" 1 "1 passed, 1 failed, 0 skipped" "exit status 3"

fake crash <<<'echo "ok one"; kill -SEGV $$'
expect "a crash fails" 1 "1 passed, 1 failed, 0 skipped" "SIGSEGV"

fake silent <<<'echo nothing of note'
expect "a test without a result fails" 1 "0 passed, 1 failed, 0 skipped" "printed no result"

fake hang <<<'# timeout: 1
echo "ok one"; exec tail -f /dev/null'
expect "a test that hangs is ended and fails" 1 "1 passed, 1 failed, 0 skipped" "ran out of its 1 s"

fake leave <<<'tail -f /dev/null & echo $! >'"$TMPDIR/left"'; echo "ok one"'
expect "a test may leave a process running" 0 "1 passed, 0 failed, 0 skipped"
# A zombie that waits for its parent is as good as gone.
if [ "$(ps -o stat= -p "$(cat "$TMPDIR/left")" | cut -c1)" = S ]; then
	echo "FAIL what a test leaves running is killed: process $(cat "$TMPDIR/left") still runs"
else
	echo "ok what a test leaves running is killed"
fi

fake tmp <<<'touch "$TMPDIR/file"; echo "$TMPDIR" >'"$TMPDIR/where"'; echo "ok one"'
expect "a test has a directory for its files" 0 "1 passed, 0 failed, 0 skipped"
if [ -s "$TMPDIR/where" ] && [ ! -e "$(cat "$TMPDIR/where")" ]; then
	echo "ok the directory is removed"
else
	echo "FAIL the directory is removed: '$(cat "$TMPDIR/where")' is there"
fi

fake_unit tap <<<'#!/bin/sh
printf "1..3\nok 1 - a\nnot ok 2 - b\n# 1 != 2\nnot ok 3 # SKIP c\nnot ok - tests\n"; exit 1'
expect "cmocka programs are read" 1 "1 passed, 1 failed, 1 skipped" "unit/test_tap: b"

: >"$fake/unit/test_absent.c"
expect "a unit test that was not built fails" 1 "0 passed, 1 failed, 0 skipped" "exit status 127"

fake_unit cut <<<'#!/bin/sh
printf "1..3\nok 1 - a\n"'
expect "a cmocka program that ends early fails" 1 "1 passed, 1 failed, 0 skipped" "announced 3"

expect "no test at all is a failure" 1 "0 passed, 0 failed, 0 skipped"

again=1
fake unsteady <<<"[ -e '$TMPDIR/once' ] && echo 'ok one' || { : >'$TMPDIR/once'; echo 'FAIL one: at first'; }"
expect "what fails once is run again, and named" 0 "1 passed, 0 failed, 0 skipped" \
	"again: cli/unsteady_test.sh" "Failed once, but not when run again:" "one: at first"
fake fail <<<'echo "FAIL two: always"'
expect "what fails again has failed" 1 "0 passed, 1 failed, 0 skipped" "two: always"
