#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Containers that ran before the measurement, whose shells start short-lived programs again and again
# as health checks and entry points do: "all user stacks of this container are broken". Their files
# are not this machine's, and are first met through children that have ended:
# containers_before_test.sh BUILD
# timeout: 120
# kind: roots
. "$(dirname "$0")/../harness.bash" "$1"

if ! root=$("$(dirname "$0")/../../root_of" trixie coreutils bash 2>"$err"); then
	skip "containers that ran before" "$(cat "$err")"
	finish
fi
mkdir "$tmp/containers"
if ! mount -t tmpfs none "$tmp/containers" 2>"$err"; then
	skip "containers that ran before" "$(cat "$err")"
	finish
fi
at_exit="umount -l $tmp/containers"

# container NAME MOUNT...: starts a container; MOUNT... mounts its root on $at/root. Its shell is
# called NAME, the program that this starts NAMEs.
container() {
	local name=$1
	at=$tmp/containers/$1
	mkdir -p "$at/up" "$at/work" "$at/root"
	cat >"$at/init" <<-EOF
		mount --make-rprivate /
		${*:2} "$at/root" || exit
		mount -t proc proc "$at/root/proc"
		mount -t tmpfs none "$at/root/run"
		mkdir "$at/root/run/host"
		cd "$at/root" && pivot_root . run/host || exit
		cp /bin/bash /run/$name && cp /bin/sort /run/${name}s
		echo "ready \$\$"
		exec /run/$name -c '
			while :; do
				for i in {1..20}; do echo \$i; done | /run/${name}s >/dev/null
			done'
	EOF
	begin unshare -mpf --kill-child bash "$at/init"
}
layers=$tmp/containers/uxlayers
# Without xino, the kernel and stat() disagree about a file's inode, not only about its device.
container uxlayers mount -t overlay none -o \
	"xino=off,lowerdir=$root,upperdir=$layers/up,workdir=$layers/work" || finish
container uxbind mount --bind "$root" || finish

# judge NAME [FILE]: sets $n to the number of its samples, without those that any process can have that
# began just now on a busy machine, and $whole to that of whole stacks.
judge() {
	local late
	late=$(counted "^$1.*\[unwind: (no process|table pending)\]" "${2-$out}")
	n=$(($(counted "^$1" "${2-$out}") - late))
	whole=$((n + late - $(counted "^$1.*\[unwind: " "${2-$out}")))
}
: >"$tmp/all"
worst=100 worst_of=
for i in {1..10}; do
	measure -U -f -F 499 $slow
	cat "$out" >>"$tmp/all"
	for name in uxlayers uxbind; do
		judge "$name"
		# A run with less says little.
		[ "$n" -ge 20 ] && [ $((100 * whole / n)) -lt "$worst" ] &&
			worst=$((100 * whole / n)) worst_of="$name, run $i: $whole of $n"
	done
done
for name in uxlayers uxbind; do
	judge "$name" "$tmp/all"
	calculates "$n > 50 && $whole >= 0.95 * $n"
	check $? "$name: 95 % of the stacks are whole" "$whole of $n: $(grep -o "^$name.*\[unwind: [^;]*" \
		"$tmp/all" | sed 's/.*\[//' | sort | uniq -c | sort -rn | head -n 3)"
	[ "$(counted "^$name.*;execute_command" "$tmp/all")" -gt 0 ]
	check $? "$name: functions of its shell have names" \
		"$(grep "^$name" "$tmp/all" | tail -n 2 | cut -c 1-300)"
done
[ "$worst" -ge 80 ]
check $? "no run has less than 80 %" "$worst_of"
calculates "$(counted '\[unwind: (broken CFI|file not opened)\]' "$tmp/all") <= 0.01 * $(total "$tmp/all")"
check $? "all files are opened, and no CFI is called broken" \
	"$(grep -E 'broken CFI|not opened' "$tmp/all" | head -n 2 | cut -c 1-300)"
finish
