#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
# Compares our walk with the true stack at every instruction of the programs in
# tests/workloads/unwind, and shows that walks by wrong rules are found: unwind_oracle_test.sh
# BUILD. STACKTALLY_ORACLE=long begins at the first instruction of the dynamic linker, and sends a
# signal before every second instruction of all programs; it takes minutes.
# kind: callers
build=${1:?}
shadow=$build/tests/walks/oracle/shadow
programs=$build/tests/workloads/unwind
known=$(dirname "$0")/../walks/oracle/known.txt
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

value() { # value NAME FILE: the number after NAME= in the last line
	tail -n 1 "$2" | grep -o "\b$1=[0-9]*" | cut -d= -f2
}

# one NAME ARG ...: runs the oracle; keeps its output, messages and status in NAME.out, .err and
# .status
one() {
	local name=$1
	shift
	"$shadow" --known "$known" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null
	echo $? >"$tmp/$name.status"
}

if ! echo | "$shadow" --limit 1000 /bin/true 2>&1 | grep -q ^instructions=; then
	echo "skip true stacks: ptrace is refused here"
	exit 0
fi

# ---- each program; then variations
declare -a names=() jobs=()
add() { # add NAME ARG ...
	names+=("$1")
	jobs+=("${*:2}")
}
for source in "$(dirname "$0")"/../workloads/unwind/*.c*; do
	program=$(basename "${source%.*}")
	add "$program" "$programs/$program"
done
add "from the dynamic linker on" --from-start "$programs/ifunc"
for program in frames plt_lazy plt_sec realigned clocks odd_frames marked_frames debug_frame coroutines assembly \
	constant_frame; do
	add "$program, interrupted" --signal 3 "$programs/$program"
done
# Without symbols, and without section headers: e_shoff, then e_shnum and e_shstrndx are 0.
strip -o "$tmp/stripped" "$programs/callbacks" && cp "$tmp/stripped" "$tmp/sectionless" &&
	printf '\0\0\0\0\0\0\0\0' | dd of="$tmp/sectionless" bs=1 seek=40 conv=notrunc status=none &&
	printf '\0\0\0\0' | dd of="$tmp/sectionless" bs=1 seek=60 conv=notrunc status=none
add "without section headers" "$tmp/sectionless"
if [ "$STACKTALLY_ORACLE" = long ]; then
	for source in "$(dirname "$0")"/../workloads/unwind/*.c*; do
		program=$(basename "${source%.*}")
		add "$program, from the dynamic linker on" --from-start "$programs/$program"
		add "$program, interrupted often" --signal 2 "$programs/$program"
	done
fi

running=0
for i in "${!names[@]}"; do
	# shellcheck disable=SC2086
	one "$i" ${jobs[i]} &
	running=$((running + 1))
	if [ $running -ge "$(nproc)" ]; then
		wait -n
		running=$((running - 1))
	fi
done
wait

instructions=0 frames=0 explained=0 injected=0
for i in "${!names[@]}"; do
	if [ "$(cat "$tmp/$i.status")" = 0 ] && [ "$(value instructions "$tmp/$i.out")" -gt 1000 ] &&
		! { [ "${names[i]}" = "without section headers" ] && [ "$(value known "$tmp/$i.out")" -gt 30 ]; }; then
		echo "ok true stacks: ${names[i]}"
	else
		head -n 40 "$tmp/$i.err"
		echo "FAIL true stacks: ${names[i]}: $(tail -n 1 "$tmp/$i.out")"
	fi
	instructions=$((instructions + $(value instructions "$tmp/$i.out")))
	frames=$((frames + $(value frames "$tmp/$i.out")))
	explained=$((explained + $(value known "$tmp/$i.out")))
	injected=$((injected + $(value injected "$tmp/$i.out")))
done
# Few differences are explained by the list; most of these are in C++'s unwinder.
if [ $instructions -gt 500000 ] && [ $((explained * 200)) -lt $instructions ] &&
	[ $injected -gt 1000 ]; then
	echo "ok true stacks in all: $instructions instructions checked, $frames frames, $explained explained, $injected signals sent"
else
	echo "FAIL true stacks in all: $instructions instructions, $explained explained, $injected signals"
fi

# ---- the oracle can fail: it finds each kind of wrong rule
spoilt() { # spoilt SORT PROGRAM
	one spoilt --show 0 --spoil "$1" "$programs/$2"
	if [ "$(cat "$tmp/spoilt.status")" = 1 ] &&
		[ $(($(value wrong "$tmp/spoilt.out") + $(value short "$tmp/spoilt.out"))) -gt 0 ]; then
		echo "ok wrong rules are found: $1: $(tail -n 1 "$tmp/spoilt.out" | grep -o 'wrong.*known')"
	else
		echo "FAIL wrong rules are found: $1 in $2: $(tail -n 1 "$tmp/spoilt.out")"
	fi
}
spoilt cfa frames
spoilt chain frames_unoptimized
spoilt plt plt_lazy
spoilt memory realigned
spoilt fp frames_unoptimized
spoilt frame realigned
spoilt kept plt_lazy
spoilt clone threads
spoilt signal signals
spoilt end frames
