#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What it takes to attach, how long that takes, and that nothing is left behind:
# stackcount_lifetime_test.sh BUILD
# timeout: 240
. "$(dirname "$0")/../stackcount.bash" "$1"

# ---- privilege
if command -v setpriv >>"$fate" && [ -r "$stackcount" ]; then
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if "${nobody[@]}" "$stackcount" --version >>"$fate" 2>&1; then
		for pattern in t:sched:sched_switch c:malloc; do
			"${nobody[@]}" "$stackcount" -D 1 "$pattern" >"$out" 2>"$err"
			status=$?
			[ "$status" -eq 3 ] && [ ! -s "$out" ] && [ "$(wc -l <"$err")" -le 2 ] &&
				grep -q 'CAP_\|root' "$err"
			check $? "nobody is told what it takes ($pattern)" "status $status: $(cat "$err")"
		done
		"${nobody[@]}" --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon \
			"$stackcount" -D 0.2 c:malloc >"$out" 2>"$err"
		status=$?
		[ "$status" -eq 0 ] || { [ "$status" -eq 3 ] && grep -q 'CAP_' "$err"; }
		check $? "CAP_BPF and CAP_PERFMON: it works, or says what else it takes" \
			"status $status: $(cat "$err")"
	else
		skip "privilege" "nobody may not run programs in $1"
	fi
else
	skip "privilege" "there is no setpriv (util-linux)"
fi

# ---- tracefs not mounted
kernel_function=t:sched:sched_switch
! have_kprobes || kernel_function=vfs_read
for pattern in t:sched:sched_switch "$kernel_function"; do
	unshare -m bash -c 'for d in /sys/kernel/debug/tracing /sys/kernel/tracing /sys/kernel/debug; do
		while umount "$d" 2>/dev/null; do :; done; done
		[ ! -e /sys/kernel/tracing/events ] || exit 99
		exec "$0" -D 0.2 "$1"' "$stackcount" "$pattern" >"$out" 2>"$err"
	is "without tracefs $pattern works" "$?" 0
done

# ---- refused half-way: all or nothing, and the first refusal is named
if ! command -v setpriv >>"$fate"; then
	skip "a refusal half-way" "there is no setpriv (util-linux)"
else
	# Without the capability the limit on descriptors cannot be raised, nor before Linux 5.11 the
	# one on locked memory, which BPF maps are there.
	(
		ulimit -l unlimited
		ulimit -n 150 # fewer than there are system calls, enough to load
		exec setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
			"$stackcount" -D 1 't:syscalls:sys_enter_*' >"$out" 2>"$err"
	)
	status=$?
	exits "refused half-way: exit status 1" 1
	[ ! -s "$out" ] && [ "$(grep -vc '^\(at\|de\)taching: ' "$err")" -eq 1 ]
	check $? "refused half-way: said in one line" "$(cat "$out" "$err")"
	says "refused half-way: which was the first" \
		'^stackcount: cannot attach to syscalls:sys_enter_[a-z0-9_]+ \(number [0-9]+ of [0-9]+\): Too many open files; raise'
	# The load fails while the tables are being filled beside it.
	worst=0
	for limit in 24 28 32 36 40 44 48 52; do
		(
			ulimit -l unlimited
			ulimit -n "$limit"
			exec setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
				"$stackcount" -D 0.1 t:sched:sched_switch >"$out" 2>"$err"
		)
		status=$?
		[ "$status" -le "$worst" ] || worst=$status
	done
	check $((worst > 3)) "too few descriptors: an error, whenever it is" "exit status $worst"
fi
if command -v strace >>"$fate"; then
	# One that cannot be probed is left out, and named; the others are counted.
	from=$SECONDS
	strace -f -o "$fate" -e trace=perf_event_open \
		-e inject=perf_event_open:error=EINVAL:when=$((cpus * 2 + 6)) \
		"$stackcount" -D 0.2 't:syscalls:sys_enter_s*' >"$out" 2>"$err"
	status=$?
	exits "one of many is refused: the others are counted" 0
	if ((SECONDS - from >= 4 * slow)); then
		says "what takes long says how far it is" '^(at|de)taching: [0-9]+ of [0-9]+ probes$'
	else
		skip "what takes long says how far it is" "it takes no more than a second or two here"
	fi
	says "one of many is refused: which" '^1 match left out: syscalls:sys_enter_s[a-z0-9_]* \(Invalid argument\)'
fi

# ---- killed, it leaves nothing behind
# What the kernel holds for it: the ids of its programs and links, by its descriptors.
ids_of() { # PID: "prog 12", "link 5" lines
	cat "/proc/$1/fdinfo/"* 2>>"$fate" | sed -n 's/^\(prog\|link\|map\)_id:[[:blank:]]*\([0-9]*\)$/\1 \2/p' | sort -u
}
gone() {
	local kind id
	while read -r kind id; do
		! "$bpftool" "$kind" show id "$id" >>"$fate" 2>&1 || return 1
	done <"$tmp/ids"
}
bpftool=$(PATH=$PATH:/usr/sbin command -v bpftool)
if have_kprobes; then
	mkdir "$tmp/debug" && mount -t debugfs none "$tmp/debug"
	unmount() { umount "$tmp/debug"; }
	at_exit=unmount
	kprobes() { grep -c 'vfs_read+0x0' "$tmp/debug/kprobes/list"; }
	no_probe() { [ "$(kprobes)" -eq 0 ]; }
fi
patterns=(t:sched:sched_switch)
! have_uprobes || patterns+=("$calls:sc_counted" "u:$programs/sc_usdt_semaphore:hit")
! have_kprobes || patterns+=(vfs_read)
for pattern in "${patterns[@]}"; do
	name=${pattern//"$programs"\//}
	if [ -z "$bpftool" ]; then
		skip "killed, $name leaves nothing" "there is no bpftool"
		break
	fi
	attach "$pattern"
	ids_of "$counter" >"$tmp/ids"
	held=$(wc -l <"$tmp/ids")
	gone && held=0
	kill -KILL "$counter"
	wait "$counter" 2>>"$fate"
	await 30 gone
	[ $? -eq 0 ] && [ "$held" -ge 2 ]
	check $? "killed, $name leaves no program, link or map" "of $held: $(tr '\n' ' ' <"$tmp/ids")"
done
if have_uprobes; then
	# The instruction under the probe, as the process has it.
	begin "$calls" wait function 10
	address=$((16#$(nm "$calls" | sed -n 's/ T sc_counted$//p')))
	base=$((16#$(awk -v f="$(readlink -f "$calls")" '$6 == f { sub(/-.*/, "", $1); print $1; exit }' "/proc/$pid/maps")))
	code() { dd if="/proc/$pid/mem" bs=1 skip=$((base + address)) count=1 status=none | od -An -tx1; }
	clean=$(code)
	is_clean() { [ "$(code)" = "$clean" ]; }
	attach "$calls:sc_counted"
	turn
	! is_clean
	check $? "a probe is in the code while it is counted" "$(code)"
	kill -KILL "$counter"
	wait "$counter" 2>>"$fate"
	await 30 is_clean
	check $? "killed, it leaves the code clean" "$(code), not $clean"
	turn
	is "... and the program runs on" "$turns" 10
	end
	begin "$programs/sc_usdt_semaphore" wait 10
	attach "u:$programs/sc_usdt_semaphore:*"
	kill -KILL "$counter"
	wait "$counter" 2>>"$fate"
	await 30 gone
	kill -TERM "$pid"
	is "killed, it leaves semaphores down" "$(cat <&"$reading")" "semaphores 0 0"
	wait "$child"
	exec {reading}<&-
fi
if have_kprobes; then
	attach vfs_read
	probes=$(kprobes)
	kill -KILL "$counter"
	wait "$counter" 2>>"$fate"
	if [ "$probes" -gt 0 ]; then
		await 30 no_probe
		check $? "killed, it leaves no kprobe" "$(kprobes)"
	else
		skip "killed, it leaves no kprobe" "this kernel attaches through ftrace"
	fi
fi

# ---- how long it takes
begin "$calls" wait function 10
lasts() { # NAME LIMIT ARGUMENT...: less than LIMIT ms beside the second it measures; 0: any time
	local name=$1 limit=$2 within= from=$EPOCHREALTIME took n
	shift 2
	BCC_PROBE_LIMIT=100000 count -q -D 1 -p "$pid" "$@"
	took=$(awk "BEGIN { printf \"%d\", ($EPOCHREALTIME - $from) * 1000 - 1000 }")
	n=$(sed -n 's/^Tracing \([0-9]*\) functions.*/\1/p' "$out")
	[ "$limit" -eq 0 ] || within=" within $limit ms"
	[ "$status" -eq 0 ] && [ "${n:-0}" -ge "$least" ] && { [ "$limit" -eq 0 ] || [ "$took" -lt "$limit" ]; }
	check $? "$name$within ($n functions, $took ms)" "status $status: $(tail -n 2 "$err" | cut -c 1-300)"
}
# Emulation is slower by so much that the limit is not held there.
limit=2000
[ "$slow" -eq 1 ] || limit=0
if have_uprobes; then
	if can 'uprobe.multi link'; then
		least=1500 lasts "libc's functions are attached and detached" "$limit" -r 'c:[_a-z].*'
	else
		least=20 lasts "libc's functions are attached and detached one by one" 0 'c:str*'
	fi
fi
if have_kprobes; then
	mkdir "$tmp/tracing" && mount -t tracefs none "$tmp/tracing"
	unmount() { umount "$tmp/tracing" "$tmp/debug"; }
	letters=a
	if can 'kprobe.multi link'; then
		for letter in b c d e f g h i j k l m; do
			[ "$(grep -c "^[$letters]" "$tmp/tracing/available_filter_functions")" -lt 5000 ] || break
			letters+=$letter
		done
		least=4500 lasts "5,000 kernel functions are attached and detached" "$limit" -K -r "[$letters].*"
	else
		least=20 lasts "kernel functions are attached and detached one by one" 0 -K 'vfs_*'
	fi
fi
end
finish
