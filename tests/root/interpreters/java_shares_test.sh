#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shares of Java methods beside those of async-profiler, in one run, where HotSpot knows each instruction:
# java_shares_test.sh BUILD. With TEST_ALL only.
# timeout: 400
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0") of=tools.profiler:async-profiler:4.1
[ -n "${TEST_ALL-}" ] || {
	skip "shares of Java methods" "TEST_ALL is not set"
	finish
}
command -v javac >/dev/null && command -v mvn >/dev/null || {
	skip "shares of Java methods" "no javac, or no mvn"
	finish
}
jar=~/.m2/repository/tools/profiler/async-profiler/4.1/async-profiler-4.1.jar
[ -s "$jar" ] || mvn -q -B dependency:get -Dtransitive=false -Dartifact="$of" >"$err" 2>&1
[ -s "$jar" ] && unzip -qo "$jar" linux-x64/libasyncProfiler.so -d "$tmp" 2>>"$err" || {
	skip "shares of Java methods" "no $of: $(tail -n 1 "$err")"
	finish
}
javac -d "$tmp/classes" "$here/java_shares.java" 2>"$err" || {
	check 1 "the program compiles" "$(head -n 3 "$err")"
	finish
}
agent=$tmp/linux-x64/libasyncProfiler.so=start,event=cpu,interval=1ms,file=$tmp/theirs,collapsed,cstack=vm
measure_command -F 997 -U --near -- "$(readlink -f "$(command -v java)")" -XX:+UnlockDiagnosticVMOptions \
	-XX:+DebugNonSafepoints -Xmx256m "-agentpath:$agent" -cp "$tmp/classes" java_shares 10
python3 "$here/java_shares.py" "$out" "$tmp/theirs" >"$tmp/shares" 2>&1
read -r ours theirs most method <"$tmp/shares"
echo "# $ours samples here, $theirs there; $method differs most, by $most points"
grep '^#' "$tmp/shares"
[ "${ours:-0}" -gt 2000 ] && [ "${theirs:-0}" -gt 2000 ]
check $? "both have sampled" "$(head -n 3 "$tmp/shares") $(tail -n 2 "$err")"
calculates "${most:-100} <= 3"
check $? "of async-profiler's twenty methods with most samples none differs by more than 3 points" "$method by $most"
finish
