#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that begin and end, libraries that are loaded and unloaded: profile_processes_test.sh
# BUILD
# timeout: 240
# kind: gone files
. "$(dirname "$0")/../harness.bash" "$1"
n=3000
[ "$slow" -eq 1 ] || n=300

# ---- forks
measure_command -F 997 -- "$programs/forks" $n 500
check $status "a storm of $n forks is measured" "$(cat "$err")"
closing
[ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "no sample of it is lost" "$(total) of $(tail -n 1 "$err")"
work=$(counted '^forks;(.*;)?main;fork_all;child_work(;|$)')
# Each burns at least 500 us: a Poisson process, 5 sigma; the time of the forks comes on top.
calculates "$work > 0.9 * $n * 0.0005 * 997 - 5 * sqrt($n * 0.0005 * 997)"
check $? "the work of processes that live half a millisecond has its names" "$work of $samples"

# ---- forks that execute a program, which is sampled once or twice
measure_command -F 997 -- "$programs/forks" $((n / 4)) 1000 "$programs/forks"
closing
[ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "nothing is lost where processes execute programs" "$(tail -n 1 "$err")"
named=$(counted '^forks;(.*;)?main;child_work(;|$)')
unnamed=$(counted '^forks;(\[[^;]*\](;|$))+')
calculates "$named > 0.5 * $n / 4 * 0.997"
check $? "the work of programs that live a millisecond has its names" "$named named, $unnamed not"

# ---- a process that runs already, and ends before the measurement
begin "$programs/nested" 300 || finish
kill -STOP "$pid" # it waits until it is measured
sample -F 499 -U -p "$pid"
kill -CONT "$pid"
wait "$child"
sampled
end
has "a process that has ended keeps its names" ';main;outer;middle;inner;burn(;|$)'
named_work ';main;outer;middle;inner;burn(;|$)'
check $? "in nearly all of its samples" "$(tail -n 3 "$out")"

# ---- a process that begins and ends during the measurement
sample -F 499 -U --name nested
"$programs/nested" $((200 * slow)) >"$fate"
sampled
calculates "$(counted '^nested;(.*;)?main;outer;middle;inner;burn(;|$)') > 30"
check $? "it has its names" "$(tail -n 3 "$out")"

# ---- libraries that are loaded while it runs
measure_command -F 499 -- "$programs/late_library" "$programs/libplugin.so" 300
has "code that ran before the library was loaded has its name" ';main;before_loading;burn(;|$)'
has "code of the library has its name, though it was unloaded" ';main;plugin_entry;plugin_work;burn(;|$)'
begin "$programs/late_library" "$programs/libplugin.so" 700 || finish
kill -STOP "$pid"
sample -F 499 -U -p "$pid"
kill -CONT "$pid"
wait "$child"
sampled
end
has "the same for a process that ran already" ';main;plugin_entry;plugin_work;burn(;|$)'
calculates "$(counted ';main;(.*;)?\[') < 0.05 * $(total)"
check $? "hardly a frame of it is unknown" "$(counted ';main;(.*;)?\[') of $(total)"
finish
