#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# After --live a terminal gets a report only if one was asked for: live_report_test.sh BUILD
# kind: outputs
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
recording=$top/tests/golden/recordings/profile.stacktally
profile=$(realpath "$1")/profile
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
if ! command -v script >"$tmp/null"; then
	echo "skip reports after --live: script is not installed"
	exit 0
fi
# live OPTION...: serves on a terminal until SIGINT; $tmp/said has what was printed
live() {
	rm -f "$tmp/pid" "$tmp/said" # an old "Live at" would end the wait below
	script -qfec "echo \$\$ >'$tmp/pid'; exec '$profile' --from '$recording' --live $*" "$tmp/said" \
		</dev/null >"$tmp/null" 2>&1 &
	for _ in $(seq 500); do
		grep -q 'Live at' "$tmp/said" 2>"$tmp/null" && break
		sleep 0.02
	done
	# It waits for the signal only after it has printed that line.
	for _ in $(seq 500); do
		kill -INT "$(cat "$tmp/pid")" 2>"$tmp/null" || break
		sleep 0.02
	done
	wait
}
live
grep -q 'Live at http' "$tmp/said" && grep -q '121 samples' "$tmp/said" && ! grep -q 'vfs_read' "$tmp/said"
check $? "no report follows --live" "$(cat "$tmp/said")"
for options in -f '--format text' '-o -'; do
	live "$options"
	grep -q '121 samples' "$tmp/said" && grep -q 'vfs_read' "$tmp/said"
	check $? "one follows --live $options" "$(cat "$tmp/said")"
done
exit $failed
