#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A report whose reader does not read says what it waits for: slow_reader_test.sh BUILD
# Reports of this kind: a command that does not end, and nothing tells why.
# kind: time
set -u
profile=$1/profile
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
child=
trap '[ -z "$child" ] || kill "$child" 2>"$tmp/fate"; rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1
recording=$top/tests/golden/recordings/profile.stacktally
mkfifo fifo

# said REGEX: within 20 s, the error output has such a line
said() {
	for _ in {1..200}; do
		grep -qE -- "$1" err && return
		sleep 0.1
	done
	return 1
}

"$profile" --from "$recording" --format html -o fifo 2>err &
child=$!
said '^fifo: waiting for a reader to open this FIFO$'
check $? "a FIFO that nobody has opened" "$(cat err)"
cat fifo >read
wait "$child"
[ $? -eq 0 ] && [ "$(wc -c <read)" -gt 65536 ] && "$profile" -q --from "$recording" --format html >direct && cmp -s read direct
check $? "once it is opened, it gets the report" "$(wc -c read direct)"

# Opened, and not read: a page is larger than a pipe.
exec 3<>fifo
"$profile" --from "$recording" --format html -o fifo 2>err &
child=$!
said '^waiting for the reader of fifo$'
check $? "a reader that has stopped" "$(cat err)"
head -c "$(wc -c <direct)" <&3 >read
wait "$child"
[ $? -eq 0 ] && cmp -s read direct && [ "$(grep -c ^waiting err)" -eq 1 ]
check $? "once it reads, it gets the report" "$(wc -c read direct; cat err)"
exec 3<&-

"$profile" --from "$recording" --format html 2>err | (sleep 2; wc -c >read)
[ "$(<read)" -eq "$(wc -c <direct)" ] && grep -q '^waiting for the reader of standard output$' err
check $? "standard output, likewise" "$(cat read err)"
"$profile" -q --from "$recording" --format html 2>err | head -c 100 >read
[ "${PIPESTATUS[0]}" -le 1 ] && [ ! -s err ]
check $? "a reader that closes it ends the command without a message" "$(cat err)"
"$profile" -q --from "$recording" --format html >/dev/full 2>err
[ $? -eq 1 ] && grep -q 'cannot write standard output: No space left' err
check $? "a device that takes nothing is told" "$(cat err)"
child=
exit $failed
