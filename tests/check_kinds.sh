#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each root test names the kind of fault that it looks for, as docs/testing.md lists them, and each
# kind has a test. Called by the test runner.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)

# kinds_of TOP: what is wrong there
kinds_of() {
	local tests table named
	cd "$1" || return
	tests=$(find tests -name '*_test.sh' -path 'tests/root/*' ! -path 'tests/root/bench/*' | sort)
	table=$(sed -n '/^## Kinds of faults/,/^## How long/s/^| \([a-z ]*\) |.*/\1/p' docs/testing.md | grep -vx kind)
	named=$(grep -rhs --include='*_test.sh' '^# kind: ' tests | cut -d' ' -f3- | sort -u)
	for test in $tests; do
		[ "$(grep -c '^# kind: ' "$test")" -eq 1 ] || echo "$test names no kind, or several"
	done
	comm -13 <(sort <<<"$table") <(echo "$named") | sed 's/$/ is no kind of docs\/testing.md/'
	comm -23 <(sort <<<"$table") <(echo "$named") | sed 's/$/ is a kind without a test/'
}
wrong=$(kinds_of "$top")
if [ -z "$wrong" ]; then
	echo "ok tests name the kind of fault that they look for"
else
	echo "$wrong"
	echo "FAIL tests name the kind of fault that they look for"
fi

# The check finds each kind of mistake, in a copy.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
expect() {
	local what=$1 want=$2
	rm -rf "$copy/tests" "$copy/docs"
	mkdir -p "$copy/tests" "$copy/docs"
	cp -r "$top/tests/root" "$top/tests/cli" "$copy/tests"
	cp "$top/docs/testing.md" "$copy/docs"
	(cd "$copy" && eval "$3")
	if [[ $(kinds_of "$copy") == *"$want"* ]]; then
		echo "ok $what is found"
	else
		echo "FAIL $what is found: no line says '$want'"
	fi
}
lives=tests/root/profile/lives_test.sh
expect 'a test without a kind' 'lives_test.sh names no kind' "sed -i '/^# kind/d' $lives"
expect 'a kind that is not listed' 'death is no kind' "sed -i 's/^# kind: lives/# kind: death/' $lives"
expect 'a kind without a test' 'nothing is a kind without' \
	"sed -i 's/^| lives |/| nothing | x |\n| lives |/' docs/testing.md"
