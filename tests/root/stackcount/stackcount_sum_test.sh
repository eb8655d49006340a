#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --sum: values of events added up by stack, against programs that know the sums:
# stackcount_sum_test.sh BUILD
# timeout: 240
# quiet: it changes return addresses in other programs that call the same functions
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

values=$programs/sc_values
give=$values:sc_give
# Each thread gives twice in a turn: a million events.
turns=$((500000 / cpus / (slow * slow)))
# sum EXPRESSION PATTERN TURNS [OPTION...]: adds up values of the program's events
sum() {
	count -U -o "$folded" --format folded -o "$tmp/sum.json" --format json -o "$tmp/sum.stacktally" \
		--format recording --sum "$1" "${@:4}" "$2" -- "$values" "$3"
	told=$(cat "$out")
}
# knows NAME [COLUMN]: the number of events, or (3) the sum, that the program has told
knows() { awk -v name="$1" -v column="${2-2}" '$1 == name { print $column; found = 1 } END { if (!found) print "-1" }' <<<"$told"; }
# says_json NAME: the number of that name of the measurement
says_json() { grep -o "\"$1\":[0-9]*" "$tmp/sum.json" | head -n 1 | tr -dc 0-9; }

if have_uprobes; then
	sum arg1 "$give" "$turns"
	exits "--sum adds up arguments" 0
	is "... of a million events on all CPUs, exactly" "$(total "$folded")" "$(knows given 3)"
	is "... and counts them" "$(says_json events)" "$(knows given)"
	is "... nothing is lost" "$(says_json lost)" 0
	is "... by the callers" "$(counted ';sc_large;sc_give$' "$folded")" "$(awk -v n="$turns" -v cpus="$cpus" \
		'BEGIN { printf "%.0f", cpus * (1000 * n + n * (n - 1) / 2) }')"
	is "a recording has the sums" "$("$stackcount" -f -U --from "$tmp/sum.stacktally" 2>>"$err" | total /dev/stdin)" \
		"$(knows given 3)"
	"$stackcount" --from "$tmp/sum.stacktally" --top 2>>"$err" | grep -Eq '^[0-9,]* arg1 of [0-9,]* events'
	check $? "... and its table both numbers"
	"$stackcount" --from "$tmp/sum.stacktally" --diff "$tmp/sum.stacktally" -U >"$out" 2>"$err"
	says "... which are compared" " arg1 .*in the base" "$out"
	"$stackcount" --from "$tmp/sum.stacktally" --format pprof -o "$tmp/sum.pprof" 2>>"$err"
	is "... and pprof's format" "$("$stackcount" -f --from "$tmp/sum.pprof" 2>>"$err" | total /dev/stdin)" "$(knows given 3)"

	sum '(int)arg2' "$give" 1000
	is "values below 0 are counted apart" "$(says_json failed)" "$(knows failed)"
	says "... and told" "^$(knows failed) events have a value below 0"
	is "... in no sum" "$(total "$folded")" $((7 * $(knows named)))
	sum arg1 "$give" 1000 --if 'arg1 > 1000'
	is "only events that meet a condition are added" "$(total "$folded")" "$(knows large 3)"
	is "... and counted" "$(says_json events)" "$(knows large)"
	sum 'arg1 * 1000 + 1' "$give" 1000
	is "values may be computed" "$(total "$folded")" $(($(knows given 3) * 1000 + $(knows given)))
	sum 'arg1 * 0x4000000000000000' "$give" 1000
	says "what is too large for a number is told" "^WARNING: the value of [0-9]* events could not be read"
	sum '0xfffffffffffffff0 + 0 * arg1' "$give" 1000
	is "a sum that is too large stays at the largest number" "$(says_json samples)" 18446744073709551615
	says "... and that is told" "^WARNING: the sum is larger than 18446744073709551615"
	count -U -i 1 -o "$folded" --format folded --sum arg1 "$give" -- "$values" 100000
	told=$(cat "$out")
	is "with intervals, nothing is lost or counted twice" "$(total "$folded")" "$(knows given 3)"
	sum arg1 "u:$values:given" 1000
	is "arguments of USDT probes are added" "$(total "$folded")" "$(knows given 3)"

	# A compiler has an argument at each site in another place, of another size, with or without a sign.
	sites=$programs/sc_usdt_sites
	values=$sites sum arg1 "u:$sites:given" 2000
	is "... each site's from its own place" "$(total "$folded")" "$(knows given 3)"
	is "... which are all counted" "$(says_json events)" "$(knows given)"
	is "... those below 0 apart" "$(says_json failed)" "$(knows failed)"
	values=$sites sum arg1 "u:$sites:given" 2000 --if 'arg1 > 1000'
	is "... on a condition about it" "$(says_json events)" "$(knows large)"
	values=$sites sum 'arg1 * 0 + 1' "u:$sites:given" 2000 --if 'arg2 == "large"'
	is "... or about a string" "$(total "$folded")" "$(knows named)"
	fails 2 "... but what is no number at one of them is told" "no value 'arg1'; they have common_pid, cpu, comm$" \
		--sum arg1 "u:$sites:real"

	# ---- live: what is saved has all sums, and of how many events
	"$stackcount" --sum arg1 --live -q "$give" >"$out" 2>"$err" &
	counter=$!
	started+=("$counter")
	await 60 attached
	url=$(sed -n 's/^Live at //p' "$err")
	given=0 events=0
	for _ in 1 2 3; do
		told=$("$values" 1000)
		events=$((events + $(knows given))) given=$((given + $(knows given 3)))
		sleep 1.1
	done
	# saved: EVENTS SUM, by now
	saved() {
		python3 -c 'import json, sys, urllib.request
saved = json.load(urllib.request.urlopen(sys.argv[1] + "save?format=json"))
print(saved["measurement"]["events"], saved["measurement"]["samples"])' "$url" >"$tmp/saved" 2>>"$err"
		[ "$(cat "$tmp/saved")" = "$events $given" ]
	}
	await 20 saved
	check $? "what a live measurement saves has the sums of all its seconds" "$(cat "$tmp/saved"), not $events $given"
	detach

	# ---- what functions return
	sum retval "$give" 20000
	is "--sum retval adds what calls return" "$(counted ';sc_large;sc_give$' "$folded")" "$(awk -v n=20000 -v cpus="$cpus" \
		'BEGIN { printf "%.0f", cpus * (1000 * n + n * (n - 1) / 2) }')"
	is "... errors are counted apart" "$(says_json failed)" "$(knows failed)"
	is "... each call is counted" "$(says_json events)" "$(knows given)"
	sum retval "$give" 1000 --if 'retval > 1000'
	is "... on a condition" "$(total "$folded")" "$(knows large 3)"
	is "... of these calls" "$(says_json events)" "$(knows large)"
	sum retval "$give" 1000 --if '(int)arg2 == 7'
	is "... also on their arguments" "$(says_json events)" "$(knows named)"
	fails 2 "retval is no value of an entry" "with --time or --sum retval only" --if 'retval < 0' "$give"
	fails 2 "arguments are no values of a return" "no value 'arg1'; they have retval," --sum 'retval + arg1' "$give"
	fails 2 "calls are timed or summed" "not allowed with" --time --sum arg1 "$give"
	count --sum retval t:kmem:kmalloc
	says "tracepoints do not return" "is no function, and does not return"
else
	skip "values of user functions" "$no_uprobes"
fi

# ---- tracepoints
count -K -f -o "$folded" --format folded -o "$tmp/sum.json" --format json --sum count t:syscalls:sys_enter_write -- \
	dd if=/dev/zero "of=$tmp/null" bs=1000 "count=$((20000 / slow))" status=none
is "--sum adds up a field of a tracepoint" "$(total "$folded")" $((20000 / slow * 1000))
grep -q '"measure":"count","unit":"bytes"' "$tmp/sum.json"
check $? "... in its unit" "$(head -c 500 "$tmp/sum.json")"
says "... which is told" "^$((20000 / slow * 1000)) bytes of count of $((20000 / slow)) events"
fails 2 "a string has no sum" "a string has no sum" --sum prev_comm t:sched:sched_switch
fails 2 "a field that does not exist is told with those that do" "no value 'bytes'; they have .*bytes_req" \
	--sum bytes t:kmem:kmalloc
fails 2 "a recording has no other sums" "--sum cannot be used with --from" --from "$tmp/sum.stacktally" --sum count

# ---- page faults have no size: their number depends on the size of the pages, the bytes do not
count -U -f --sum '4096 << order' t:kmem:mm_page_alloc -- "$programs/sc_faults"
for function in fl_pages fl_huge_pages; do
	bytes=$(counted ";$function\$")
	# Page tables and what the kernel takes for itself are a hundredth.
	[ "$bytes" -ge 16777216 ] && [ "$bytes" -le 17000000 ]
	check $? "bytes of pages that $function touches" "$bytes"
done
says "a sum whose unit is not known" "^[0-9]* sum of [0-9]* events"
"$profile" -e page-faults -c 1 -U -f -- "$programs/sc_faults" >"$out" 2>"$err"
faults=$(counted ";fl_pages\$")
[ "$faults" -ge 4096 ] && [ "$faults" -le 4100 ]
check $? "page faults are counted, not weighed" "$faults"
if ! grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled 2>"$fate"; then
	[ "$(counted ';fl_huge_pages$')" -le 4100 ]
	check $? "... of huge pages as well" "$(cat "$out")"
fi

if have_kprobes; then
	count -K -f --sum retval vfs_read -- dd if=/dev/zero "of=$tmp/null" bs=1000 "count=$((20000 / slow))" status=none
	[ "$(counted ';vfs_read$')" -ge $((20000 / slow * 1000)) ]
	check $? "what kernel functions return is added up" "$(total)"
	says "... in the unit of their type" "bytes of retval"
	count -K -f --sum count --if 'count == 1000' vfs_read -- dd if=/dev/zero "of=$tmp/null" bs=1000 "count=$((20000 / slow))" status=none
	is "so are their parameters" "$(total)" $((20000 / slow * 1000))
else
	skip "values of kernel functions" "$no_kprobes"
fi
finish
