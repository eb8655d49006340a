#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Killed at any moment, profile leaves nothing in the kernel: profile_killed_test.sh BUILD
# timeout: 120
# kind: refusals
. "$(dirname "$0")/../harness.bash" "$1"

bpftool=$(PATH=$PATH:/usr/sbin command -v bpftool)
if [ -z "$bpftool" ]; then
	skip "what stays in the kernel" "there is no bpftool"
	finish
fi

# The ids are read from the descriptors of the process, until just before it is killed: other
# programs may load BPF programs at the same time.
ids_of() { # PID: prints lines like "prog 12" and "map 5"
	cat "/proc/$1/fdinfo/"* 2>>"$fate" |
		sed -n 's/^\(prog\|link\|map\)_id:[[:blank:]]*\([0-9]*\)$/\1 \2/p' | sort -u
}
left() { # prints those lines of $tmp/ids that the kernel still has
	local kind id
	while read -r kind id; do
		! "$bpftool" "$kind" show id "$id" >>"$fate" 2>&1 || echo "$kind $id"
	done <"$tmp/ids"
}

nothing_left() { [ -z "$(left)" ]; }

seen=0 # runs that held something when they were killed
stays=
for _ in $(seq 20); do
	"$profile" -q -F 199 30 >"$out" 2>"$err" &
	pid=$!
	# From the exec to well into the measurement, while tables are written.
	: >"$tmp/ids"
	end=$(($(date +%s%N) + (RANDOM % 400 + 1) * slow * 1000000))
	while [ "$(date +%s%N)" -lt "$end" ]; do
		ids_of "$pid" >"$tmp/now"
		sort -u "$tmp/ids" "$tmp/now" -o "$tmp/ids"
	done
	kill -9 "$pid"
	wait "$pid" 2>>"$fate"
	[ ! -s "$tmp/ids" ] || seen=$((seen + 1))
	# The kernel frees maps and programs after a grace period.
	await 20 nothing_left || stays=$(left)
	[ -z "$stays" ] || break
done
[ "$seen" -ge 5 ]
check $? "at least 5 of 20 killed runs had programs or maps in the kernel" "$seen"
[ -z "$stays" ]
check $? "killed at random moments, they leave none of them" "$stays"
finish
