#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The test runner itself: runner_test.sh BUILD. Given tests that pass, fail, skip, crash, hang or
# print nothing, it must count each correctly, say why, and end with the right line and status.
top=$(cd "$(dirname "$0")/../.." && pwd)
unset TEST_ALL # of the run that this test is part of
fake=$TMPDIR/fake
mkdir -p "$fake"/{cli,unit,fuzz,root/group} "$TMPDIR/build/tests/unit" "$TMPDIR/build/fuzz/tests/fuzz"

# expect NAME STATUS LAST_LINE [TEXT...]: runs the fake tests of $section (cli) with the options
# $options, and removes them; the output must contain each TEXT
section=cli options=()
expect() {
	local name=$1 status=$2 last=$3 out got text
	shift 3
	out=$("$top/tests/run" "${options[@]}" --only "$section" --tests "$fake" "$TMPDIR/build" 2>&1)
	got=$?
	rm -f "$fake"/{cli,unit,root/group}/*_test.sh "$fake"/unit/* "$TMPDIR"/build/tests/unit/*
	[ $got = "$status" ] || { echo "$out"; echo "FAIL $name: status $got, not $status"; return; }
	[ "$(tail -n 1 <<<"$out")" = "$last" ] ||
		{ echo "$out"; echo "FAIL $name: last line '$(tail -n 1 <<<"$out")'"; return; }
	for text in "$@"; do
		[[ $out == *"$text"* ]] || { echo "$out"; echo "FAIL $name: no '$text'"; return; }
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
expect "a test that hangs is ended and fails" 1 "1 passed, 1 failed, 0 skipped" "ran out of its 2 s"

# is_killed NAME: the process in $TMPDIR/left is
is_killed() {
	# A zombie that waits for its parent is as good as gone.
	if [ "$(ps -o stat= -p "$(cat "$TMPDIR/left")" | cut -c1)" = S ]; then
		echo "FAIL $1: process $(cat "$TMPDIR/left") still runs"
	else
		echo "ok $1"
	fi
}
fake leave <<<'tail -f /dev/null & echo $! >'"$TMPDIR/left"'; echo "ok one"'
expect "a test may leave a process running" 0 "1 passed, 0 failed, 0 skipped"
is_killed "what a test leaves running is killed"
fake leave <<<'setsid bash -c "echo \$\$ >'"$TMPDIR/left.new; mv $TMPDIR/left.new $TMPDIR/left"'; exec tail -f /dev/null" &
until [ -e '"$TMPDIR/left"' ]; do sleep 0.01; done; echo "ok one"'
rm "$TMPDIR/left"
expect "one in a session of its own is named" 0 "1 passed, 0 failed, 0 skipped" "cli/leave_test.sh left running: "
is_killed "and killed"

fake tmp <<<'touch "$TMPDIR/file"; echo "$TMPDIR" >'"$TMPDIR/where"'; echo "ok one"'
expect "a test has a directory for its files" 0 "1 passed, 0 failed, 0 skipped"
if [ -s "$TMPDIR/where" ] && [ ! -e "$(cat "$TMPDIR/where")" ]; then
	echo "ok the directory is removed"
else
	echo "FAIL the directory is removed: '$(cat "$TMPDIR/where")' is there"
fi

# ---- side by side, alone, and left out
# Each waits until the other has begun.
meets() { echo ': >'"$TMPDIR/$1"'; until [ -e '"$TMPDIR/$2"' ]; do sleep 0.01; done; echo "ok '"$1"'"'; }
fake left < <(meets left right)
fake right < <(meets right left)
expect "programs run side by side" 0 "2 passed, 0 failed, 0 skipped"

fake busy <<<'# timeout: 20
until [ -e '"$TMPDIR/go"' ]; do sleep 0.01; done; rm '"$TMPDIR/go"'; echo "ok busy"'
fake calm <<<'# quiet: it measures
[ -e '"$TMPDIR/go"' ] && echo "FAIL calm: another one runs" || echo "ok calm"'
fake starter <<<': >'"$TMPDIR/go"'; echo "ok starter"'
expect "a program that says so runs alone, after the others" 0 "3 passed, 0 failed, 0 skipped" \
	"-- one at a time"

fake long <<<'# all: it takes long
echo "ok long"'
fake short <<<'[ -z "${TEST_ALL-}" ] && echo "ok short"'
expect "a long program is left out, and named" 0 "1 passed, 0 failed, 0 skipped" \
	"Left to make test-all: cli/long_test.sh"
fake long <<<'# all: it takes long
[ -n "$TEST_ALL" ] && echo "ok long"'
options=(--all --slowest 5)
expect "with --all it runs, and knows" 0 "1 passed, 0 failed, 0 skipped" "The 1 slowest"
options=()
fake long <<<'# all: it takes long
echo "ok long"'
options=(--match long)
expect "by its name, too" 0 "1 passed, 0 failed, 0 skipped"
options=()

fake hard <<<'for ((i = 0; i < 300000; i++)); do :; done; echo "ok hard"'
out=$("$top/tests/run" --slowest 1 --only cli --tests "$fake" "$TMPDIR/build")
rm "$fake/cli/hard_test.sh"
options=()
cpu=$(sed -n 's/.* passed, .* s, CPU \([0-9.]*\) s$/\1/p' <<<"$out" | head -n 1)
if awk "BEGIN { exit !($cpu >= 0.2) }"; then
	echo "ok the CPU time of a program is measured"
else
	echo "FAIL the CPU time of a program is measured: $out"
fi

section=unit
fake_unit tap <<<'#!/bin/sh
printf "1..3\nok 1 - a\nnot ok 2 - b\n# 1 != 2\nnot ok 3 # SKIP c\nnot ok - tests\n"; exit 1'
expect "cmocka programs are read" 1 "1 passed, 1 failed, 1 skipped" "unit/test_tap: b"

: >"$fake/unit/test_absent.c"
expect "a unit test that was not built fails" 1 "0 passed, 1 failed, 0 skipped" "exit status 127"

fake_unit cut <<<'#!/bin/sh
printf "1..3\nok 1 - a\n"'
expect "a cmocka program that ends early fails" 1 "1 passed, 1 failed, 0 skipped" "announced 3"

expect "a section without tests fails" 1 "0 passed, 1 failed, 0 skipped" \
	"unit: the whole section: it has no test program"
options=(--match nosuch)
expect "no test at all fails" 1 "0 passed, 0 failed, 0 skipped"

# ---- running again: root tests only
passes_later() { # FILE: fails when run first, passes from then on
	cat >"$1" <<<"[ -e '$TMPDIR/once' ] && echo 'ok one' || { : >'$TMPDIR/once'; echo 'FAIL one: at first'; }"
	rm -f "$TMPDIR/once"
}
options=(--again 1)
section=cli
passes_later "$fake/cli/unsteady_test.sh"
expect "a cli test that fails does not run again" 1 "0 passed, 1 failed, 0 skipped" "one: at first"
section=unit
passes_later "$TMPDIR/unsteady"
fake_unit unsteady < <(echo '#!/bin/sh'; echo 'echo 1..1'; sed 's/FAIL one/not ok 1 - one/; s/ok one/ok 1 - one/' "$TMPDIR/unsteady")
expect "nor does a unit test" 1 "0 passed, 1 failed, 0 skipped" "one: at first"
section=root
passes_later "$fake/root/group/unsteady_test.sh"
if "$top/tests/run" --only root --tests "$fake" --match unsteady "$TMPDIR/build" | grep -q '^SKIP all'; then
	echo "skip root tests that run again: this machine cannot run root tests"
else
	passes_later "$fake/root/group/unsteady_test.sh"
	echo 'echo "ok two"' >"$fake/root/group/steady_test.sh"
	expect "a root test that fails runs again, and is named before the last line" 0 \
		"2 passed, 0 failed, 0 skipped" "again: root/group/unsteady_test.sh" \
		"root/group/unsteady_test.sh: one: at first" \
		$'\n1 unsteady: root/group/unsteady_test.sh\n2 passed'
	echo 'echo "FAIL two: always"' >"$fake/root/group/fails_test.sh"
	expect "a root test that fails again has failed" 1 "0 passed, 1 failed, 0 skipped" "two: always"
	mkdir -p "$fake/vm"
	echo "echo 'ok last'" >"$fake/vm/last_test.sh"
	passes_later "$fake/root/group/fails_test.sh"
	section=root,vm
	expect "what changes the machine for good runs after that, and counts" 0 \
		"2 passed, 0 failed, 0 skipped" "again: root/group/fails_test.sh" "1 unsteady" \
		"ok   vm/last_test.sh"
	rm -r "$fake/vm"
fi

# ---- fuzz targets: a real one, that fails on inputs that begin with !!
section=fuzz options=(--again 1 --fuzz-seconds 30)
corpus=$fake/fuzz/corpus/bang
mkdir -p "$corpus"
echo harmless >"$corpus/harmless"
cat >"$fake/fuzz/fuzz_bang.c" <<'END'
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 && data[0] == '!' && data[1] == '!')
		__builtin_trap();
	return 0;
}
END
if ! clang -fsanitize=fuzzer "$fake/fuzz/fuzz_bang.c" -o "$TMPDIR/build/fuzz/tests/fuzz/fuzz_bang" 2>"$TMPDIR/log"; then
	echo "skip a crasher is kept: clang cannot build fuzz targets here: $(tail -n 1 "$TMPDIR/log")"
	exit
fi
expect "an input that crashes a fuzz target fails the run" 1 "0 passed, 2 failed, 0 skipped" \
	"/fuzz/corpus/bang/crash-"
crasher=$(find "$corpus" -name 'crash-*')
if [ "$(head -c 2 "$crasher")" = '!!' ]; then
	echo "ok the input is kept in the corpus"
else
	echo "FAIL the input is kept in the corpus: $(ls "$corpus")"
fi
# Without new inputs, and without those found before, only the corpus is left to fail on.
rm -r "$TMPDIR/build/fuzz/found"
echo '/* fuzz: corpus only */' >>"$fake/fuzz/fuzz_bang.c"
expect "the next run begins with it" 1 "0 passed, 2 failed, 0 skipped" "/${crasher##*/}"
rm -f "$crasher"
expect "without it the target passes" 0 "1 passed, 0 failed, 0 skipped"
