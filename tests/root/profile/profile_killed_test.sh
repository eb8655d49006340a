#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Killed at any moment, profile leaves nothing in the kernel: profile_killed_test.sh BUILD
# timeout: 120
. "$(dirname "$0")/../harness.bash" "$1"

bpftool=$(PATH=$PATH:/usr/sbin command -v bpftool)
if [ -z "$bpftool" ]; then
	skip "what stays in the kernel" "there is no bpftool"
	finish
fi

# Of ours alone, as others may load programs meanwhile: by the descriptors of the process, up to the
# instant before it is killed.
ids_of() { # PID: "prog 12", "map 5" lines
	cat "/proc/$1/fdinfo/"* 2>>"$fate" |
		sed -n 's/^\(prog\|link\|map\)_id:[[:blank:]]*\([0-9]*\)$/\1 \2/p' | sort -u
}
left() { # those of $tmp/ids that are there still
	local kind id
	while read -r kind id; do
		! "$bpftool" "$kind" show id "$id" >>"$fate" 2>&1 || echo "$kind $id"
	done <"$tmp/ids"
}

nothing_left() { [ -z "$(left)" ]; }

seen=0
stays=
for _ in $(seq 20); do
	"$profile" -q -F 199 30 >"$out" 2>"$err" &
	pid=$!
	# Between the exec and well into the measurement, tables being written.
	: >"$tmp/ids"
	end=$(($(date +%s%N) + (RANDOM % 400 + 1) * slow * 1000000))
	while [ "$(date +%s%N)" -lt "$end" ]; do
		ids_of "$pid" >"$tmp/now"
		sort -u "$tmp/ids" "$tmp/now" -o "$tmp/ids"
	done
	kill -9 "$pid"
	wait "$pid" 2>>"$fate"
	seen=$((seen + $(wc -l <"$tmp/ids")))
	# Maps and programs are freed after a grace period.
	await 20 nothing_left || stays=$(left)
	[ -z "$stays" ] || break
done
[ "$seen" -gt 0 ]
check $? "programs and maps of it were there" "$seen"
[ -z "$stays" ]
check $? "killed at 20 random moments, none of them is there any more" "$stays"
finish
