#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints recordings and compares the output with tests/golden/expected, byte for byte. A case whose
# format is --from prints its recording by the command itself, with its options; one whose format is
# foreign reads another case's expected output; one whose format is stackcount has that command
# measure or list a program of tests/golden/programs.
#	golden_test.sh BUILD_DIR		compares; its two programs are linked with BUILD_DIR/libcore.a
#	golden_test.sh --write BUILD_DIR	overwrites recordings and expected output: read the diff
# kind: foreign files
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

for program in golden/print_recording recordings/make_recordings; do
	"${CC:-gcc}" -std=gnu17 -D_GNU_SOURCE -O1 $("$here/../../scripts/rooms" flags) "$here/../$program.c" \
		"$build/libcore.a" -lunistring -lz -o "$made/${program#*/}" || exit 2
done
mkdir "$made/recordings" || exit 2

cannot_measure=
if [ "$(uname -m)" != x86_64 ]; then
	cannot_measure="the program is one for x86-64"
elif [ "$(id -u)" -ne 0 ]; then
	cannot_measure="measuring needs root"
elif [ ! -e /sys/bus/event_source/devices/uprobe ]; then
	cannot_measure="the kernel has no uprobes"
fi

report() { # NAME STATUS
	if [ "$2" -eq 0 ]; then
		echo "ok $1"
	else
		echo "FAIL $1"
		failed=1
	fi
}

[ -z "$write" ] || "$made/make_recordings" "$here/recordings" || exit 2

# The committed recordings are those that the program makes: the format has not changed.
"$made/make_recordings" "$made/recordings" || exit 2
for recording in "$made"/recordings/*.stacktally; do
	name=$(basename "$recording")
	cmp "$recording" "$here/recordings/$name"
	report "recording-$name" $?
done

while read -r name recording format options; do
	case $name in '' | '#'*) continue ;; esac
	expected=$here/expected/$name.txt
	if [ "$format" = pprof ] && ! command -v protoc >/dev/null; then
		echo "skip $name: protoc is not installed"
		continue
	fi
	if [ "$format" = stackcount ]; then
		if [ -n "$cannot_measure" ]; then
			echo "skip $name: $cannot_measure"
			continue
		fi
		# shellcheck disable=SC2086 # options are words
		(cd "$here/programs" && "$build/stackcount" $options) >"$made/$name.txt" 2>&1
	elif [ "$format" = --from ]; then
		# shellcheck disable=SC2086 # options are words
		(cd "$here/recordings" && "$build/profile" --from "$recording.stacktally" $options) \
			>"$made/$name.txt" 2>&1 || { report "$name" 1; continue; }
	elif [ "$format" = foreign ]; then
		# shellcheck disable=SC2086 # options are words
		(cd "$here/expected" && "$build/profile" --from "$recording.txt" $options) >"$made/$name.txt" 2>&1
	else
		# shellcheck disable=SC2086
		"$made/print_recording" "$here/recordings/$recording.stacktally" "$format" $options \
			>"$made/$name.txt" || { report "$name" 1; continue; }
	fi
	if [ "$format" = pprof ]; then
		# print_recording appends warnings, which gzip ignores.
		gzip -dcq <"$made/$name.txt" 2>"$made/null" | protoc --decode_raw >"$made/$name.raw"
		mv "$made/$name.raw" "$made/$name.txt"
	fi
	[ -z "$write" ] || cp "$made/$name.txt" "$expected"
	diff -u "$expected" "$made/$name.txt"
	report "$name" $?
done <"$here/cases"
# An expected output without a case would never be compared.
expectations=$(cd "$here/expected" && printf '%s\n' *.txt | sort)
[ "$(sed -n 's/^\([^# ][^ ]*\) .*/\1.txt/p' "$here/cases" | sort)" = "$expectations" ]
report "each expected output has a case" $?
exit "$failed"
