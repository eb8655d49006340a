#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The files that -o writes, and who may read them: outputs_test.sh BUILD
# kind: outputs
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
profile=$1/profile
recording=$top/tests/golden/recordings/profile.stacktally
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"

# ---- files of all formats are for their owner
umask 022
for extension in stacktally json perf pb.gz html svg folded txt csv speedscope.json profile.json; do
	"$profile" -q --from "$recording" -o "$tmp/out.$extension" 2>"$tmp/err"
	mode=$(stat -c %a "$tmp/out.$extension" 2>>"$tmp/err")
	[ "$mode" = 600 ]
	check $? "out.$extension has the mode 600" "$mode $(cat "$tmp/err")"
done

# ---- --title
"$profile" -q --from "$recording" --title 'The <shop>, "Friday"' -o "$tmp/titled.svg" 2>"$tmp/err"
[ "$(grep -c 'The &lt;shop&gt;, &quot;Friday&quot;</t' "$tmp/titled.svg")" = 2 ] && ! grep -q '>spin 5' "$tmp/titled.svg"
check $? "--title is the title of pictures" "$(grep title "$tmp/titled.svg" | head -n 3)"

# ---- files of sudo belong to who typed it
if [ "$(id -u)" = 0 ]; then
	for extension in stacktally json html folded csv; do
		SUDO_UID=1234 SUDO_GID=2345 "$profile" -q --from "$recording" \
			-o "$tmp/sudo.$extension" 2>"$tmp/err"
		[ "$(stat -c %u:%g "$tmp/sudo.$extension")" = 1234:2345 ]
		check $? "sudo.$extension is the user's who typed sudo" "$(stat -c %u:%g "$tmp/sudo.$extension")"
	done
	SUDO_UID=1234 SUDO_GID=2345 "$profile" -q --from "$recording" -o "$tmp/sudo.csv" 2>"$tmp/err"
	[ "$(stat -c %u:%g "$tmp/sudo.csv")" = 1234:2345 ] && ! ls "$tmp"/*stacktally-new >"$tmp/left" 2>&1
	check $? "... also one that is replaced" "$(ls -l "$tmp")"
	SUDO_UID=x "$profile" -q --from "$recording" -o "$tmp/root.csv" 2>"$tmp/err"
	[ "$(stat -c %u "$tmp/root.csv")" = 0 ]
	check $? "a SUDO_UID that is no number changes nothing" "$(stat -c %u "$tmp/root.csv")"
else
	skip "files of sudo" "it takes root"
fi

# ---- a file that may not grow as large; a recording is read through one in memory, which is small
(
	ulimit -f 16
	"$profile" -q --from "$recording" -o "$tmp/large.html"
) 2>"$tmp/err"
status=$?
[ $status -eq 1 ] && grep -q 'large.html: File too large' "$tmp/err"
check $? "beyond a limit of size, the message says so" "exit status $status: $(head -n 3 "$tmp/err")"
[ ! -e "$tmp/large.html" ]
check $? "... and no part of the file is left" "$(ls "$tmp")"

# ---- a file that is replaced
if command -v strace >"$tmp/err"; then
	mkdir "$tmp/replaced"
	echo old >"$tmp/replaced/x.folded"
	{
		strace -f -o "$tmp/trace" -e trace=rename -e inject=rename:signal=KILL \
			"$profile" -q --from "$recording" -o "$tmp/replaced/x.folded"
	} 2>"$tmp/err"
	[ "$(cat "$tmp/replaced/x.folded")" = old ] && [ "$(ls "$tmp/replaced" | wc -l)" -eq 2 ]
	check $? "killed just before it replaces a file" "$(ls "$tmp/replaced")"
	"$profile" -q --from "$recording" -o "$tmp/replaced/x.folded" 2>"$tmp/err"
	[ "$(ls "$tmp/replaced")" = x.folded ] && "$profile" -q --from "$recording" -f 2>"$tmp/err" | cmp - "$tmp/replaced/x.folded"
	check $? "... the next run leaves the new file only" "$(ls "$tmp/replaced")"
	for ((i = 0; i < 40; i++)); do
		"$profile" -q --from "$recording" -o "$tmp/replaced/x.folded" 2>"$tmp/err.$i" || cat "$tmp/err.$i" >>"$tmp/errors" &
		((i % 8)) || wait
	done
	wait
	[ ! -e "$tmp/errors" ] && [ "$(ls "$tmp/replaced")" = x.folded ]
	check $? "many runs at once replace it without an error" "$(cat "$tmp"/err*; ls "$tmp/replaced")"
else
	echo "skip killed just before it replaces a file: there is no strace"
fi
exit $failed
