#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 200 clients of --live that are stuck, slow or hostile: the measurement takes the same samples,
# none is lost, memory is bounded, and a well-behaved client is served: live_clients_test.sh BUILD
# timeout: 200
# shellcheck source=tests/root/harness.bash
# kind: strangers
. "$(dirname "$0")/../harness.bash" "$1"
if [ "$slow" -ne 1 ]; then
	skip "200 clients" "an emulated machine is too slow to start them"
	finish
fi
client=$(dirname "$0")/live_client.py
seconds=15
cpus=$(nproc)

memory() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
cpu_of() { # PID: CPU time of all its threads, in ticks
	awk '{ sub(/.*\) /, ""); sum += $12 + $13 } END { print sum }' /proc/"$1"/task/*/stat
}
# run NAME [stuck]: measures, with 200 stuck clients or none, and a follower. Sets $samples, $lost,
# and the memory in kB: $middle, the maximum of the first half, and $peak, of the whole
run() {
	: >"$err"
	"$profile" -F 99 --live -f -o "$tmp/$1.folded" $((seconds + 6)) >"$out" 2>"$err" &
	server=$!
	started+=("$server")
	await 30 grep -q '^Live at ' "$err" || fail "serves" "$(cat "$err")"
	url=$(sed -n 's/^Live at //p' "$err")
	if [ "${2-}" ]; then
		python3 "$client" stuck "$url" >"$tmp/stuck" &
		stuck=$!
		started+=("$stuck")
		await 30 grep -qs '^stuck' "$tmp/stuck"
		check $? "200 clients are stuck" "$(cat "$tmp/stuck")"
	fi
	python3 "$client" follow "$url" >"$tmp/followed" &
	follower=$!
	await 20 grep -qs '^following' "$tmp/followed"
	before=$(memory "$server")
	ticks=$(cpu_of "$server")
	peak=0 middle=0
	local end=$((SECONDS + seconds - 5)) now
	while ((SECONDS < end)) && kill -0 "$server" 2>>"$fate"; do
		now=$(memory "$server")
		((${now:-0} > peak)) && peak=$now
		((SECONDS < end - seconds / 2)) && middle=$peak
		ticks_now=$(cpu_of "$server" 2>>"$fate")
		sleep 0.5
	done
	ticks=$((ticks_now - ticks))
	wait "$server"
	wait "$follower"
	check $? "the follower gets every event until the end ($1)" "status $?: $(tail -n 1 "$tmp/followed")"
	closing
	grep -E '^(ok|FAIL)' "$tmp/followed" | sed "s/\$/ ($1)/"
	echo "$1: $samples samples, $lost lost; $before kB, then $middle kB, at most $peak kB; $ticks ticks of CPU"
}

for ((i = 0; i < cpus; i++)); do begin "$programs/nested" || exit 1; done
run alone
alone=$samples
alone_peak=$peak
run crowd stuck
kill "$stuck"
calculates "$lost == 0"
check $? "they cause no losses" "$lost of $samples"
# All CPUs are busy, so each tick of each CPU is a sample.
calculates "$samples > 0.95 * $alone && $samples > 0.8 * 99 * $cpus * ($seconds + 6)"
check $? "as many samples are taken" "$samples, $alone without them"
# Unread replies take 32 MB at most, however long the measurement lasts.
calculates "$peak < $alone_peak + 65536 && $peak < $middle + 8192"
check $? "memory is bounded" "$before kB at first, $middle kB, then $peak kB; $alone_peak kB without them"
exit $failed
