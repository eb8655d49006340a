#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes with several interpreters, which call each other: the functions of each stand in one stack, in order:
# several_test.sh BUILD
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
root= # the programs are in no other root
headers=$(echo /usr/lib/*-linux-gnu/perl/5.*.*/CORE)
perl_library=$(echo /usr/lib/*-linux-gnu/libperl.so.5.??)
python_library=$(echo /usr/lib/*-linux-gnu/libpython3.*.so.1.0)

# compile NAME ARGUMENT...: the program as $tmp/NAME
compile() {
	gcc -w -rdynamic -D_GNU_SOURCE -D_REENTRANT -I "$headers" -o "$tmp/$1" "$here/several_embedded.c" "$perl_library" \
		"$python_library" "${@:2}" 2>"$err"
}
python='outer \(several_embedded\.py\);inner \(several_embedded\.py\);'
perl='run_perl;[^()]*[{]eval[}] \(eval\);main::outer_perl \(eval\);main::inner_perl \(eval\);'
back='from_perl;run_python;[^()]*<module> \(<string>\);'

if ! [ -e "$headers/perl.h" ] || ! compile two; then
	skip "programs with several interpreters" "no headers or library of Perl, or no library of Python: $(tail -n 1 "$err")"
	finish
fi
count_ready -f c:getppid -- "$tmp/two" "$here/several_embedded.py"
is "functions of Python, of Perl, and of Python that this calls" \
	"$(counted ";$python[^()]*$perl[^()]*${back}leaf \(several_embedded\.py\);[^()]*getppid\$")" 10
count_ready -f --native c:getppid -- "$tmp/two" "$here/several_embedded.py"
is "--native has the evaluators' frames beside them" \
	"$(counted ';Perl_runops_standard;[{]eval[}] .*main::inner_perl \(eval\);.*_PyEval_EvalFrameDefault;leaf \(|;_PyEval_EvalFrameDefault;.*;Perl_runops_standard;.*leaf \(')" 10

begin_ready "$tmp/two" "$here/several_embedded.py"
measure --dump -f -p "$pid"
sed -i 's/:[0-9]*)/)/g; s/ ([^() ]*\// (/g' "$out" # a dump has lines and directories
has "a dump of a thread that sleeps" ";$python[^()]*$perl[^()]*${back}ready \(several_embedded\.py\);"
let_go
WORK=2 sample_ready -F 499 -U -f -- "$tmp/two" "$here/several_embedded.py"
lacks "no function of one is said to be another's" '\[(perl|python): (unmatched|unreadable|too deep)\]'
whole=$(counted ";$python[^()]*$perl")
all=$(counted ";main::inner_perl \(eval\)")
[ "$all" -gt 15 ] && [ $((whole * 100)) -ge $((all * 95)) ]
check $? "samples in Perl have their Python callers" "$whole of $all"

if ! compile php -DWITH_PHP -lphp; then
	skip "Python, Perl and PHP" "no library of PHP: $(tail -n 1 "$err")"
else
	LANGUAGES=php count_ready -f c:getppid -- "$tmp/php" "$here/several_embedded.py"
	is "functions of PHP that Python calls, which Perl called" \
		"$(counted ";$python[^()]*$perl[^()]*${back}to_php \(several_embedded\.py\);[^()]*run_php;[^()]*[{]main[}] \(several\.php\);outer_php \(several\.php\);inner_php \(several\.php\);[^()]*getppid\$")" 10
	is "... and without PHP" "$(counted ";$python[^()]*$perl[^()]*${back}leaf \(several_embedded\.py\);[^()]*getppid\$")" 10
fi

home=$(readlink -f "$(command -v javac)")
home=${home%/bin/javac}
if ! [ -e "$home/lib/server/libjvm.so" ] || ! javac -d "$tmp/classes" "$here/several_embedded.java" 2>"$err" ||
	! compile java -DWITH_JAVA -I "$home/include" -I "$home/include/linux" -L "$home/lib/server" -ljvm \
		-Wl,-rpath,"$home/lib/server"; then
	skip "Python, Perl and Java" "no virtual machine and its headers: $(tail -n 1 "$err")"
else
	CLASSES=$tmp/classes LANGUAGES=java count_ready -f c:getppid -- "$tmp/java" "$here/several_embedded.py"
	is "methods of Java that Python calls, and Python that Java calls" \
		"$(counted ";$python[^()]*$perl[^()]*${back}to_java \(several_embedded\.py\);.*;several_embedded.outer;several_embedded.inner;.*from_java;run_python;[^()]*<module> \(<string>\);leaf \(several_embedded\.py\);[^()]*getppid\$")" 10
fi
finish
