#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# N calls are counted as N, for all kinds of probes: stackcount_counts_test.sh BUILD
# timeout: 180
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

# counts_exactly NAME FACTOR ARGUMENT...: counts FACTOR events for each turn of the program that
# begin() started. If $only is set, only stacks that match it are added up.
counts_exactly() {
	local name=$1 factor=$2 n
	shift 2
	if ! attach "$@"; then
		fail "$name" "does not start: $(head -n 3 "$err")"
		return
	fi
	turn || fail "$name" "the program did not do its turn"
	detach
	n=$(counted "${only-.}" "$folded")
	[ "$status" -eq 0 ] && [ "$turns" -gt 0 ] && [ "$n" -eq $((turns * factor)) ]
	check $? "$name" "$n counted of $turns turns, status $status: $(tail -n 2 "$err")"
}

# ---- user functions
if have_uprobes; then
	begin "$calls" wait function 20000
	counts_exactly "a function by the executable's path" 1 "$calls:sc_counted"
	counts_exactly "the same with p: before it" 1 "p:$calls:sc_counted"
	counts_exactly "a function of one process" 1 -p "$pid" "$calls:sc_counted"
	PATH=$programs:$PATH
	counts_exactly "a function of an executable in PATH" 1 sc_calls:sc_counted
	counts_exactly "the executable by its name in the process's mappings" 1 \
		-p "$pid" sc_calls:sc_counted
	counts_exactly "two names of one address count once" 1 -r "$calls:sc_(counted|alias)"
	counts_exactly "three functions of one call path count thrice" 3 -r \
		"$calls:sc_(counted|middle|outer)"
	end
	begin "$calls" wait a64l 20000
	counts_exactly "a function of a library in the dynamic linker's cache" 1 c:a64l
	counts_exactly "a function of a library of one process" 1 -p "$pid" c:a64l
	end
	begin "$calls" wait malloc 20000
	only=';sc_malloc;'
	counts_exactly "malloc of one process" 1 -p "$pid" c:malloc
	counts_exactly "malloc and free of one process" 2 -p "$pid" -r 'c:(malloc|free)'
	unset only
	end
	begin "$calls" wait library 20000
	counts_exactly "a library that only the process's own mappings know" 1 -p "$pid" \
		sc_target:sc_library_call
	counts_exactly "the same by its path" 1 "$programs/libsc_target.so:sc_library_call"
	end
	# In a chroot, paths are as the process sees them.
	mkdir -p "$tmp/jail/bin"
	cp "$calls" "$tmp/jail/bin/jailed"
	for file in $(ldd "$calls" | grep -o '/[^ ]*'); do
		mkdir -p "$tmp/jail${file%/*}" && cp -L "$file" "$tmp/jail$file"
	done
	if begin chroot "$tmp/jail" /bin/jailed wait function 1000; then
		counts_exactly "a path in the process's own root" 1 -p "$pid" /bin/jailed:sc_counted
		counts_exactly "an executable in its PATH there" 1 -p "$pid" jailed:sc_counted
		end
	fi
	fails 1 "... which does not exist without -p" 'unable to find library /bin/jailed' -D 1 /bin/jailed:sc_counted
	# Threads on all CPUs at once, all with the same stack.
	n=$((200000 / (slow * slow)))
	begin "$calls" wait function "$n" "$cpus"
	counts_exactly "$cpus CPUs at once, $n calls each" 1 "$calls:sc_counted"
	is "(so many turns were done)" "$turns" $((n * cpus))
	closing
	is "... and nothing is lost" "$lost" 0
	end
	begin "$calls" wait function 2000 $((cpus * 8))
	counts_exactly "eight threads on each CPU" 1 "$calls:sc_counted"
	end
else
	skip "user functions" "$no_uprobes"
fi

# ---- tracepoints
begin "$calls" wait getpgid 20000
only=';turns;sc_getpgid;syscall$'
counts_exactly "raw_syscalls:sys_enter" 1 -U -p "$pid" t:raw_syscalls:sys_enter
counts_exactly "raw_syscalls:*: each call counts at its entry and its exit" 2 -U -p "$pid" 't:raw_syscalls:*'
unset only
count -q -D 0.1 t:syscalls:sys_enter_getpgid
if [ "$status" -eq 0 ]; then
	counts_exactly "syscalls:sys_enter_getpgid" 1 -p "$pid" t:syscalls:sys_enter_getpgid
else
	skip "syscalls:sys_enter_getpgid" "this kernel has no such tracepoint (CONFIG_FTRACE_SYSCALLS)"
fi
end
begin "$calls" wait getpgid $((20000 / slow)) "$cpus"
only=';turns;sc_getpgid;syscall$'
counts_exactly "a tracepoint on $cpus CPUs at once" 1 -U -p "$pid" t:raw_syscalls:sys_enter
unset only
end

# ---- USDT
if have_uprobes; then
	usdt=$programs/sc_usdt
	begin "$usdt" wait 10000
	counts_exactly "a USDT probe" 1 "u:$usdt:other"
	counts_exactly "a USDT probe of two providers" 2 "u:$usdt:hit"
	counts_exactly "a USDT probe of one provider" 1 "u:$usdt:sc_two:hit"
	counts_exactly "all USDT probes of a process" 3 -p "$pid" "u:$usdt:*"
	counts_exactly "all USDT probes of a provider" 2 -p "$pid" "u:$usdt:sc_one:*"
	PATH=$programs:$PATH
	counts_exactly "a USDT probe of an executable in PATH" 1 u:sc_usdt:other
	end
	guarded=$programs/sc_usdt_semaphore
	begin "$guarded" wait 10000
	counts_exactly "a USDT probe that runs only if its semaphore is set" 1 "u:$guarded:hit"
	counts_exactly "the same of one process" 1 -p "$pid" "u:$guarded:hit"
	counts_exactly "a USDT probe with a semaphore that the program does not ask" 1 "u:$guarded:sc_guarded:open"
	kill -TERM "$pid"
	said=$(cat <&"$reading")
	wait "$child"
	is "semaphores are 0 again afterwards" "$said" "semaphores 0 0"
	exec {reading}<&-
	count -f "u:$guarded:hit" -- "$guarded" now 5000
	sed -i '/^done\|^semaphores/d' "$out"
	is "the semaphore of a command is set from its start" "$(total)" 5000
else
	skip "USDT" "$no_uprobes"
fi

# ---- kernel functions
if have_kprobes; then
	begin "$calls" wait pread 20000
	only=';turns;sc_pread;[^;]*pread[^;]*;'
	counts_exactly "a kernel function" 1 -p "$pid" vfs_read
	only=';turns;sc_pread;[^;]*pread[^;]*$'
	counts_exactly "a kernel function, p:: before it" 1 -U -p "$pid" p::vfs_read
	counts_exactly "kernel functions by a regular expression" 1 -U -p "$pid" -r '^vfs_(read|write)$'
	unset only
	end
	begin "$calls" wait getpgid $((40000 / slow)) "$cpus"
	only=';turns;sc_getpgid;syscall$'
	counts_exactly "a kernel function on $cpus CPUs at once" 1 -U -p "$pid" '*_sys_getpgid'
	unset only
	end
else
	skip "kernel functions" "$no_kprobes"
fi

# ---- a launched command and its children
if have_uprobes; then
	children=$programs/sc_children
	count -f "$children:sc_work" -- "$children" 3 2000
	is "a command and its three children" "$(total)" 8000
	exits "... whose exit status 0 is passed on" 0
	count -f c:malloc -- "$children" 3 2000
	is "malloc of a command and its children" "$(counted ';sc_work;')" 8000
	count -f "$calls:sc_counted" -- "$calls" now function 100 "$cpus"
	sed -i '/^done\|^caller/d' "$out"
	is "a command from its first instruction to its end" "$(total)" $((100 * cpus))
	count -q -f "$children:sc_work" -- sh -c "$children 0 7; exit 7"
	exits "the exit status of a command is passed on" 7
fi
finish
