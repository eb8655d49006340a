#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The lists of the mutation run match the tree: the files and tests of tests/mutate/run are there, and
# tests/mutate/no_effect.md excuses only faults that can be made. A stale excuse hides a survivor.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
list=$top/tests/mutate/no_effect.md

if said=$("$top/tests/mutate/run" --check); then
	echo "ok the mutation run's lists match the tree"
else
	echo "$said"
	echo "FAIL the mutation run's lists match the tree: $(grep -c : <<<"$said") lines above"
fi

# Each kind of stale entry is found.
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT
finds() { # NAME ENTRY
	{ cat "$list"; echo "$2"; } >"$copy"
	if said=$("$top/tests/mutate/run" --check --no-effect "$copy"); then
		echo "FAIL $1 is found: $(tail -n 1 <<<"$said")"
	else
		echo "ok $1 is found"
	fi
}
entry=$(grep -m 1 '^- `tally.c`' "$list")
finds "a line that is gone" "${entry/address->flags/address->mood}"
finds "a fault that cannot be made" "${entry/return 0;/return 7;}"
finds "a function that has no such line" "${entry/hash_address/hash_nothing}"
finds "a file that is not mutated" "${entry/tally.c/story.c}"
finds "an entry without a reason" "${entry%: *}:"
