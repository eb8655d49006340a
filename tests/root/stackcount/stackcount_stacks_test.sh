#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which frames stackcount shows, and which stacks it adds up: stackcount_stacks_test.sh BUILD
# timeout: 180
# kind: callers
. "$(dirname "$0")/../stackcount.bash" "$1"

if ! have_uprobes; then
	skip "stacks of user functions" "$no_uprobes"
	finish
fi

# ---- the probed function is the leaf, its caller comes next, and no function occurs twice
leaf=$programs/sc_leaf
count -f "$leaf:leaf_*" -- "$leaf" 500
for function in leaf_framed leaf_frameless leaf_frameless_big; do
	is "$function is the leaf, below its direct caller" \
		"$(counted "^;_start;.*;main;caller_of_caller;direct_caller;$function\$")" 500
done
is "there are no other events" "$(total)" 1500
count -f -U -r "$calls:sc_(counted|middle|outer)" -- "$calls" now function 300
for stack in sc_outer 'sc_outer;sc_middle' 'sc_outer;sc_middle;sc_counted'; do
	is "the call path is ${stack//;/ }" "$(counted ";main;once;turns;$stack\$")" 300
done
count -f -U "$programs/sc_children:sc_work" -- "$programs/sc_children" 1 100
is "a stack of a child that ended is named" "$(counted ';main;sc_work$')" 200
count -f c:malloc -- "$programs/sc_children" 0 100
is "malloc is the leaf, below its caller" \
	"$(counted ';main;sc_work;(__libc_|__GI___libc_|__)?malloc$')" 100
# A recursion: the probed function and its caller are the same function.
recursion=$programs/recursion
count -f -U --max-depth 64 "$recursion:descend" -- "$recursion" 20 20
sed -i '/^ready/d' "$out"
deepest=$(awk '{ n = gsub(/;descend/, ""); if (n > most) most = n } END { print most }' "$out")
is "a recursion of 20 has stacks of 20, and none deeper" "$deepest" 20
levels=$(awk '{ print gsub(/;descend/, "") }' "$out" | sort -n | uniq | wc -l)
is "... and one for each level" "$levels" 20
# A USDT probe is in the middle of a function, which has a frame of its own.
count -f -U "u:$programs/sc_usdt:sc_one:other" -- "$programs/sc_usdt" now 200
is "the leaf of a USDT probe is the function that it is in" "$(counted ';main;rounds;turns;fire$')" 200
count -f --max-depth 2 "$leaf:leaf_framed" -- "$leaf" 50
is "--max-depth keeps the frames next to the leaf" "$(counted '^;(\[[^;]*\];)?direct_caller;leaf_framed$')" 50

# ---- equal call paths in two processes
begin "$calls" wait function 1000
first=$pid first_reading=$reading
begin "$calls" wait function 1000
second=$pid
both() { # ARGUMENT...
	attach "$@" "$calls:sc_counted"
	turn
	pid=$first reading=$first_reading turn
	detach
}
path='sc_counted;sc_middle;sc_outer;turns;once;main;__libc_start_call_main;__libc_start_main;_start'
both
is "equal paths in two processes are one, with their names" "$(entries)" "$path;2000"
is "... and in the folded form" "$(cat "$folded")" \
	";_start;__libc_start_main;__libc_start_call_main;main;once;turns;sc_outer;sc_middle;sc_counted 2000"
both -P
is "-P separates processes, by name and id" "$(entries | sort)" \
	"$(printf '%s;sc_calls [%d];1000\n' "$path" "$first" "$path" "$second" | sort)"
is "... and in the folded form by name, which is equal" "$(cut -d ';' -f 1,9- "$folded")" \
	'sc_calls;sc_middle;sc_counted 2000'
both -p "$first"
is "-p: no process is shown" "$(entries)" "$path;1000"
is "... but in the folded form its name" "$(cut -d ';' -f 1 "$folded")" sc_calls
both --by-address
[ "$(entries | wc -l)" -eq 2 ]
check $? "--by-address keeps stacks at other addresses apart" "$(entries)"
end

# ---- threads
begin "$calls" wait function 100 "$((cpus * 2))"
attach --per-thread -P "$calls:sc_counted"
turn
detach
is "--per-thread has an entry for each thread" "$(entries | wc -l)" "$((cpus * 2))"
end

finish
