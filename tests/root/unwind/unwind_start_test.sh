#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# User stacks are whole from a process's first event on: unwind_start_test.sh BUILD
# timeout: 300
# kind: gone files
. "$(dirname "$0")/../stackcount.bash" "$1"
export XDG_CACHE_HOME=$tmp/cache
mkdir "$XDG_CACHE_HOME"
# On a local file system: other files are copied before they are read.
mkdir "$tmp/local"
mount -t tmpfs none "$tmp/local"
at_exit="umount -l $tmp/local"
cp "$programs/sampled/first_calls" "$tmp/local"
program=$tmp/local/first_calls
large=$programs/sampled/first_calls_large
base='_start;__libc_start_main;__libc_start_call_main;main;outer;'
[ ! -e /proc/$$/autogroup ] || echo -15 >/proc/$$/autogroup

asks=0
can bpf_find_vma && asks=1
no_asking='this kernel has no bpf_find_vma()'
# An event may find the lock of its process's mappings taken, and every copy that was allowed used up.
allowed=0.001
[ "$asks" -eq 1 ] && allowed=0.0001

# whole NAME REGEX COMM NUMBER [FILE]: of so many events of COMM, all but those allowed have that
# stack, and the others say why they have not
whole() {
	local all of excused
	all=$(counted "^$3;" "${5-$out}")
	of=$(counted "^$3;$2" "${5-$out}")
	excused=$(counted "^$3;\[unwind: " "${5-$out}")
	calculates "$all == $4 && $of >= (1 - $allowed) * $all && $of + $excused == $all"
	check $? "$1" "$of of $all, not $4; $(grep "^$3;" "${5-$out}" | tail -n 4 | cut -c 1-300) $(tail -n 3 "$err")"
}

# ---- as it is used
calls=$((100000 / slow))
forks=$((2000 / slow))
cat >"$tmp/ten.sh" <<-'TEN'
	for i in 1 2 3 4 5 6 7 8 9 10; do "$1" "$2"; done
TEN
cat >"$tmp/forks.sh" <<-'FORKS'
	for ((i = 0; i < $1; i++)); do /bin/true; done
FORKS
count -f -P -U t:sched:sched_process_exec -- bash "$tmp/forks.sh" "$forks"
whole "short programs" '_start$' true "$forks"
if have_uprobes; then
	# attached_to NAME EVENT REGEX: the program is known, as another process runs it
	attached_to() {
		begin "$program" wait
		attach -P -U "$2"
		bash "$tmp/ten.sh" "$program" "$calls"
		detach
		end
		whole "$1" "$3" first_calls $((10 * calls)) "$folded"
	}
	attached_to "a function of a program that begins ten times" "$program:target" "${base}target$"
	attached_to "a function of its library" c:getppid "${base}(__)?getppid$"
	# unknown NAME: makes $unknown, a program whose table takes a while, and which no process runs
	unknown() {
		unknown=$tmp/local/$1
		rm -rf "${XDG_CACHE_HOME:?}"/*
		cp "$programs/sampled/first_calls_padded" "$unknown"
		sleep 0.1 # the BPF program does not find files that were changed just now
	}
	unknown unknown1
	attach -P -U "$unknown:target"
	"$unknown" "$calls"
	detach
	whole "a new program" "${base}target$" unknown1 "$calls" "$folded"
	unknown unknown2
	count -f -P -U "$unknown:target" -- bash "$tmp/ten.sh" "$unknown" "$calls"
	whole "a new program, started by a command" "${base}target$" unknown2 \
		$((10 * calls))
else
	skip "programs that begin ten times" "$no_uprobes"
	finish
fi

# ---- while user space learns nothing
# stopped COMMAND...: stackcount, which counts calls of getppid(), is stopped meanwhile
stopped() {
	attach -U -P c:getppid
	kill -STOP "$counter"
	"$@"
	kill -CONT "$counter"
	detach
}
calls=$((10000 / slow))
if [ "$asks" -eq 1 ]; then
	begin "$program" wait
	stopped bash "$tmp/ten.sh" "$program" "$calls"
	end
	whole "user space is not needed for a program that is known" "${base}(__)?getppid$" \
		first_calls $((10 * calls)) "$folded"
	# More often than a walk may ask the kernel, too.
	begin "$program" wait
	stopped "$program" 60 30
	end
	whole "a stack that leads through many files" "_start;.*;main;.*;compare;outer;(__)?getppid$" \
		first_calls 60 "$folded"
else
	skip "user space is not needed for a program that is known" "$no_asking"
fi

cp "$program" "$tmp/local/new_program"
stopped "$tmp/local/new_program" 700
whole "the first events of an unknown program are finished in user space" \
	"${base}(__)?getppid$" new_program 700 "$folded"

# The content of a file is replaced: inode and size stay, the code is at the same addresses, and its
# frames have other sizes.
cp "$program" "$tmp/local/rewritten"
size=$(stat -c %s "$program" "$large" | sort -n | tail -n 1)
truncate -s "$size" "$tmp/local/rewritten"
begin "$tmp/local/rewritten" wait
rewrite() {
	cat "$large" >"$tmp/local/rewritten"
	truncate -s "$size" "$tmp/local/rewritten"
	"$tmp/local/rewritten" 700
}
attach -U -P c:getppid
end
kill -STOP "$counter"
rewrite
kill -CONT "$counter"
detach
whole "no stack is walked by the table of what the file was before" "${base}(__)?getppid$" \
	rewritten 700 "$folded"
finish
