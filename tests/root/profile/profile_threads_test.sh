#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads and their names: profile_threads_test.sh BUILD
# timeout: 180
# kind: lives
. "$(dirname "$0")/../harness.bash" "$1"

# Each thread runs for 50 ms, which is 50 samples at 997 Hertz.
"$profile" -F 997 -o "$tmp/all.folded" -- "$programs/threads" 64 50 >"$fate" 2>"$err"
missing=''
for ((i = 0; i < 64; i++)); do
	[ "$(counted "^worker-$i;(.*;)?work;burn(;|\$)" "$tmp/all.folded")" -gt 0 ] || missing+=" $i"
done
[ -z "$missing" ]
check $? "each of 64 threads is seen under its name" "missing:$missing"
[ "$(cut -d';' -f1 "$tmp/all.folded" | grep '^worker-' | sort -u | wc -l)" -eq 64 ]
check $? "and no other name" "$(cut -d';' -f1 "$tmp/all.folded" | sort -u)"

"$profile" -F 997 --per-thread -o "$tmp/all.folded" -- "$programs/threads" 64 50 >"$tmp/said" 2>"$err"
pid=$(sed -n 's/^ready //p' "$tmp/said") wrong=''
while read -r name tid; do
	[[ $name != worker-* ]] || grep -q "^$name-$pid/$tid;" "$tmp/all.folded" ||
		wrong+=" $name-$pid/$tid"
done <"$tmp/said"
[ "$(grep -c '^worker-' "$tmp/said")" -eq 64 ] && [ -z "$wrong" ]
check $? "--per-thread shows the ids of all 64" "no$wrong; first: $(head -n 1 "$tmp/all.folded")"

# nice: otherwise these eight threads would delay the report.
begin nice -n 10 "$programs/threads" 8 0 || finish
measure -F 499 --per-thread -p "$pid" $slow
tid=$(awk '$1 == "worker-7" { print $2 }' <<<"$said")
says "the multi-line report shows them too" "^    - +worker-7 \\($pid/$tid\\)\$" "$out"

measure -F 499 -f -L "$tid" $slow
[ "$(total)" -gt 0 ] && [ "$(counted '^worker-7;')" -eq "$(total)" ]
check $? "-L selects one thread" "$(cut -d';' -f1 "$out" | sort | uniq -c)"
tids=$(awk '$1 ~ /^worker-[34]$/ { print $2 }' <<<"$said" | paste -sd,)
measure -F 499 -f -L "$tids" $((2 * slow))
[ "$(cut -d';' -f1 "$out" | sort -u | paste -sd' ')" = "worker-3 worker-4" ]
check $? "-L takes a list" "$(cut -d';' -f1 "$out" | sort | uniq -c)"

# ---- more than one process
first=$pid first_child=$child
begin "$programs/nested" || finish
measure -F 499 -f -p "$first,$pid" $slow
[ "$(counted '^worker-')" -gt 0 ] && [ "$(counted '^nested;')" -gt 0 ] &&
	[ "$(($(counted '^worker-') + $(counted '^nested;')))" -eq "$(total)" ]
check $? "-p takes a list" "$(cut -d';' -f1 "$out" | sort | uniq -c)"
measure -F 99 -p "$first,$pid" 0.2
[ "$(head -n 1 "$out")" = "Sampling at 99 Hertz of PID [$first, $pid] by user + kernel stack for 0.2 secs." ]
check $? "the title lists them" "$(head -n 1 "$out")"
measure -F 99 -p "$pid" 1
[ "$(head -n 1 "$out")" = "Sampling at 99 Hertz of PID $pid by user + kernel stack for 1 secs." ]
check $? "the title of one process" "$(head -n 1 "$out")"
# An id list longer than any table of fixed size.
ids=$(seq -s, 4000000 4002000),$pid
measure -F 499 -f -p "$ids" $slow
[ "$(total)" -gt 0 ] && [ "$(counted '^nested;')" -eq "$(total)" ]
check $? "2,000 ids are not too many" "$(head -n 2 "$err")"
kill -KILL "$first_child"
finish
