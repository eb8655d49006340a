#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# -l: what a pattern would probe, and that nothing is: stackcount_list_test.sh BUILD
# timeout: 120
# kind: calls
. "$(dirname "$0")/../stackcount.bash" "$1"

# lists NAME EXPECTED ARGUMENT...: exactly that on stdout, with X for places in files
lists() {
	count -l "${@:3}"
	[ "$status" -eq 0 ] && [ "$(sed 's/+0x[0-9a-f]*$/+X/' "$out")" = "$2" ]
	check $? "$1" "exit status $status; $(head -n 5 "$out"); $(tail -n 2 "$err")"
}
# probes: how many lines name a probe; others are indented
probes() { grep -c '^[^ ]' "$out"; }

# ---- programs: no privilege is needed
lists "USDT probes with arguments, in their places" "u:$programs/sc_usdt:sc_one:hit  medium  +X
    $(count -l "u:$programs/sc_usdt:sc_one:hit" && sed -n 's/^    \(arg1 uint64_t [-0-9%()a-z]*\)$/\1/p' "$out")" "u:$programs/sc_usdt:sc_one:hit"
count -l "u:$programs/sc_usdt:*"
is "... all of a program" "$(probes)" 3
says "... with a second argument" '^    arg2 uint64_t ' "$out"
count -l "u:$programs/sc_usdt_semaphore:*"
says "... with semaphores" '^    has a semaphore' "$out"
count -l "$calls:sc_glob_*"
is "functions of a program by a wildcard" "$(probes)" 3
is "... at the addresses that nm has" "$(sed -n 's/^.*:sc_glob_one .*+0x\([0-9a-f]*\)$/\1/p' "$out" | head -n 1)" \
	"$(nm "$calls" | sed -n 's/^0*\([0-9a-f]*\) . sc_glob_one$/\1/p')"
says "... and how many there are" '^3 places would be probed; nothing is attached$'
count -l c:malloc
says "functions of a library have versions" '^    version GLIBC_' "$out"
path=$(sed -n '1s/^\(\/[^ ]*\):malloc .*/\1/p' "$out")
[ -e "$path" ]
check $? "... and the path of the file" "$(head -n 2 "$out")"
pattern=$(sed -n '1s/ .*//p' "$out")
lists "what is listed is a pattern" "$(sed 's/+0x[0-9a-f]*$/+X/' "$out")" "$pattern"
count -l "$programs/sc_cplusplus:sc::Meter::other"
says "mangled names are told as people write them" '^    sc::Meter::other\(\)$' "$out"
count -l -r "$calls:sc_glob_(one|two)"
is "-r is a regular expression" "$(probes)" 2
fails 1 "what does not exist is an error as without -l" 'did you mean sc_counted\?$' -l "$calls:sc_countid"

# ---- tracepoints
tracing=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
lists "tracepoints with their fields and format" "t:sched:sched_process_wait  low  kernel
$(sed -n -e '/common_/d' -e 's/^\tfield:\([^;]*\);.*size:\([0-9]*\);.*signed:1;$/    \1: \2 bytes, signed/p' \
	-e 's/^\tfield:\([^;]*\);.*size:\([0-9]*\);.*signed:0;$/    \1: \2 bytes/p' \
	-e 's/^print fmt/    &/p' "$tracing/events/sched/sched_process_wait/format" 2>>"$err")" t:sched:sched_process_wait
count -l 't:sched:*'
is "... all of a category" "$(probes)" "$(find "$tracing/events/sched" -mindepth 1 -maxdepth 1 -type d | wc -l)"

# ---- functions of the kernel
if have_kprobes; then
	lists "a function of the kernel" "vfs_read  low  kernel" vfs_read
	count -l 'vfs_rea*'
	is "... by a wildcard" "$(probes)" "$(awk '$1 ~ /^vfs_rea/' "$tracing/available_filter_functions" | sort -u | wc -l)"
	module=$(awk '$2 ~ /^\[/ { print $1, $2; exit }' "$tracing/available_filter_functions")
	if [ -n "$module" ]; then
		count -l "${module% *}"
		says "... of a module" "  low  $(tr -d '[]' <<<"${module#* }")\$" "$out"
	else
		skip "... of a module" "no module is loaded"
	fi
	before=$(cat /sys/kernel/debug/kprobes/list 2>>"$err" | wc -l)
	count -l 'vfs_*'
	is "nothing is attached" "$(cat /sys/kernel/debug/kprobes/list 2>>"$err" | wc -l)" "$before"
else
	skip "functions of the kernel" "$no_kprobes"
fi

# ---- what -l does not go with
fails 2 "with --from" 'argument -l/--list: not allowed with argument --from|--from' -l --from "$out" x
fails 2 "with --time" 'argument -l/--list: not allowed with argument --time' -l --time c:malloc
fails 2 "with -o" 'argument -l/--list: not allowed with argument -o/--output' -l -o "$tmp/x.txt" c:malloc
fails 2 "with a command" 'argument -l/--list: starts no command' -l c:malloc -- true

# ---- names of a hostile file
printf 'void f(void) {}\nint main(void) { f(); return 0; }\n' >"$tmp/names.c"
if gcc "$tmp/names.c" -o "$tmp/names" 2>>"$err" && objcopy --redefine-sym "f=a"$'\033'"[31mb"$'\n'c "$tmp/names" 2>>"$err"; then
	count -l "$tmp/names:a*"
	is "a name cannot control the terminal" "$(LC_ALL=C tr -d '\n\040-\176' <"$out" | wc -c) $(wc -l <"$out")" "0 1"
else
	skip "a name cannot control the terminal" "no tools here that make such a name"
fi
exit $failed
