#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# -i, -D and -T: stackcount_intervals_test.sh BUILD
# timeout: 180
# quiet: it compares times
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

if ! have_uprobes; then
	skip "intervals" "$no_uprobes"
	finish
fi
# each_report: the number of events in each report of the multi-line text, one on a line
each_report() {
	awk '/^Tracing|^Detaching/ { next }
		/^[0-9][0-9]:[0-9][0-9]:[0-9][0-9] *$/ { n++; sum[n] = 0; next }
		/^ +[0-9]+$/ { sum[n] += $1 }
		END { for (i = 1; i <= n; i++) print sum[i] }' "$out"
}

# ---- no event is lost or counted twice between intervals
begin "$calls" wait function 3300ms "$cpus"
attach -T -i 1 "$calls:sc_counted"
turn
detach
n=$(each_report | awk '{ sum += $1 } END { print sum + 0 }')
[ "$turns" -gt 1000 ] && [ "$n" -eq "$turns" ]
check $? "the sum over intervals is the number of calls" "$n, not $turns: $(each_report | tr '\n' ' ')"
n=$(each_report | awk -v least=$((turns / 1000)) '$1 > least' | wc -l)
[ "$n" -ge 4 ] && [ "$n" -le 5 ]
check $? "calls over 3.3 s are in 4 or 5 reports, 1 s each" "$(each_report | tr '\n' ' ')"
is "the same in the folded file" "$(counted ';' "$folded")" "$turns"
end

# Twenty intervals.
begin "$calls" wait function 2000ms "$cpus"
attach -T -i 0.1 "$calls:sc_counted"
turn
detach
is "the sum over twenty intervals is the number of calls" \
	"$(each_report | awk '{ sum += $1 } END { print sum + 0 }')" "$turns"
closing
is "... and nothing is lost" "$lost" 0
end

# A stack in two intervals.
begin "$calls" wait function 1000
attach -T -i 0.5 "$calls:sc_counted"
turn
reported() { [ "$(each_report | wc -l)" -ge 2 ]; }
await 10 reported
turn
detach
is "the same stack in two intervals has its count in each" \
	"$(each_report | awk '$1 > 0' | tr '\n' ' ')" "1000 1000 "
end

# ---- how long it takes
patience=1
[ "$slow" -eq 1 ] || patience=30 # an emulated machine takes long to start
times() { # NAME SECONDS REPORTS ARGUMENT...: stackcount takes SECONDS and prints REPORTS reports
	local name=$1 seconds=$2 reports=$3 from=$EPOCHREALTIME took n
	count "${@:4}"
	took=$(awk "BEGIN { print $EPOCHREALTIME - $from }")
	n=$(grep -c '^$' "$out")
	# Each report begins with an empty line.
	[ "$status" -eq 0 ] && [ "$n" -eq "$reports" ] &&
		calculates "$took >= $seconds && $took < $seconds + $patience"
	check $? "$name" "$took s, $n reports, status $status: $(tail -n 2 "$err")"
}
times "-i 2 -D 3 takes 4 s and gives two reports" 4 2 -i 2 -D 3 "$calls:sc_counted"
times "-D 1 takes 1 s and gives one report" 1 1 -D 1 "$calls:sc_counted"
times "-i 1 -D 2 takes 2 s and gives two reports" 2 2 -i 1 -D 2 "$calls:sc_counted"
is "the report of no events is empty" "$(sed 1d "$out" | tr '\n' '|')" '||Detaching...|'

# ---- the layout of -T
now=$(date +%s)
count -T -i 1 -D 2 "$calls:sc_counted"
mapfile -t lines <"$out"
[ "${#lines[@]}" -eq 6 ] && [ -z "${lines[1]}" ] && [ -z "${lines[3]}" ] &&
	[[ ${lines[2]} =~ ^[0-9]{2}:[0-9]{2}:[0-9]{2}$ ]] && [[ ${lines[4]} =~ ^[0-9:]{8}$ ]]
check $? "-T puts the time after the blank line" "$(cat "$out")"
later=$(($(date -d "${lines[4]}" +%s) - $(date -d "${lines[2]}" +%s)))
[ "$later" -ge "$((slow == 1))" ] && [ "$later" -le "$((1 + patience))" ] && [ "$(date -d "${lines[2]}" +%s)" -ge "$now" ]
check $? "the times are those of the ends of the intervals" "${lines[2]} ${lines[4]}"
count -f -T -i 1 -D 2 "$calls:sc_counted"
[ "$(grep -Ec '^[0-9:]{8}$' "$out")" -eq 2 ] && [ "$(wc -l <"$out")" -eq 2 ]
check $? "with -f only the times tell intervals apart" "$(cat "$out")"

# ---- signals end it with a report
for signal in INT TERM HUP; do
	begin "$calls" wait function 100
	attach "$calls:sc_counted"
	turn
	kill -"$signal" "$counter"
	wait "$counter"
	status=$?
	[ "$status" -eq 0 ] && [ "$(total "$folded")" -eq 100 ] && [ "$(tail -n 1 "$out")" = Detaching... ]
	check $? "SIG$signal ends it with the report" "status $status: $(tail -n 4 "$out")"
	end
done
finish
