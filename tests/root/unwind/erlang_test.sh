#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of code that Erlang compiled, at all of its instructions: erlang_test.sh BUILD
# timeout: 120
# kind: generated code
. "$(dirname "$0")/../harness.bash" "$1"
here=$(dirname "$0")
for release in bookworm trixie; do
	root=$("$here/../../root_of" "$release" erlang-base 2>"$err") || {
		skip "$release's Erlang" "$(tail -n 1 "$err")"
		continue
	}
	mkdir -p "$root/tmp"
	cp "$here/erlang_burn.erl" "$root/tmp"
	chroot "$root" sh -c 'cd /tmp && erlc erlang_burn.erl' >"$err" 2>&1
	check $? "$release's Erlang: compiles" "$(tail -n 1 "$err")"
	measure_command -U -f -F 999 -- chroot "$root" sh -c \
		'cd /tmp && exec erl +S 1 +JPperf true -noshell -s erlang_burn start'
	rm -f "$root"/tmp/{perf-,jit-}*.{map,dump}
	# A name's second part is of the first instructions, before those of the function's body.
	sed -En 's/^[^;]*;(.*;)?\$?(erlang_burn:start)/\2/; T
		s/\$?(erlang_burn|global):+([a-z_]+)(\/[0-9])?(-CodeInfoPrologue)?/\2/g; p' "$out" >"$tmp/stacks"
	awk '{
		n = $NF; sub(/ [0-9]+$/, ""); sub(/;[a-z_]*(shared|main|helper|bif)(;.*)?$/, "")
		all += n
		if (/^start(;outer(;middle(;high|;low(;leaf|;last|;over)?)?)?)?$/) whole += n
		if (/;(leaf|last|over)$/) deep += n
		else if (!/^start(;outer(;middle(;high|;low)?)?)?$/) print "wrong", n, $0
	} END { print all + 0, whole + 0, deep + 0 }' "$tmp/stacks" >"$tmp/sums"
	read -r all whole deep < <(tail -n 1 "$tmp/sums")
	calculates "$all > 200 && $deep > 20"
	check $? "$release's Erlang: its functions are there" "$all samples, $deep of the innermost functions; $(hottest)"
	[ "$whole" = "$all" ]
	check $? "... each with its only caller" "$whole of $all; $(grep wrong "$tmp/sums" | head -n 5)"
done
finish
