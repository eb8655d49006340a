#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --if: conditions on values of events, against programs that know how many meet them:
# stackcount_if_test.sh BUILD
# timeout: 180
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

values=$programs/sc_values
turns=$((20000 / slow))
# with CONDITION PATTERN [OPTION...]: counts the program's events that meet it; $told has what it printed
with() {
	count -o "$folded" --format folded --if "$1" "${@:3}" "$2" -- "$values" "$turns"
	told=$(cat "$out")
}
# knows NAME: the number of events of that name that the program has told
knows() { awk -v name="$1" '$1 == name { print $2; found = 1 } END { if (!found) print "-1" }' <<<"$told"; }

# none_met NAME N: no event met the condition, of so many
none_met() {
	[ ! -s "$folded" ] && grep -q "occurred, but never with --if .*: $2 events$" "$err"
	check $? "$1" "$(tail -n 2 "$err")"
}

# ---- arguments of functions
if have_uprobes; then
	give=$values:sc_give
	with 'arg1 > 1000' "$give" -U
	exits "--if counts calls by their arguments" 0
	is "... all of them, on all CPUs" "$(total "$folded")" "$(knows large)"
	is "... of those callers" "$(counted ';sc_large;sc_give$' "$folded")" "$(knows large)"
	with '(int)arg2 < 0' "$give" -U
	is "a cast tells negative numbers" "$(total "$folded")" "$(knows failed)"
	is "... of these callers" "$(counted ';sc_small;sc_give$' "$folded")" "$(knows failed)"
	with 'arg3 ~ "/etc/l*"' "$give" -U
	is "strings in memory match a wildcard" "$(total "$folded")" "$(knows named)"
	with 'arg3 == "/etc/large" && !((int)arg2 == 7)' "$give" -U
	none_met "no event is told with the number of those that there were" "$(knows given)"
	with '(arg1 > 1000 || (int)arg2 == -5) && comm ~ "sc_val*" && cpu >= 0' "$give" -U
	is "conditions are joined" "$(total "$folded")" $(($(knows large) + $(knows failed)))
	with 'arg1 > 1000' "$give" -U --debug
	says "... and events that do not meet them are no losses" "^$(knows large) events; nothing was lost$"
	count -o "$folded" --format folded -o "$tmp/if.json" --format json -o "$tmp/if.stacktally" --format recording \
		--if 'arg1 > 1000' "$give" -- "$values" "$turns"
	is "a recording has them" "$("$stackcount" -f -U --from "$tmp/if.stacktally" 2>>"$err" | total /dev/stdin)" \
		"$(knows large)"
	grep -q '"events":'"$(knows large)" "$tmp/if.json"
	check $? "... as the losses of JSON say"
	fails 2 "a name that is not known is told with those that are" \
		"argument --if: the events have no value 'size'; they have arg1, arg2, arg3, arg4, arg5, arg6, common_pid, cpu, comm$" \
		--if 'size > 5' "$give"
	fails 2 "a wrong expression is told" "argument --if: an operator is missing at '= 5'" --if 'arg1 = 5' "$give"
	fails 2 "a string is no number" "argument --if: .*strings are compared" --if 'arg1 == comm' "$give"
	fails 2 "a hostile expression is refused" "argument --if: it is nested too deeply" \
		--if "$(printf '(%.0s' {1..900})" "$give"
	# Memory that is not there cannot be read in an interrupt-like program: that is told.
	with 'arg1 ~ "x"' "$give" -U
	says "values that cannot be read are told" "^WARNING: the value of $(knows given) events could not be read"
	with 'arg1 > 1000' "$give" -U --time -o "$tmp/time.json" --format json
	is "--time times the calls for which it holds" \
		"$(sed -n 's/.*"events":\([0-9]*\),"largest.*/\1/p' "$tmp/time.json" | tail -n 1)" "$(knows large)"
	! grep -q 'began before' "$err"
	check $? "... and the others are no calls that were missed" "$(cat "$err")"

	# ---- arguments of USDT probes
	probe=u:$values:given
	if readelf -n "$values" | grep -q 'Provider: sc_values'; then
		with 'arg1 > 1000' "$probe" -U
		is "--if counts USDT probes by their arguments" "$(total "$folded")" "$(knows large)"
		with 'arg2 < 0' "$probe" -U
		is "... whose signs are known" "$(total "$folded")" "$(knows failed)"
		with 'arg3 == "/etc/large"' "$probe" -U
		is "... and that may be strings" "$(total "$folded")" "$(knows named)"
		fails 2 "... of which there are no more" "they have arg1, arg2, arg3, common_pid, cpu, comm$" \
			--if 'arg4 == 1' "$probe"
	else
		skip "arguments of USDT probes" "the program has none"
	fi
else
	skip "arguments of user functions" "$no_uprobes"
fi

# ---- fields of tracepoints
write=t:syscalls:sys_enter_write
dd=(dd if=/dev/zero "of=$tmp/null" bs=1000 "count=$((2000 / slow))")
count -f -K --if 'count == 1000' $write -- "${dd[@]}"
exits "--if counts events of a tracepoint by their fields" 0
is "... all of them" "$(total)" $((2000 / slow))
count -f -K --if 'count == 1000 && comm == "dd" || count == 77777' $write -- "${dd[@]}"
is "... with the name of the thread" "$(total)" $((2000 / slow))
count -f -K --if 'count & 8 && count < 1001 && count >= 0x3e8' $write -- "${dd[@]}"
is "... by bits" "$(total)" $((2000 / slow))
: >"$tmp/opened"
count -f -K --if "filename ~ \"*/opened\"" t:syscalls:sys_enter_openat -- \
	sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do : <$tmp/opened; done"
is "... by strings in the program's memory" "$(total)" 10
count -f -K --if 'prev_state == 1 && prev_comm == "sleep"' t:sched:sched_switch -- \
	sh -c 'for i in 1 2 3 4 5; do sleep 0.01; done'
is "... by strings in the event" "$(counted . "$out")" 5
fails 2 "a field that does not exist is told with those that do" \
	"no value 'prev'; they have prev_comm, prev_pid, .*next_prio, common_pid, cpu, comm$" \
	--if 'prev == 1' t:sched:sched_switch
fails 2 "several tracepoints have the fields that all have in one place" \
	"no value 'prev_pid'; they have common_pid, cpu, comm$" --if 'prev_pid == 1' 't:sched:sched_*'
fails 2 "--from does not filter by values" "--if cannot be used with --from" --from "$tmp/x" --if 'a == 1'

# ---- parameters of kernel functions
if have_kprobes; then
	count -f -K --if 'count == 1000' vfs_read -- dd if=/dev/zero of="$tmp/null" bs=1000 count=$((2000 / slow))
	is "parameters of kernel functions have names" "$(total)" $((2000 / slow))
	count -f -K --if 'arg3 == 1000' 'vfs_rea[d]' -r -- dd if=/dev/zero of="$tmp/null" bs=1000 count=$((2000 / slow))
	is "... and numbers" "$(total)" $((2000 / slow))
	fails 2 "one that does not exist is told with those that do" "they have file, buf, count, pos, arg1" \
		--if 'size == 1' vfs_read
else
	skip "parameters of kernel functions" "$no_kprobes"
fi
finish
