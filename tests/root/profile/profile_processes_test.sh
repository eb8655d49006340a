#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that come and go, and libraries that do: profile_processes_test.sh BUILD
# timeout: 240
. "$(dirname "$0")/../harness.bash" "$1"
n=3000
[ "$slow" -eq 1 ] || n=300

# ---- forks
measure_command -F 997 -- "$programs/forks" $n 500
check $status "a storm of $n forks is measured" "$(cat "$err")"
closing
[ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "nothing of it is lost" "$(total) of $(tail -n 1 "$err")"
work=$(counted '^forks;(.*;)?main;fork_all;child_work(;|$)')
# Each burns 500 us, the last turn of which may overshoot; what the fork costs comes on top.
calculates "$work > 0.9 * $n * 0.0005 * 997 - 5 * sqrt($n * 0.0005 * 997)"
check $? "the work of processes that live half a ms has its names" "$work of $samples"

# ---- forks that execute: another program, of which each has but one or two samples
measure_command -F 997 -- "$programs/forks" $((n / 4)) 1000 "$programs/forks"
closing
[ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "nothing is lost where processes execute programs" "$(tail -n 1 "$err")"
named=$(counted '^forks;(.*;)?main;child_work(;|$)')
unnamed=$(counted '^forks;(\[unknown\](;|$))+')
calculates "$named > 0.5 * $n / 4 * 0.997"
check $? "the work of programs that live a ms has its names" "$named named, $unnamed not"

# ---- the end of a process before the end of the run, where the process is not ours
begin "$programs/nested" 300 || finish
kill -STOP "$pid" # until it is measured
sample -F 499 -U -p "$pid"
kill -CONT "$pid"
wait "$child"
sampled
end
has "a process that ended meanwhile keeps its names" ';main;outer;middle;inner;burn(;|$)'
named_work ';main;outer;middle;inner;burn(;|$)'
check $? "nearly all of its samples do" "$(tail -n 3 "$out")"

# ---- a process that began after the run did, and ended before it
sample -F 499 -U --name nested
"$programs/nested" $((200 * slow)) >"$fate"
sampled
calculates "$(counted '^nested;(.*;)?main;outer;middle;inner;burn(;|$)') > 30"
check $? "a process that came and went meanwhile has its names" "$(tail -n 3 "$out")"

# ---- libraries that are loaded while it runs
measure_command -F 499 -- "$programs/late_library" "$programs/libplugin.so" 300
has "what ran before the library was loaded has its name" ';main;before_loading;burn(;|$)'
has "what ran in the library has its name, though it was unloaded" ';main;plugin_entry;plugin_work;burn(;|$)'
begin "$programs/late_library" "$programs/libplugin.so" 700 || finish
kill -STOP "$pid"
sample -F 499 -U -p "$pid"
kill -CONT "$pid"
wait "$child"
sampled
end
has "the same for a process that was there before" ';main;plugin_entry;plugin_work;burn(;|$)'
calculates "$(counted ';main;(.*;)?\[unknown\]') < 0.05 * $(total)"
check $? "hardly a frame of it is unknown" "$(counted ';main;(.*;)?\[unknown\]') of $(total)"
finish
