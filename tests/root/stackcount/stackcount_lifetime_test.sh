#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Privileges that attaching needs, how long it takes, and that nothing is left in the kernel
# afterwards: stackcount_lifetime_test.sh BUILD
# timeout: 240
# quiet: it limits the time that attaching takes
# kind: refusals
. "$(dirname "$0")/../stackcount.bash" "$1"

# ---- privileges
if command -v setpriv >>"$fate" && [ -r "$stackcount" ]; then
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if "${nobody[@]}" "$stackcount" --version >>"$fate" 2>&1; then
		for pattern in t:sched:sched_switch c:malloc; do
			"${nobody[@]}" "$stackcount" -D 1 "$pattern" >"$out" 2>"$err"
			status=$?
			[ "$status" -eq 3 ] && [ ! -s "$out" ] && [ "$(wc -l <"$err")" -le 2 ] &&
				grep -q 'CAP_\|root' "$err"
			check $? "without privileges, the message says which are needed ($pattern)" "status $status: $(cat "$err")"
		done
		"${nobody[@]}" --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon \
			"$stackcount" -D 0.2 c:malloc >"$out" 2>"$err"
		status=$?
		[ "$status" -eq 0 ] || { [ "$status" -eq 3 ] && grep -q 'CAP_' "$err"; }
		check $? "CAP_BPF and CAP_PERFMON: it works, or the message says what else is needed" \
			"status $status: $(cat "$err")"
	else
		skip "privileges" "nobody may not run programs in $1"
	fi
else
	skip "privileges" "there is no setpriv (util-linux)"
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

# ---- too few descriptors: nothing is attached, and the message names the first refusal
if ! command -v setpriv >>"$fate"; then
	skip "too few descriptors" "there is no setpriv (util-linux)"
else
	# Without CAP_SYS_RESOURCE stackcount cannot raise the limits on descriptors and on locked
	# memory, which BPF maps need before Linux 5.11.
	(
		ulimit -l unlimited 2>>"$fate"
		ulimit -n 150 # enough to load, but fewer than there are system calls
		exec setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
			"$stackcount" -D 1 't:syscalls:sys_enter_*' >"$out" 2>"$err"
	)
	status=$?
	exits "too few descriptors to attach: exit status 1" 1
	[ ! -s "$out" ] && [ "$(grep -vc '^\(at\|de\)taching: ' "$err")" -eq 1 ]
	check $? "too few descriptors to attach: said in one line" "$(cat "$out" "$err")"
	says "too few descriptors to attach: the first refusal is named" \
		'^stackcount: cannot attach to syscalls:sys_enter_[a-z0-9_]+ \(number [0-9]+ of [0-9]+\): Too many open files; raise'
	# With fewer the programs cannot be loaded, while another thread fills the tables.
	wrong='' named=0
	for limit in 24 28 32 36 40 44 48 52; do
		(
			ulimit -l unlimited 2>>"$fate"
			ulimit -n "$limit"
			exec timeout $((30 * slow)) setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
				"$stackcount" -D 0.1 t:sched:sched_switch >"$out" 2>"$err"
		)
		status=$?
		{ [ "$status" -eq 1 ] || [ "$status" -eq 3 ]; } && [ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ] ||
			wrong+=" $limit: status $status, $(head -n 2 "$err");"
		! grep -q 'Too many open files' "$err" || named=$((named + 1))
	done
	[ -z "$wrong" ] && [ "$named" -gt 0 ]
	check $? "too few descriptors to load: one line and an exit status, at each of 8 limits" \
		"$named name the reason; wrong:$wrong"
fi
if command -v strace >>"$fate"; then
	# Whichever call that makes a descriptor lacks one first, also if libbpf only asks what the kernel
	# supports. If the call was one that may fail, events are counted: libbpf makes a map again
	# without BTF, and loads a program again for its log.
	wrong='' named=0
	makes='MAP_CREATE|PROG_LOAD|BTF_LOAD|LINK_CREATE|TRACEPOINT_OPEN|FD_BY_ID'
	optional='libbpf_det_bind|PROG_LOAD|MAP_CREATE.*btf_fd=[1-9]'
	for number in 2 3 6 8 25 26 30; do
		(
			ulimit -l unlimited 2>>"$fate"
			ulimit -n 60
			exec strace -f -o "$tmp/trace" -e trace=bpf \
				-e inject=bpf:error=EMFILE:when=$number "$stackcount" -D 0.1 c:malloc
		) >"$out" 2>"$err"
		status=$?
		if grep -Eq 'Too many open files' "$err"; then
			named=$((named + 1))
		elif [ $status -ne 0 ] ||
			grep INJECTED "$tmp/trace" | grep -E "$makes" | grep -Eqv "$optional"; then
			wrong+=" $number: status $status, $(tail -n 1 "$err"), $(grep INJECTED "$tmp/trace");"
		fi
	done
	[ -z "$wrong" ] && [ "$named" -ge 4 ]
	check $? "too few descriptors: said so whichever call fails" "$wrong"
	# A probe that the kernel refuses is left out and named; the others count.
	from=$SECONDS
	strace -f -o "$fate" -e trace=perf_event_open \
		-e inject=perf_event_open:error=EINVAL:when=$((cpus * 2 + 6)) \
		"$stackcount" -D 0.2 't:syscalls:sys_enter_s*' >"$out" 2>"$err"
	status=$?
	exits "one of many probes is refused: the others count" 0
	if ((SECONDS - from >= 4 * slow)); then
		says "attaching that takes long shows its progress" '^(at|de)taching: [0-9]+ of [0-9]+ probes$'
	else
		skip "attaching that takes long shows its progress" "it takes no more than a second or two here"
	fi
	says "one of many probes is refused: it is named" '^1 match left out: syscalls:sys_enter_s[a-z0-9_]* \(Invalid argument\)'
fi

# ---- killed, it leaves nothing in the kernel
# The ids of its programs, links and maps, read from its descriptors.
ids_of() { # PID: prints lines like "prog 12" and "link 5"
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
	# The instruction under the probe, in the memory of the process.
	begin "$calls" wait function 10
	address=$((16#$(nm "$calls" | sed -n 's/ T sc_counted$//p')))
	base=$((16#$(awk -v f="$(readlink -f "$calls")" '$6 == f { sub(/-.*/, "", $1); print $1; exit }' "/proc/$pid/maps")))
	code() { dd if="/proc/$pid/mem" bs=1 skip=$((base + address)) count=1 status=none | od -An -tx1; }
	clean=$(code)
	is_clean() { [ "$(code)" = "$clean" ]; }
	attach "$calls:sc_counted"
	turn
	! is_clean
	check $? "(a probe is in the code while it counts)" "$(code)"
	kill -KILL "$counter"
	wait "$counter" 2>>"$fate"
	await 30 is_clean
	check $? "killed, it leaves the code clean" "$(code), not $clean"
	turn
	is "... and the program runs on" "$turns" 10
	end
	begin "$programs/sc_usdt_semaphore" wait 10
	attach "u:$programs/sc_usdt_semaphore:*"
	check $? "(semaphores are set)" "$(cat "$err")"
	ids_of "$counter" >"$tmp/ids"
	kill -KILL "$counter"
	wait "$counter" 2>>"$fate"
	[ -z "$bpftool" ] || await 30 gone
	kill -TERM "$pid"
	is "killed, it leaves semaphores at 0" "$(cat <&"$reading")" "semaphores 0 0"
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
lasts() { # NAME LIMIT ARGUMENT...: takes less than LIMIT ms besides the second it measures; 0: no limit
	local name=$1 limit=$2 within= from=$EPOCHREALTIME took n
	shift 2
	BCC_PROBE_LIMIT=100000 count -q -D 1 -p "$pid" "$@"
	took=$(awk "BEGIN { printf \"%d\", ($EPOCHREALTIME - $from) * 1000 - 1000 }")
	n=$(sed -n 's/^Tracing \([0-9]*\) functions.*/\1/p' "$out")
	[ "$limit" -eq 0 ] || within=" within $limit ms"
	[ "$status" -eq 0 ] && [ "${n:-0}" -ge "$least" ] && { [ "$limit" -eq 0 ] || [ "$took" -lt "$limit" ]; }
	check $? "$name$within ($n functions, $took ms)" "status $status: $(tail -n 2 "$err" | cut -c 1-300)"
}
# There is no limit on an emulated machine.
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
