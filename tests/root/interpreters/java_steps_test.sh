#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Walks of Java at each instruction of generated code, against the calls that were followed to it: java_steps_test.sh
# BUILD. All releases and compilers with TEST_ALL.
# timeout: 900
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0") stepper=$1/tests/walks/oracle/java_steps
command -v javac >/dev/null || {
	skip "walks of Java, step by step" "no javac"
	finish
}
mkdir "$tmp/classes"
javac --release 17 -d "$tmp/classes" "$here/java_busy.java" 2>"$err" || {
	check 1 "the program compiles" "$(head -n 3 "$err")"
	finish
}

# steps NAME INSTRUCTIONS WARM OPTION...: steps the program by $java, in $root, with the options of java
steps() {
	local name=$1 at=$tmp pid counts
	if [ -n "$root" ]; then
		at=$root/tmp/java_steps
		rm -rf "$at" && mkdir -p "$at" && cp -r "$tmp/classes" "$at"
	fi
	: >"$tmp/ready" # the one before may have said so
	# shellcheck disable=SC2086 # one word, or none
	${root:+unshare -m sh "$tmp/in" "$root"} "$java" -Xmx256m "${@:4}" -cp "${at#"$root"}/classes" java_busy "$3" \
		>"$tmp/ready" 2>&1 &
	pid=$! started+=("$!")
	until grep -q ready "$tmp/ready" || ! kill -0 "$pid" 2>>"$fate"; do sleep 0.1; done
	"$stepper" --limit "$2" "$pid" >"$tmp/steps" 2>"$err"
	kill -KILL "$pid" 2>>"$fate"
	wait "$pid" 2>>"$fate"
	counts=$(tail -n 1 "$tmp/steps")
	value() { grep -o "\b$1=[0-9]*" <<<"$counts" | cut -d= -f2; }
	[ "$(value instructions)" = "$2" ] && [ "$(value compiled_wrong)" = 0 ]
	check $? "$name: no walk from compiled code is wrong" \
		"$counts; $(grep -A 3 -m 1 WRONG "$tmp/steps" | cut -c 1-600) $(head -n 1 "$err")"
	# Of stubs: two instructions in each of a dozen, which exceptions run; and some hundred where a method that was
	# entered must not run any more. How often they run depends on the run.
	[ -n "$counts" ] && calculates "$(value wrong) <= 0.0001 * $2 && $(value refused) <= 0.002 * $2"
	check $? "$name: few walks are wrong or refused" "$counts; $(grep -A 3 -E 'WRONG|REFUSED' "$tmp/steps" | head -n 8 | cut -c 1-600)"
}

root='' java=$(readlink -f "$(command -v java)")
steps "Java" 50000 300
[ -n "${TEST_ALL-}" ] || finish

# java looks for its libraries in /proc.
cat >"$tmp/in" <<'S'
mount -t proc proc "$1/proc" && root=$1 && shift && exec chroot "$root" "$@"
S
for of in here:17 trixie:21 trixie:25 sid:26; do
	IFS=: read -r release version <<<"$of"
	root='' java=$(readlink -f "$(command -v java)")
	if [ "$release" != here ]; then
		root=$("$here/../../root_of" "$release" "openjdk-$version-jre-headless" 2>"$err") || {
			skip "Java $version, step by step" "$(tail -n 1 "$err")"
			continue
		}
		mkdir -p "$root/tmp" "$root/proc"
		java=/usr/lib/jvm/java-$version-openjdk-amd64/bin/java
	fi
	steps "Java $version, interpreted" 300000 5 -Xint
	steps "Java $version, the first compiler" 300000 300 -XX:TieredStopAtLevel=1
	steps "Java $version, the second compiler" 300000 1000 -XX:-TieredCompilation
done
finish
