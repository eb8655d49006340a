#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users are told of missing symbols: names_missing_test.sh BUILD
# kind: symbols
. "$(dirname "$0")/../harness.bash" "$1"
without_note() { # without_note NAME
	! grep -q 'no symbol' "$err" && grep -q samples, "$err"
	check $? "$1" "$(cat "$err")"
}
unset DEBUGINFOD_URLS BCC_DEBUGINFO_ROOT BCC_SYMFS
strip -o "$tmp/stripped" "$programs/nested"
id=$(readelf -n "$tmp/stripped" | sed -n 's/^ *Build ID: //p')

# ---- the note
measure -F 499 -U -o "$tmp/stripped.stacktally" -- "$tmp/stripped" $((200 * slow))
says "a note says how many frames have no symbol, and of which file" \
	'^[0-9]+ % of user frames have no symbol: stripped \([0-9]+ %\).*; profile --symbols tells how to get them$'
[[ $(tail -n 1 "$err") == *--symbols* ]]
check $? "it is the last line" "$(tail -n 2 "$err")"
measure -F 499 -U -f -- "$programs/nested" $((200 * slow))
without_note "no note where most frames have one"
measure -F 499 -U -f -q -- "$tmp/stripped" $((200 * slow))
[ ! -s "$err" ] && [ "$(total)" -gt 50 ]
check $? "no note with -q" "$(cat "$err")"

# ---- the table
"$profile" --from "$tmp/stripped.stacktally" --symbols >"$out" 2>"$err"
says "the table has share, build-id and path of a file of no package" \
	"^ *[0-9.]+%  +[0-9.]+%  $id  -  +$tmp/stripped$" "$out"
says "and says what to do about such files" '^Files of no package of this system: keep their symbols' "$out"
says "and that no server is set" '^is not set now:$' "$out"
without_note "the note is not repeated with it"
DEBUGINFOD_URLS=http://127.0.0.1:9 "$profile" --from "$tmp/stripped.stacktally" --symbols >"$out" 2>"$err"
says "or that one is" '^DEBUGINFOD_URLS is set: http://127.0.0.1:9$' "$out"

# ---- packages
owned=$(readlink -f "$(command -v gzip)")
if owner=$(dpkg-query --search "$owned" 2>"$fate" || dpkg-query --search "${owned#/usr}" 2>"$fate"); then
	owner=${owner%%:*}
	head -c 60000000 /dev/urandom >"$tmp/random"
	measure -F 499 -U --symbols -- sh -c 'gzip -c "$0" >/dev/null' "$tmp/random"
	says "the package of a file is found" "^ *[0-9.]+%  +[0-9.]+%  [0-9a-f]+  +$owner +$owned$" "$out"
	says "and the command that installs its symbols" "^    apt install .*\b$owner-dbgsym\b" "$out"
	# Another file at that path is not the one that was measured.
	cp "$tmp/stripped" "$tmp/gzip"
	measure -F 499 -U -o "$tmp/gzip.stacktally" -- "$tmp/gzip" $((200 * slow))
	cp "$owned" "$tmp/gzip"
	"$profile" --from "$tmp/gzip.stacktally" --symbols >"$out" 2>"$err"
	says "a file in the place of the one that was measured has no package" "  $id  -  +$tmp/gzip$" "$out"
else
	skip "the package of a file is found" "there is no dpkg, or it does not know gzip"
fi

# ---- nothing goes over a network
if command -v strace >"$fate"; then
	strace -f -o "$tmp/trace" -e trace=socket,connect "$profile" --from "$tmp/stripped.stacktally" --symbols \
		>"$out" 2>"$err"
	! grep -q AF_INET "$tmp/trace" && grep -q 'exited with 0' "$tmp/trace" && [ -s "$out" ]
	check $? "no socket of a network is made" "$(grep AF_INET "$tmp/trace"; tail -n 2 "$tmp/trace")"
else
	skip "no socket of a network is made" "there is no strace"
fi
finish
