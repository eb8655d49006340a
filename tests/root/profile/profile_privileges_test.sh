#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# profile without root, with some capabilities: profile_privileges_test.sh BUILD
# kind: refusals
. "$(dirname "$0")/../harness.bash" "$1"
for tool in setpriv setcap; do
	command -v $tool >"$fate" || { skip "capabilities in place of root" "$tool is not installed" && finish; }
done
chmod 755 "$tmp"
[ -z "${TMPDIR-}" ] || chmod 711 "$TMPDIR"
root_profile=$profile
profile=$tmp/profile
cp "$root_profile" "$profile"
chmod 755 "$profile"
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$profile" "$@" >"$out" 2>"$err"
	status=$?
}
# refused NAME REGEX: the user nobody may not measure, and the message matches
refused() {
	as_nobody -F 99 -f 5
	exits "$1: exit status 3" 3
	says "$1: said" "$2"
	[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ]
	check $? "$1: in one line" "$(cat "$err" "$out")"
}
refused "nobody" "^profile: missing CAP_BPF and CAP_PERFMON: .*setcap cap_bpf,cap_perfmon,[a-z_,]*\+ep $(realpath "$profile")\`"
as_nobody --help
exits "--help needs no privilege" 0
as_nobody -F 0
exits "a usage error is reported before missing privileges" 2

if ! setcap cap_bpf+ep "$profile" 2>"$err"; then
	skip "file capabilities" "$(cat "$err")"
	finish
fi
refused "CAP_BPF alone" '^profile: missing CAP_PERFMON: '
setcap cap_perfmon+ep "$profile"
refused "CAP_PERFMON alone" '^profile: missing CAP_BPF: '

setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep "$profile"
begin "$programs/nested" || finish
# Debian's kernels have a level 3, which is their default and demands CAP_SYS_ADMIN. Linux itself has
# no such level.
paranoid=/proc/sys/kernel/perf_event_paranoid
level=$(cat $paranoid)
give_back() { echo "$level" >$paranoid; }
at_exit=give_back
ulimit -l unlimited # before Linux 5.11 maps are locked memory
echo 3 >$paranoid
for kind in -K -U; do
	as_nobody -F 499 -f $kind 1
	if [ $status -eq 0 ]; then
		skip "$kind: at kernel.perf_event_paranoid 3 the message says what to do" "this kernel demands no more there"
	else
		says "$kind: at kernel.perf_event_paranoid 3 the message says what to do" \
			'^profile: .*; kernel\.perf_event_paranoid is above 2, .* sysctl kernel\.perf_event_paranoid=2,'
	fi
done
if [ "$level" -gt 2 ]; then echo 2 >$paranoid; else give_back; fi
(
	ulimit -l 64
	as_nobody -F 499 -f 1
	if [ $status -eq 0 ]; then
		skip "a limit on locked memory that is too low is named" "64 kB are enough for this kernel"
	else
		says "a limit on locked memory that is too low is named" \
			'^profile: .*(ulimit -l unlimited|kernel\.perf_event_mlock_kb)'
	fi
	exit $failed
) || failed=1
as_nobody -F 499 -f -p "$pid" $slow
exits "four capabilities are enough" 0
calculates "$(counted '^nested;(.*;)?main;outer;middle;inner;burn(;|$)') > 0.9 * $(total) && $(total) > 20"
check $? "the frames of root's processes have their names" "$(tail -n 2 "$out") $(cat "$err")"
as_nobody -F 499 -f -o "$tmp/x.folded" 1
exits "a file in a directory of root is not written" 1
end
install -m 700 "$programs/nested" "$tmp/own"
begin "$tmp/own" || finish
as_nobody -F 499 -U -f -p "$pid" $slow
says "a program that only its owner may read takes one more" \
	'^WARNING: .*files could not be opened, mostly own: .*only their owners may read them, which takes CAP_DAC_READ_SEARCH'
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_dac_read_search+ep "$profile"
as_nobody -F 499 -U -f -p "$pid" $slow
exits "five are enough for it" 0
has "its functions have their names" '^own;(.*;)?main;outer;middle;inner;burn(;|$)'
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep "$profile"
end
begin "$programs/system_calls" || finish
as_nobody -F 499 -f -K -p "$pid" $slow
has "the kernel's frames have their names" ';(ksys_read|vfs_read)(;|$)'
lacks "all of them" '^[^;]*(;\[unknown\])+$'
end
setpriv --reuid=65534 --regid=65534 --clear-groups "$profile" -F 499 -f -- "$programs/system_calls" 300 \
	>"$out" 2>"$err"
sed -i '/^ready/d' "$out"
has "a command is measured, with its kernel stacks" ';main;.*;(ksys_read|vfs_read)(;|$)'
setpriv --reuid=65534 --regid=65534 --clear-groups "$profile" -q -f -- \
	sh -c 'id -u; grep CapEff /proc/self/status' >"$out" 2>"$err"
[ "$(sed -n 1p "$out")" = 65534 ] && grep -q '^CapEff:.*0000000000000000$' "$out"
check $? "the command has none of the capabilities" "$(head -n 2 "$out")"

setcap cap_bpf,cap_perfmon+ep "$profile"
if [ "$(cat /proc/sys/kernel/kptr_restrict)" -gt 1 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ]; then
	setpriv --reuid=65534 --regid=65534 --clear-groups "$profile" -F 499 -f -- "$programs/system_calls" 300 \
		>"$out" 2>"$err"
	sed -i '/^ready/d' "$out"
	has "two capabilities are enough to count" ';main;'
	if kernel_has 5.16; then
		has "with addresses hidden, the kernel's functions have their names" ';main;.*;(ksys_read|vfs_read)(;|$)'
	else
		says "with the kernel's names hidden, it says by what" 'kernel\.kptr_restrict'
	fi
else
	skip "with the kernel's names hidden, it says by what" "this machine shows them to everybody"
fi
finish
