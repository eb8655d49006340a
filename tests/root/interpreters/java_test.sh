#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Java programs, against the programs' own accounts: java_test.sh BUILD
# timeout: 400
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "functions of Java programs" "$no_uprobes"
	finish
}
command -v javac >/dev/null || {
	skip "functions of Java programs" "no javac"
	finish
}
mkdir "$tmp/classes"
javac --release 17 -d "$tmp/classes" "$here/java_oracle.java" 2>"$err" || {
	check 1 "the oracle compiles" "$(head -n 3 "$err")"
	finish
}

# oracle NAME WARM OPTION...: runs the oracle with the options of java, and compares; with $lines, lines too; with
# $virtual, its second thread is a virtual one
lines='' virtual=''
oracle() {
	local name=$1 warm=$2 all same at=$tmp
	if [ -n "$root" ]; then
		at=$root/tmp/java_oracle
		rm -rf "$at" && mkdir -p "$at" && cp -r "$tmp/classes" "$at"
	fi
	rm -f "$at/account"
	# shellcheck disable=SC2086 # one word, or none
	count_ready ${lines:+--$lines} -f "$libc:mkdir" -- ${root:+unshare -m sh "$tmp/in" "$root"} "$java" -Xmx256m "${@:3}" \
		-cp "${at#"$root"}/classes" java_oracle "${at#"$root"}/account" "$warm" 200 $virtual
	python3 "$here/java_match.py" "$out" "$at/account" $lines >"$tmp/matched" 2>&1
	same=$(tail -n 1 "$tmp/matched") all=$(wc -l <"$at/account")
	[ "$all" = 200 ] && [ "$same" = 200 ]
	check $? "$name: the program's own stacks" \
		"$same of $all: $(grep -m 2 '^seen' "$tmp/matched" | rev | cut -c 1-300 | rev) $(grep -m 1 '^missing' "$tmp/matched" | rev |
			cut -c 1-300 | rev)"
}

root='' java=$(readlink -f "$(command -v java)") libc=$(ldd "$(readlink -f "$(command -v java)")" | awk '/libc\.so/ { print $3 }')
oracle "Java" 3000
lines=lines
oracle "Java, interpreted, with lines" 10 -Xint
if [ -n "${TEST_ALL-}" ]; then
	oracle "Java, with lines" 3000
	oracle "Java, the first compiler" 3000 -XX:TieredStopAtLevel=1
	oracle "Java, the second compiler" 3000 -XX:-TieredCompilation
	oracle "Java, all compiled" 100 -Xcomp
	for gc in Serial Parallel Z Shenandoah; do
		oracle "Java, ${gc}GC" 3000 "-XX:+Use${gc}GC"
	done
fi

# Other releases. java looks for its libraries in /proc.
cat >"$tmp/in" <<'S'
mount -t proc proc "$1/proc" && root=$1 && shift && exec chroot "$root" "$@"
S
for of in ${TEST_ALL:+trixie:21 trixie:25 sid:26}; do
	IFS=: read -r release version <<<"$of"
	lines=''
	if root=$("$here/../../root_of" "$release" "openjdk-$version-jre-headless" 2>"$err"); then
		mkdir -p "$root/tmp" "$root/proc"
		java=/usr/lib/jvm/java-$version-openjdk-amd64/bin/java libc=$(ls "$root"/lib/*-linux-gnu/libc.so.6)
		oracle "Java $version" 3000
		lines=lines
		oracle "Java $version, interpreted, with lines" 10 -Xint
		# Most of the frames of a virtual thread that has waited are in the heap.
		virtual=virtual
		oracle "Java $version, interpreted, frames in the heap, with lines" 10 -Xint
		lines=''
		oracle "Java $version, frames in the heap" 3000
		oracle "Java $version, frames in the heap, wide addresses" 3000 -XX:-UseCompressedOops
		oracle "Java $version, frames in the heap, all compiled" 100 -Xcomp
		virtual=''
		# Where objects move while threads run, they are not followed.
		count_ready -f "$libc:mkdir" -- unshare -m sh "$tmp/in" "$root" "$java" -Xmx256m -XX:+UseZGC \
			-cp /tmp/java_oracle/classes java_oracle /tmp/java_oracle/account 1000 40 virtual
		frozen=$(counted ';Thread::call_run.*Continuation\.run;\[java: frozen frames\];java_oracle[^;]*;.*mkdir$')
		in_virtual=$(counted 'VirtualThread\.run.*mkdir$')
		calculates "$frozen >= 1 && $in_virtual == 20"
		check $? "Java $version, ZGC: frozen frames are told" "$frozen of $in_virtual; $(grep -m 1 VirtualThread "$out" | cut -c 1-400)"
	else
		skip "Java $version" "$(tail -n 1 "$err")"
	fi
done
root='' java=$(readlink -f "$(command -v java)")

# Samples: nearly all stacks are complete, and all begin where a thread does.
measure_command -F 499 -U -- "$java" -Xmx256m -cp "$tmp/classes" java_oracle "$tmp/account" 1000 0 busy
all=$(counted '.*') cut=$(counted '\[unwind: ')
calculates "$all > 300 && $cut <= 0.03 * $all"
check $? "samples are complete" "$cut of $all are not; $(grep -m 2 '\[unwind: ' "$out" | cut -c 1-300)"
ran=$(counted 'java_oracle\.') main=$(counted ';java_oracle\.main;')
calculates "$ran > 100 && $main > 0.95 * $ran"
check $? "samples have functions" "$main of $ran"
guess='\[java: inlined function not exact\];[A-Za-z]'
marked=$(counted '\[java: inlined function not exact\]') guesses=$(counted "$guess")
calculates "$marked > 20 && $guesses == 0"
check $? "what is not certain is not shown" "$guesses of $marked; $(grep -m 1 "$guess" "$out" | rev | cut -c 1-300 | rev)"
measure_command -F 499 -U --near -- "$java" -Xmx256m -cp "$tmp/classes" java_oracle "$tmp/account" 1000 0 busy
guesses=$(counted "$guess")
calculates "$guesses > 0"
check $? "--near shows it behind a mark" "$guesses; $(grep -m 1 'not exact' "$out" | cut -c 1-300)"
finish
