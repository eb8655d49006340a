#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/stories.md print what stands there, and a changed document is noticed: stories_test.sh BUILD
# timeout: 240
# kind: silence
. "$(dirname "$0")/../harness.bash" "$1"
here=$(dirname "$0")

python3 "$here/stories.py" docs/stories.md "$1" 2>"$err" || {
	failed=1
	cat "$err"
}
# An option that is not there, a line that is not printed, another column: each is told.
awk '/^## / { on = /^## (Too many|It was slow)/ } on || /^# /' docs/stories.md >"$tmp/true.md"
sed 's/ -U --format text -- bash/ -U --layout text -- bash/
	s/^    Detaching\.\.\.$/    Detached./
	s/before      now   change  process /before      now  process /' "$tmp/true.md" >"$tmp/altered.md"
[ "$(diff "$tmp/true.md" "$tmp/altered.md" | grep -c '^>')" -eq 3 ]
check $? "three commands are altered" "$(diff "$tmp/true.md" "$tmp/altered.md")"
python3 "$here/stories.py" "$tmp/altered.md" "$1" >"$out" 2>&1
for command in 'profile -F 199 -U --layout' 'stackcount -U' 'profile --from'; do
	grep -q "^FAIL [^:]*: $command" "$out"
	check $? "... and it is noticed: $command" "$(grep -E '^(ok|FAIL)' "$out")"
done
finish
