#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes of another account that try to keep a profiler of the whole machine busy:
# names_hostile_test.sh BUILD
# timeout: 300
# quiet: it limits the seconds that a report takes
# shellcheck disable=SC2034 # harness.bash uses at_exit
# kind: strangers
. "$(dirname "$0")/../harness.bash" "$1"
uid=1001
hostile=$(dirname "$0")/../../hostile/hostile.py
remove() { find /tmp -maxdepth 1 -name 'perf-*.map' -user $uid -delete; }
at_exit=remove
if ! command -v setpriv >"$fate" || [ ! -x /usr/bin/python3 ]; then
	skip "all" "needs setpriv and python3"
	finish
fi
install -d -o $uid "$tmp/files"
chmod 755 "$tmp"
[ -z "${TMPDIR-}" ] || chmod 711 "$TMPDIR"
"$programs/nested" 600000 >"$fate" &
started+=($!)
victim=$!
begin setpriv --reuid $uid --regid $uid --clear-groups /usr/bin/python3 "$hostile" "$tmp/files/of" || finish

# The limits in seconds are for what these processes do to us, not for what other programs of a busy
# machine take: ours and its readers of files go before all others, where that is allowed.
first=(chrt -r 1)
"${first[@]}" true 2>"$fate" || first=()

# ---- a report of all processes
begin_ms=$(date +%s%3N)
timeout 60 "${first[@]}" "$profile" -F 99 -f 2 >"$out" 2>"$err"
status=$?
took=$(($(date +%s%3N) - begin_ms))
exits "a report of the machine is printed" 0
[ $took -lt $((5000 * slow)) ]
check $? "... in 5 s" "$took ms: $(tail -n 3 "$err")"
has "their processes are in it" '^python3;'
says "it says whose files took the time" "names are missing: [0-9]+ files .* uid $uid"
has "another account's process has its names" '^nested;.*;main;outer;middle;inner;burn'
[ "$(counted '^nested;.*;inner(;burn.*)?$')" -gt 0 ] &&
	calculates "$(counted '^nested;.*;main;outer;middle;inner') > 0.9 * $(counted '^nested;.*;main;')"
check $? "... all of them" "$(grep '^nested' "$out" | tail -n 3)"

# ---- Ctrl-C
"${first[@]}" "$profile" -F 99 -o - -o "$tmp/run.folded" --format text --format folded 60 >"$tmp/run.text" 2>"$err" &
run=$!
started+=($run)
await 60 samples_by_now
works "$victim" 5
kill -INT $run 2>>"$fate"
begin_ms=$(date +%s%3N)
wait $run
status=$?
took=$(($(date +%s%3N) - begin_ms))
mv "$tmp/run.folded" "$out"
exits "SIGINT ends a measurement with its report" 0
[ $took -lt $((4000 * slow)) ]
check $? "... in 4 s" "$took ms: $(tail -n 3 "$err")"
has "... which has samples" '^python3;'

# ---- a process that the user named may take longer, and ends, too
pid=$(pgrep -u $uid -f hostile.py | tail -n 1)
begin_ms=$(date +%s%3N)
timeout 120 "${first[@]}" "$profile" -F 99 -f -p "$pid" 1 >"$out" 2>"$err"
status=$?
took=$(($(date +%s%3N) - begin_ms))
exits "one of theirs can be measured" 0
[ $took -lt $((25000 * slow)) ]
check $? "... in 25 s" "$took ms: $(tail -n 3 "$err")"
kill -0 $victim 2>"$fate"
check $? "the other process still runs" "it is gone"
finish
