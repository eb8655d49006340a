#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/messages.md, the source and the tests have the same messages: messages_test.sh BUILD
# Reports of this kind: an empty answer without a word, and an option that is silently dropped.
# kind: silence
. "$(dirname "$0")/../check.bash"
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT

python3 - "$top" >"$tmp/rows" <<'PY'
import glob, os, re, sys

top = sys.argv[1]
source = ""
for path in glob.glob(f"{top}/src/**/*.c", recursive=True):
    with open(path, encoding="utf-8") as f:
        # Adjacent literals are one text; the names of macros between them do not matter here.
        source += re.sub(r'"\s*"', "", f.read())
with open(f"{top}/docs/messages.md", encoding="utf-8") as f:
    rows = re.findall(r"^\| `([^`]+)` \|.*\| ([^|]+) \|$", f.read(), re.M)
for message, test in rows:
    why = ""
    if message not in source:
        why = "the source does not say it"
    else:
        path = os.path.join(top, test)
        if not os.path.exists(path):
            why = f"there is no {test}"
        else:
            with open(path, encoding="utf-8") as f:
                # Tests have it as a regular expression.
                text = re.sub(r"\\(.)", r"\1", re.sub(r"\[([.])\]", r"\1", f.read()))
            if message.split("%")[0].strip() not in text:
                why = f"{test} does not"
    print(f"{'FAIL' if why else 'ok'}\t{message}\t{why}")
PY
while IFS=$'\t' read -r result message why; do
	[ "$result" = ok ]
	check $? "said and tested: $message" "$why"
done <"$tmp/rows"
[ "$(wc -l <"$tmp/rows")" -gt 20 ]
check $? "the table is found" "$(wc -l <"$tmp/rows") rows"
# What run/empty.c says has a row each.
python3 - "$top" >"$tmp/said" <<'PY'
import re, sys

with open(f"{sys.argv[1]}/src/tools/run/empty.c", encoding="utf-8") as f:
    source = re.sub(r'"\s*"', "", f.read())
with open(f"{sys.argv[1]}/docs/messages.md", encoding="utf-8") as f:
    rows = re.findall(r"^\| `([^`]+)` \|", f.read(), re.M)
for said in re.findall(r'message_note\("((?:[^"\\]|\\.)*)"', source):
    if not any(row in said for row in rows):
        print(said)
PY
[ ! -s "$tmp/said" ]
check $? "each line about an empty report has a row" "$(cat "$tmp/said")"

# ---- options that are given twice
refuses() { # NAME OPTION...
	"$build/profile" "${@:2}" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q "given twice, and only one can hold" "$tmp/err"
	check $? "$1" "$(head -n 2 "$tmp/err")"
}
refuses "two files to read" --from a --from b
refuses "two names" --name a --name b 1
refuses "two files to compare with" --diff a --diff=b 1

# ---- names in the place of ids
hints() { # NAME HINT OPTION...
	"$build/profile" "${@:3}" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -qxF "Try '$2', or 'profile --help'." "$tmp/err"
	check $? "$1" "$(cat "$tmp/err")"
}
hints "a name in the place of an id" '--name node' -p node 1
hints "several names" '-p $(pgrep -d, -x "node|java")' -p node,java 1
hints "a name in the place of the duration" '--name nginx' -F 99 nginx
"$build/profile" -p 'a$(b)' 1 2>"$tmp/err"
grep -qxF "Try 'profile --help'." "$tmp/err"
check $? "what a shell would run is not repeated" "$(cat "$tmp/err")"

# ---- a reader that goes away
recording=$top/tests/golden/recordings/profile.stacktally
for format in folded text json; do
	(
		trap '' PIPE
		"$build/profile" --from "$recording" --format "$format" 2>"$tmp/err"
		echo $? >"$tmp/status"
	) | :
	for ((i = 0; i < 100; i++)); do [ -s "$tmp/status" ] && break || sleep 0.1; done
	! grep -q 'Broken pipe' "$tmp/err"
	check $? "a closed pipe is no message: $format" "$(cat "$tmp/err")"
	rm -f "$tmp/status"
done
"$build/profile" --from "$recording" -f >/dev/full 2>"$tmp/err"
grep -q 'cannot write standard output: No space left on device' "$tmp/err"
check $? "a full disk still is" "$(cat "$tmp/err")"
exit $failed
