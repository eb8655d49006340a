#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Interpreters that sleep while the whole machine is measured: what walks them is loaded when one of them is
# sampled, and not before: interpreters_idle_test.sh BUILD
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
command -v perl >>"$fate" || { skip "an idle interpreter" "no perl" && finish; }
unshare -pfm --mount-proc true 2>>"$fate" || { skip "an idle interpreter" "no pid namespaces" && finish; }
cat >"$tmp/idle.pl" <<'S'
use Time::HiRes qw(clock);
my $works = 0;
$SIG{USR1} = sub { $works = 1 };
sub inner { getppid() while clock() < $_[0] }
sub outer { inner(clock() + 0.01) }
$| = 1;
print "ready $$\n";
sleep 100 while !$works;
outer() while clock() < 1.2;
S
# In a pid namespace, where the interpreters of the machine are not seen.
cat >"$tmp/run" <<'S'
profile=$1 tmp=$2
perl "$tmp/idle.pl" >"$tmp/ready" &
idle=$!
sleep 16 # two ticks of its CPU time are a five-hundredth of 10 s
"$profile" -v -F 199 -f 6 >"$tmp/report" 2>"$tmp/messages" &
sleep 1.5
kill -USR1 "$idle"
wait
S
unshare -pfm --mount-proc bash "$tmp/run" "$profile" "$tmp" 2>>"$fate"
cp "$tmp/report" "$out"
cp "$tmp/messages" "$err"
has "functions of a program that slept" 'main::outer.*;.*main::inner'
# 1.2 s are some 240 samples; some 50 ms of them come before the programs are there.
named=$(awk '/main::inner/ { n += $NF } END { print n + 0 }' "$out")
early=$(awk '/\[perl: not known yet\]/ { n += $NF } END { print n + 0 }' "$out")
[ "$named" -gt 80 ] && [ "$early" -le $((named / 4)) ]
check $? "it has its functions soon after its first sample" "$named samples with functions, $early without"
[ "$early" -gt 0 ]
check $? "nothing was loaded for it while it slept" "$named samples with functions, $early without"
finish
