#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --live-token: the address is the same after a restart, and pprof reads it: live_token_test.sh BUILD
# timeout: 200
# kind: outputs
. "$(dirname "$0")/../harness.bash" "$1"
export HOME=$tmp PPROF_TMPDIR=$tmp
go tool pprof -h >"$fate" 2>&1 || {
	skip "--live-token" "go tool pprof is not installed"
	finish
}
begin "$programs/nested"
port=$((20000 + $$ % 20000))
serve() {
	"$profile" -q -p "$pid" -F 97 --live="$port" --live-token "$tmp/token" >"$out" 2>"$err" &
	run=$!
	started+=($run)
	await 60 grep -q 'Live at' "$err"
	url=$(sed -n 's/^Live at //p' "$err")
}
scraped=0
for round in 1 2; do
	serve
	urls[round]=$url
	for _ in 1 2 3 4 5; do
		go tool pprof -raw -sample_index=0 "${urls[1]}debug/pprof/profile?seconds=1" >"$tmp/raw" 2>"$tmp/pprof.err" &&
			grep -q ' main ' "$tmp/raw" && scraped=$((scraped + 1))
	done
	kill -INT $run
	wait $run
done
[ "${urls[1]}" = "${urls[2]}" ]
check $? "the address is the same after a restart" "${urls[*]}"
[ $scraped -eq 10 ]
check $? "ten profiles are read from it, across a restart" "$scraped: $(tail -n 3 "$tmp/pprof.err")"
[ "$(stat -c %a "$tmp/token")" = 600 ]
check $? "the token is for its owner" "$(ls -l "$tmp/token")"
chmod 644 "$tmp/token"
measure -p "$pid" --live --live-token "$tmp/token" 1
[ $status -eq 1 ] && grep -q 'mode 600' "$err"
check $? "a token that others can read is refused" "$status: $(cat "$err")"
chmod 600 "$tmp/token"
echo "../../etc/passwd/../../etc/passwd" >"$tmp/token"
measure -p "$pid" --live --live-token "$tmp/token" 1
[ $status -eq 1 ] && grep -q 'does not hold a token' "$err"
check $? "a file without a token" "$status: $(cat "$err")"
end
finish
