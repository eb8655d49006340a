#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "No stacks of this process": its first thread has ended, it shares its memory with another, it was
# started by vfork() or clone(), is traced, confined, in a root without files, or renames its threads.
# Each way of life has whole stacks with names: lives_test.sh BUILD
# timeout: 240
# kind: lives
. "$(dirname "$0")/../stackcount.bash" "$1"
declare -A pids children
for shape in leader fork vfork memory files exec renamed namespaces setns chroot traced seccomp; do
	begin "$programs/lives" "$shape" || continue
	# In its own namespace it is process 1.
	[ "$pid" -ne 1 ] || pid=$(pgrep -P "$child")
	pids[$shape]=$pid children[$shape]=$child
	exec {reading}<&-
done
at_exit=forget_roots
forget_roots() {
	for pid in "${pids[@]}"; do kill -KILL "$pid"; done 2>>"$fate"
	rmdir /tmp/lives.* 2>>"$fate"
}
comm_of() {
	case $1 in
	exec) echo executed ;;
	renamed) echo renamed-. ;;
	*) echo "$1" ;;
	esac
}
# whole NAME REGEX LEAST PART [OF]: at least LEAST samples have such a stack, and PART of those of OF
whole() {
	local good all
	good=$(counted "$2") all=$(counted "${5-^$(comm_of "$shape");(.*;)?(work|burn|doze|counted)(;|\$)}")
	calculates "$good >= $3 && $good >= $4 * $all"
	check $? "$shape: $1" "$good of $all whole: $(tail -n 2 "$out" | cut -c 1-200) $(tail -n 1 "$err")"
}
root_of_work() {
	case $1 in
	leader) echo '(start_thread|clone3?|\[libc[^;]*);(.*;)?work_in_thread;work' ;;
	memory | files | namespaces) echo '(__)?clone;work_in_clone;work' ;;
	*) echo '_start;(.*;)?main;(.*;)?work' ;;
	esac
}

# ---- one measurement of all (a debugger stops its process anywhere)
measure -U -f -F 499 $((3 * slow))
for shape in "${!pids[@]}"; do
	whole "profile" "^$(comm_of "$shape");(.*;)?$(root_of_work "$shape")(;|\$)" 5 0.9
done
# The sleep in which it begins has a stack only if it goes on until that was read.
measure -U -f --off-cpu $((2 * slow))
for shape in "${!pids[@]}"; do
	whole "--off-cpu" "^$(comm_of "$shape");(.*;)?$(root_of_work "$shape")(;.*)?;\[blocked\]" 10000 0.8 \
		"^$(comm_of "$shape");.*\[blocked\]"
done

# ---- each alone
for shape in "${!pids[@]}"; do
	measure -U -f -F 499 -p "${pids[$shape]}" $slow
	whole "profile -p" "^$(comm_of "$shape");(.*;)?$(root_of_work "$shape")(;|\$)" 1 0.9
	[ -d /sys/bus/event_source/devices/uprobe ] || continue
	count -U -f -D $slow -p "${pids[$shape]}" "$programs/lives:counted"
	whole "stackcount -p" "^$(comm_of "$shape");(.*;)?$(root_of_work "$shape");counted" 1 0.95
done
[ -d /sys/bus/event_source/devices/uprobe ] || skip "stackcount" "$no_uprobes"
finish
