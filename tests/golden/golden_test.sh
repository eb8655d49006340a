#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints recordings and compares with tests/golden/expected, byte for byte.
#	golden_test.sh BUILD_DIR		needs BUILD_DIR/print_recording and make_recordings
#	golden_test.sh --write BUILD_DIR	writes recordings and expectations anew: read the diff
set -u
here=$(cd "$(dirname "$0")" && pwd)
write=
if [ "${1-}" = --write ]; then
	write=1
	shift
fi
if [ $# -ne 1 ]; then
	echo "usage: golden_test.sh [--write] BUILD_DIR" >&2
	exit 2
fi
build=$(cd "$1" && pwd) || exit 2
made=$(mktemp -d) || exit 2
trap 'rm -rf "$made"' EXIT
failed=0

report() { # NAME STATUS
	if [ "$2" -eq 0 ]; then
		echo "ok $1"
	else
		echo "FAIL $1"
		failed=1
	fi
}

[ -z "$write" ] || "$build/make_recordings" "$here/recordings" || exit 2

# The committed recordings are what their source makes, and the format has not changed.
"$build/make_recordings" "$made" || exit 2
for recording in "$made"/*.stacktally; do
	name=$(basename "$recording")
	cmp "$recording" "$here/recordings/$name"
	report "recording-$name" $?
done

while read -r name recording format options; do
	case $name in '' | '#'*) continue ;; esac
	expected=$here/expected/$name.txt
	# shellcheck disable=SC2086 # options are words
	"$build/print_recording" "$here/recordings/$recording.stacktally" "$format" $options \
		>"$made/$name.txt" || { report "$name" 1; continue; }
	[ -z "$write" ] || cp "$made/$name.txt" "$expected"
	diff -u "$expected" "$made/$name.txt"
	report "$name" $?
done <"$here/cases"
exit "$failed"
