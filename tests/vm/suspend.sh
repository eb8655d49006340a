#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine that sleeps while it is measured, and wakes:
#
#   tests/vm/run -- bash tests/vm/suspend.sh BUILD almost
#   tests/vm/run --packed -- bash tests/vm/suspend.sh BUILD off
#
# off: only the memory has power, until the machine's clock wakes it. almost: the kernel goes all the
# way to that point, waits there for 5 s, and comes back (/sys/power/pm_test). All CPUs but one go
# offline, devices are suspended and clocks stop. Programs and files are in memory by then: the file
# system of the host (9p) does not come back, so that tests/run could not go on, either.
. "$(dirname "$0")/../root/harness.bash" "$1"
how=$2
island=/run/island

if [ "${3-}" != inside ]; then
	if ! grep -q core /sys/power/pm_test 2>>"$fate" || ! grep -q mem /sys/power/state; then
		skip "suspend and resume" "this kernel cannot try it: no /sys/power/pm_test (CONFIG_PM_DEBUG)"
		finish
	fi
	mkdir -p $island/{bin,proc,sys,dev,tmp,usr,build/tests,tests/root,tests/vm}
	ln -s ../bin $island/usr/bin
	for program in bash sh awk cat cut date dirname grep head mkdir mktemp mv rm sed sleep sort tail; do
		file=$(readlink -f "$(type -P $program)")
		cp "$file" $island/bin/$program
		for library in $(ldd "$file" | grep -o '/[^ ]*'); do
			mkdir -p "$island$(dirname "$library")"
			cp -L "$library" "$island$library"
		done
	done
	cp "$profile" "$stackcount" $island/build
	cp "$(dirname "$0")/../root/harness.bash" $island/tests/root
	cp "$(dirname "$0")/../check.bash" $island/tests
	cp "$0" $island/tests/vm
	for tree in proc sys dev; do mount --rbind /$tree $island/$tree; done
	# What a shell does at its end would read from the host's file system.
	exec chroot $island /bin/bash "/tests/vm/${0##*/}" /build "$how" inside
fi

ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
slept() { cat /sys/power/suspend_stats/success; }
before=$(slept)
"$stackcount" --self -o - -o "$tmp/calls.folded" --format text --format folded t:sched:sched_switch \
	>"$tmp/said" 2>"$tmp/calls.err" &
calls=$!
started+=("$calls")
await 60 grep -q '^Tracing' "$tmp/said"
begun=$(ms)
sample -I -K -F 99
sleep 2
if [ "$how" = off ]; then
	echo none >/sys/power/pm_test
	echo +7 >/sys/class/rtc/rtc0/wakealarm
else
	echo core >/sys/power/pm_test
fi
at_sleep=$(($(ms) - begun))
echo mem >/sys/power/state
check $? "the machine falls asleep, and wakes" "$(cat /sys/power/suspend_stats/last_failed_dev)"
[ "$(slept)" -eq $((before + 1)) ]
check $? "the kernel says so" "$(slept) times, before $before"
sleep 15
sampled
exits "profile ends as always" 0
closing
[ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "each sample is in the report" "$(total) of $samples, $lost lost"
# At most 99 a second came before; 15 s after the machine woke are 1,485, fewer on a busy host.
mine=$(counted '^swapper/1;')
calculates "$mine > 0.099 * $at_sleep + 30"
check $? "the CPU that was offline is sampled again" "$mine samples, the machine slept after $at_sleep ms"
says "within a second or two, and what is missing is told" \
	'^WARNING: CPUs that came online were not sampled at once: [0-2][.][0-9]+ s are missing at most'
kill -INT "$calls"
wait "$calls"
check $? "stackcount ends as always" "$(tail -n 2 "$tmp/calls.err")"
mv "$tmp/calls.folded" "$out"
closing "$tmp/calls.err"
[ "$lost" -eq 0 ] && [ "$(total)" -eq "$samples" ]
check $? "each event is in the report" "$(total) of $samples, $lost lost"
has "events on the way to sleep are, too" ';(state_store|suspend_devices_and_enter|freeze_secondary_cpus|_cpu_down);'
echo "$how: slept after $at_sleep ms; $mine samples of CPU 1; $(grep -o '[0-9.]* s are missing' "$err"); $samples switches"
finish
