#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory that is allocated and not freed, by the stacks that allocate it, against what a program
# knows: stackcount_outstanding_test.sh BUILD
# timeout: 240
# quiet: it changes return addresses in other programs that call the same functions
. "$(dirname "$0")/../stackcount.bash" "$1"
have_uprobes || { skip "outstanding memory" "$no_uprobes" && finish; }

leaks=$programs/sc_leaks
# outstanding NAME: `BLOCKS BYTES` of the stacks with this function, in $json
outstanding() {
	python3 - "$json" "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
names = [frame["name"] for frame in report["frames"]]
mine = [s for s in report["stacks"] if sys.argv[2] in [names[i] for i in s["user"]]]
print(sum(s["events"] for s in mine), sum(s["count"] for s in mine))
END
}
json=$tmp/report.json

# ---- all of libc's functions
"$stackcount" --leaks -o "$json" -- "$leaks" >"$tmp/said" 2>"$err"
status=$?
is "it ends well" "$status" 0
while read -r name blocks bytes; do
	case $name in ml_*) is "outstanding of $name" "$(outstanding "$name")" "$blocks $bytes" ;; esac
done <"$tmp/said"
is "a program that knows of six" "$(grep -c ^ml_ "$tmp/said")" 6
is "what is moved and freed" "$(outstanding ml_realloc_freed)" "0 0"
says "blocks freed that were not seen to be allocated" \
	'^[0-9]+ blocks? (was|were) freed that (was|were) not seen to be allocated'

# ---- two functions
"$stackcount" --outstanding c:calloc -o "$json" c:free -- "$leaks" >"$tmp/said" 2>"$err"
is "outstanding of calloc alone" "$(outstanding ml_calloc) $(outstanding ml_many)" "1 240 0 0"

# ---- age: nothing is an hour old
"$stackcount" --leaks --older 1h -f -- "$leaks" >"$out" 2>"$err"
is "only what is older" "$(grep -c 'main;ml_' "$out")" 0

# ---- bad input
fails 2 "one function" 'required: pattern' --outstanding c:malloc
fails 2 "a pattern beside the set" 'takes no pattern' --leaks c:malloc
fails 2 "two functions without the option" 'unrecognized arguments: c:free' c:malloc c:free
fails 2 "an age without blocks" '--older: needs' --older 5 c:malloc
fails 2 "conditions" '--if: not allowed with argument --leaks' --leaks --if 'arg1 > 1'
fails 1 "several functions" 'is not one function' --outstanding 'c:*alloc' c:free
fails 1 "a tracepoint" 'is no function' --outstanding t:kmem:kmalloc c:free
finish
