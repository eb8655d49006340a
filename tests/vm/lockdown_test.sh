#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel lockdown: at level integrity everything works; what level confidentiality forbids is said
# in one line: lockdown_test.sh BUILD. Only in test machines, and last: lockdown cannot be taken
# back.
# timeout: 240
. "$(dirname "$0")/../root/stackcount.bash" "$1"

lockdown=/sys/kernel/security/lockdown
[ -e $lockdown ] || mount -t securityfs none /sys/kernel/security 2>>"$fate"
if [ -z "${STACKTALLY_VM-}" ] || [ ! -w $lockdown ]; then
	skip lockdown "${STACKTALLY_VM:+this kernel has no lockdown}${STACKTALLY_VM:-no test machine}"
	finish
fi
patterns=(t:sched:sched_switch vfs_read "$calls:sc_counted" "u:$programs/sc_usdt:hit")
locked() { echo "$1" 2>>"$fate" >$lockdown; grep -qF "[$1]" $lockdown; }

locked integrity
check $? "the kernel is locked down to integrity" "$(cat $lockdown)"
for pattern in "${patterns[@]}"; do
	count -q -D 0.2 "$pattern"
	exits "integrity: ${pattern//"$programs"\//}" 0
done
measure -q -F 99 1
exits "integrity: profile" 0

locked confidentiality
check $? "the kernel is locked down to confidentiality" "$(cat $lockdown)"
for pattern in "${patterns[@]}"; do
	fails 3 "confidentiality: ${pattern//"$programs"\//}" 'lockdown' -D 1 "$pattern"
done
measure -q -F 99 1
exits "confidentiality: profile" 3
says "... says so" lockdown
[ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ]
check $? "... in one line, and nothing on stdout" "$(cat "$err" "$out")"
finish
