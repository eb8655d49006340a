#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a machine that tests/packages/unit booted, as a service of systemd: installs the package and runs
# stacktally-profile.service as its README.Debian says. Prints ok, FAIL or skip for each case to the
# virtio port "output", and `done`.
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
for name in /sys/class/virtio-ports/*/name; do
	[ "$(cat "$name")" = output ] && port=/dev/$(basename "$(dirname "$name")")
done
exec >"$port" 2>&1 </dev/null

unit=stacktally-profile
conf=/etc/stacktally/profile.conf
check() { # STATUS NAME WHY
	if [ "$1" -eq 0 ]; then echo "ok $2"; else echo "FAIL $2: $(tail -c 1500 <<<"${3-}" | tr '\n' '|')"; fi
}
get() { systemctl show -P "$1" $unit; }
journal() { journalctl -q -o cat -u $unit --since "@$since"; }
mark() { since=$(date +%s.%N); }
# until_true SECONDS COMMAND...: whether the command succeeds within the time
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}
said() { journal | grep -Eq "$1"; }
received() { [ "$(ls /engine/*.body 2>/dev/null | wc -l)" -ge "$1" ]; }
# sent REGEX: an interval that the engine has matches
sent() {
	python3 - "$1" <<-'END'
		import glob, gzip, re, sys
		bodies = [gzip.decompress(open(path, "rb").read()) for path in glob.glob("/engine/*.body")]
		sys.exit(not any(re.search(sys.argv[1].encode(), body) for body in bodies))
	END
}
engine() {
	mkdir -p /engine && rm -f /engine/* && echo take >/engine/plan
	python3 /test/engine.py /engine --port 4040 >/dev/null 2>&1 &
	engine=$!
}

echo "systemd $(systemctl --version | head -n 1), Linux $(uname -r), kernel.perf_event_paranoid=$(sysctl -n kernel.perf_event_paranoid)"
mark
out=$(dpkg -i /test/stacktally_*.deb 2>&1)
check $? "the package installs" "$out"
[ "$(get ActiveState)" = inactive ] && [ "$(systemctl is-enabled $unit)" = disabled ]
check $? "the service is neither enabled nor started" "$(systemctl status $unit)"
systemd-analyze verify --man=no /usr/lib/systemd/system/$unit.service >/tmp/verify 2>&1 && [ ! -s /tmp/verify ]
check $? "systemd-analyze verify has nothing to say" "$(cat /tmp/verify)"
exposure=$(systemd-analyze security $unit.service | sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
python3 -c "import sys; sys.exit(not 0 < ${exposure:-9} < 2)"
check $? "systemd-analyze security shows an exposure below 2.0: ${exposure:-none}" "$(systemd-analyze security $unit.service)"

mkdir -p /home/somebody && cp /usr/bin/gzip /home/somebody/at_home
gzip </usr/bin/python3 >/tmp/some.gz
(while :; do /home/somebody/at_home -9 </usr/bin/profile >/dev/null; done) &
busy=$!
# ---- as installed, it is a flight recorder, after the one step that README.Debian has
if [ "$(sysctl -n kernel.perf_event_paranoid)" -gt 2 ]; then
	mark
	systemctl start $unit
	[ $? -ne 0 ] && until_true 10 said 'sysctl kernel\.perf_event_paranoid=2' && [ "$(get ExecMainStatus)" = 3 ] &&
		[ "$(get NRestarts)" = 0 ]
	check $? "at kernel.perf_event_paranoid 3 it says what to do" "$(journal) $(get ExecMainStatus)"
else
	echo "skip at kernel.perf_event_paranoid 3 it says what to do: this kernel has it at $(sysctl -n kernel.perf_event_paranoid)"
fi

mark
systemctl reset-failed $unit
step=$(zcat -f /usr/share/doc/stacktally/README.Debian* | grep -m 1 -o 'cp .*90-stacktally.conf.*enable --now stacktally-profile')
out=$(sh -c "$step" 2>&1)
[ "$(get ActiveState)" = active ] && [ -n "$step" ]
check $? "after the documented step it measures, as installed" "$step: $out $(systemctl status $unit; journal)"
kept() { [ "$(ls /run/$unit/profile.*/*.stacktally 2>/dev/null | wc -l)" -ge "$1" ]; }
until_true 60 kept 3
check $? "... and keeps recordings" "$(ls -laR /run/$unit/)"
out=$(stacktally last 5m -o /tmp/before.html -o /tmp/before.folded 2>&1)
[ $? -eq 0 ] && grep -q '^at_home;' /tmp/before.folded && [ "$(stat -c %s /tmp/before.html)" -gt 10000 ]
check $? "stacktally last writes what was before" "$out $(tail -n 3 /tmp/before.folded)"
out=$(stacktally last 1m --top=3 2>&1)
grep -Eq '^ +[0-9.]+ +[0-9.]+% +at_home' <<<"$out"
check $? "... and a table of it" "$out"
! said 'WARNING|denied|not permitted'
check $? "nothing was refused to it" "$(journal)"
systemctl stop $unit
check $? "it stops" "$(journal)"

mark
printf 'OPTIONS=\n' >$conf
systemctl start $unit
[ $? -ne 0 ] && until_true 10 said 'argument --push' && sleep 12 && [ "$(get NRestarts)" = 0 ] && [ "$(get ExecMainStatus)" = 2 ]
check $? "without an URL, and nothing to keep, it says so, and is not started again" "$(journal)"

printf 'URL=http://127.0.0.1:4040\nOPTIONS=-i 2 --label place=vm\n' >$conf
engine
mark
systemctl reset-failed $unit
systemctl start $unit
check $? "starts, and reports ready" "$(systemctl status $unit; journal)"
pid=$(get MainPID)
[ "$(get ActiveState) $(get StatusText)" = "active Measuring" ]
check $? "is active and says that it measures" "$(systemctl status $unit)"
user=$(stat -c %u /proc/"$pid")
[ "$user" != 0 ] && grep -q '^NoNewPrivs:.1' /proc/"$pid"/status && grep -q '^Seccomp:.2' /proc/"$pid"/status
check $? "runs as a user of its own ($user), with seccomp" "$(cat /proc/"$pid"/status)"
for set in CapPrm CapEff CapBnd CapAmb; do
	# CAP_SYS_PTRACE 19, CAP_PERFMON 38, CAP_BPF 39
	want=$(printf '%016x' $((1 << 19 | 1 << 38 | 1 << 39)))
	[ "$(sed -n "s/^$set:.//p" /proc/"$pid"/status)" = "$want" ]
	check $? "$set is BPF, PERFMON and SYS_PTRACE" "$(grep Cap /proc/"$pid"/status)"
done
until_true 30 received 3
check $? "the engine gets intervals" "$(ls /engine; journal)"
until_true 30 sent 'at_home'
check $? "... with a program below /home, which the service cannot see" "$(ls /engine)"
until_true 30 sent 'do_syscall_64|asm_sysvec_apic_timer_interrupt|asm_exc_page_fault'
check $? "... with names of kernel functions" "$(journal)"
until_true 10 sent '\[at_home\+0x'
check $? "... with names in that program" "$(journal)"
sent place
check $? "... with the label" ""
! said 'WARNING|lost|missing|not permitted|denied'
check $? "nothing was lost or refused" "$(journal)"
ls /var/cache/private/$unit/stacktally | grep -q .
check $? "its unwinding tables are cached" "$(ls -laR /var/cache/private)"

mark
systemctl reload $unit
check $? "reload" "$(journal)"
sleep 1
[ "$(get MainPID)" = "$pid" ] && [ "$(get ActiveState)" = active ]
check $? "... the same process goes on" "$(systemctl status $unit)"

mark
kill -STOP "$engine"
sleep 6
[ "$(get ActiveState)" = active ]
check $? "a suspended engine does not stop it" "$(journal)"
kill "$engine"
kill -CONT "$engine"
wait "$engine" 2>/dev/null
until_true 60 said 'WARNING: push: .* does not take intervals'
check $? "the journal says at once that the engine is away" "$(journal)"
rm -f /engine/*.body
engine
until_true 120 said 'takes intervals again'
check $? "... and that it is back" "$(journal)"
received 1
check $? "... and what waited is sent" "$(ls /engine)"
[ "$(journal | grep -c .)" -le 8 ]
check $? "... in few lines" "$(journal)"

mark
pkill -KILL -x -P "$pid" stacktally-send
until_true 60 said 'takes intervals again' && said 'the process that sends died' && [ "$(get MainPID)" = "$pid" ]
check $? "the process that sends is killed, and started again" "$(journal)"

mark
systemctl restart $unit
check $? "restart" "$(journal)"
[ "$(get MainPID)" != "$pid" ] && [ "$(get ActiveState)" = active ]
check $? "... with another process" "$(systemctl status $unit)"
pid=$(get MainPID)
out=$(dpkg -i /test/stacktally_*.deb 2>&1)
check $? "the package is installed over itself" "$out"
until_true 20 test "$(get ActiveState)" = active && [ "$(get MainPID)" != "$pid" ] && grep -q 4040 $conf
check $? "... which restarts the running service and keeps its settings" "$out $(systemctl status $unit)"

mkdir -p /etc/systemd/system/$unit.service.d
printf '[Service]\nWatchdogSec=40\nTimeoutAbortSec=10\nRestartSec=1\n' >/etc/systemd/system/$unit.service.d/test.conf
systemctl daemon-reload
mark
systemctl restart $unit
pid=$(get MainPID)
sleep 60 # an interval's report may take seconds here
[ "$(get MainPID)" = "$pid" ] && [ "$(get NRestarts)" = 0 ]
check $? "the watchdog hears from it" "$(systemctl status $unit; journal)"
kill -STOP "$pid"
restarted() { [ "$(get NRestarts)" -ge 1 ] && [ "$(get ActiveState)" = active ] && [ "$(get MainPID)" != "$pid" ]; }
until_true 120 restarted
check $? "... and restarts it when it hangs" "$(systemctl status $unit; journal)"

echo "memory of the service: $(($(get MemoryCurrent) >> 20)) MB, with what the kernel keeps for it"
kill $busy
mark
systemctl stop $unit
check $? "stop" "$(journal)"
[ "$(get ActiveState) $(get Result)" = "inactive success" ]
check $? "... is a clean end" "$(systemctl status $unit; journal)"
systemctl start $unit
out=$(dpkg --purge stacktally 2>&1)
check $? "purge, while the service runs" "$out"
sleep 1
rm -rf /etc/systemd/system/$unit.service.d
systemctl daemon-reload
left=$(ls -d /etc/stacktally /var/cache/$unit /var/cache/private/$unit /var/lib/$unit /var/lib/private/$unit \
	/var/cache/stacktally /etc/systemd/system/*/$unit.service /usr/bin/profile 2>/dev/null; pgrep -x profile)
[ -z "$left" ]
check $? "... leaves nothing, and nothing runs" "$left $out"
echo done
