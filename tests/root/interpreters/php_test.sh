#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of PHP programs, against the programs' own accounts: php_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "functions of PHP programs" "$no_uprobes"
	finish
}

# oracle NAME LIBC PLACE COMMAND...: runs the oracle's copy in PLACE, and compares
oracle() {
	cp "$here/php_oracle.php" "$3"
	rm -f "$3/account"
	count_ready -f "$2:getpid" -- "${@:4}" "${3#"$root"}/php_oracle.php" "${3#"$root"}/account"
	equal "$1: functions and counts are the program's own" "$3/account"
	rm -f "$3/account"
	count_ready -f --lines "$2:getpid" -- "${@:4}" "${3#"$root"}/php_oracle.php" "${3#"$root"}/account" lines
	equal_lines "$1: and so are the lines" "$3/account"
}

# in_release RELEASE PACKAGE...: sets $root to a file system with the packages, and $libc
in_release() {
	root=$("$here/../../root_of" "$@" 2>"$err") || return
	mkdir -p "$root/tmp"
	libc=$(ls "$root"/lib/*-linux-gnu/libc.so.6)
}

# leaving NAME COMMAND...: a function that is over frees what it has, which calls another one; a third
# one has no call of the evaluator when it is just linked
leaving() {
	cat >"$root/tmp/leaving.php" <<'S'
<?php
echo "ready ", getmypid(), "\n";
fgets(STDIN);
class Local { function __destruct() { posix_getpid(); } }
function callback($x) { $local = new Local; return $x; }
function outer() { array_map('callback', [1, 2, 3]); }
outer();
S
	count_ready -f "$libc:getpid" -- "${@:2}" /tmp/leaving.php
	is "$1: a function that is over and frees its variables leaves its place" "$(counted \
		';outer \(leaving\.php\);[^()]*zend_call_function;execute_ex;\[php: between functions\];[^()]*zend_call_function;Local::__destruct \(leaving\.php\);[^()]*getpid$')" 3
	# A generator's evaluator does not tell what it has unlinked: the callback must not take its place.
	cat >"$root/tmp/over.php" <<'S'
<?php
echo "ready ", getmypid(), "\n";
fgets(STDIN);
class Local { function __destruct() { posix_getpid(); } }
function generator() { $local = new Local; yield 1; }
function callback($x) { foreach (generator() as $y); return $x; }
function outer() { array_map('callback', [1, 2, 3]); }
outer();
S
	count_ready -f "$libc:getpid" -- "${@:2}" /tmp/over.php
	is "$1: a generator that is over leaves the stack unmatched" "$(counted \
		';zend_execute;execute_ex;\[php: unmatched\];[^()]*zend_generator_resume;\[php: unmatched\];[^()]*getpid$')" 3
	cat >"$root/tmp/callbacks.php" <<'S'
<?php
function used() { $u = getrusage(); return $u["ru_utime.tv_sec"] + $u["ru_utime.tv_usec"] / 1e6; }
class Order { function compare($x, $y) { return $x <=> $y; } }
function work($until)
{
	$order = new Order;
	while (used() < $until) {
		$a = range(1, 50);
		shuffle($a);
		usort($a, [$order, "compare"]);
		array_map(fn($x) => [$x, $x + 1], $a);
		array_filter($a, function ($x) { $y = "a$x"; return strlen($y) > 2; });
	}
}
echo "ready ", getmypid(), "\n";
fgets(STDIN);
work(used() + 2);
S
	sample_ready -F 1999 -U -- "${@:2}" /tmp/callbacks.php
	local ran unmatched misplaced
	ran=$(counted ';work \(callbacks\.php\)')
	unmatched=$(counted ';\[php: unmatched\]')
	misplaced=$(counted ';zend_call_function;(execute_ex;)?work \(callbacks\.php\)')
	calculates "$ran > 50 && $unmatched < 0.01 * $ran && $misplaced == 0"
	check $? "$1: samples where callbacks begin and end are matched" \
		"$unmatched of $ran unmatched, $misplaced misplaced"
}

# calls FILE CALL...: prints how many samples of a folded report have the functions of FILE from its first one on,
# and how many have a call between two of them that is none of these, `CALLER>CALLED`
calls() {
	awk -v file="$1" -v list="${*:2}" 'BEGIN { split(list, each, " "); for (i in each) may[each[i]] = 1 } {
		n = $NF; sub(/ [0-9]+$/, ""); k = split($0, frame, ";"); last = ""; bad = reason = 0
		for (i = 1; i <= k; i++) {
			if (frame[i] ~ /^\[(php|unwind): /) reason = 1
			if (!sub(" \\(" file "\\)$", "", frame[i])) continue
			if (!((last ">" frame[i]) in may)) bad = 1
			last = frame[i]
		}
		wrong += bad * n; whole += (last != "" && !bad && !reason) * n
	} END { print whole + 0, wrong + 0 }' "$out"
}

# jitted NAME COMMAND...: code of the JIT runs in its evaluator's frame
jitted() {
	local mode ran whole wrong jit
	cat >"$root/tmp/jitted.php" <<'S'
<?php
function used() { $u = getrusage(); return $u["ru_utime.tv_sec"] + $u["ru_utime.tv_usec"] / 1e6; }
function leaf($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s += $i * $i % 7; return $s; }
function key2($x, $y) { $s = 0; for ($i = 0; $i < 60; $i++) $s += $x ^ $i; return $x - $y; }
function order($n) { $a = range(1, $n); usort($a, "key2"); return $a; }
function handle($n) { leaf(600); return order(10); }
function work($until) { $n = 0; while (used() < $until) handle($n++); }
echo "ready ", getmypid(), "\n";
fgets(STDIN);
work(used() + 1.5);
S
	for mode in function tracing; do
		jit=(-d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d "opcache.jit=$mode")
		oracle "$1, opcache.jit=$mode" "$libc" "$root/tmp" "${@:2}" "${jit[@]}"
		sample_ready -F 997 -U -- "${@:2}" "${jit[@]}" /tmp/jitted.php
		ran=$(total)
		read -r whole wrong < <(calls 'jitted[.]php' '>{main}' '{main}>used' '{main}>work' 'work>used' 'work>handle' 'handle>leaf' \
			'handle>order' 'order>key2')
		calculates "$ran > 100 && $whole > 0.95 * $ran && $wrong == 0"
		check $? "$1, opcache.jit=$mode: samples have their functions" "$whole of $ran, $wrong wrong"
	done
}

for of in $(releases bookworm:8.2 trixie:8.4); do
	version=${of#*:}
	if in_release "${of%:*}" "php$version-cli"; then
		oracle "${of%:*}'s PHP $version" "$libc" "$root/tmp" chroot "$root" "/usr/bin/php$version" \
			-n -d extension=posix
		leaving "${of%:*}'s PHP $version" chroot "$root" "/usr/bin/php$version" \
			-n -d extension=posix
		jitted "${of%:*}'s PHP $version" chroot "$root" "/usr/bin/php$version" -n -d extension=posix
	else
		skip "${of%:*}'s PHP $version" "$(tail -n 1 "$err")"
	fi
done

in_release bookworm php8.2-cli || {
	skip "generators, fibers, samples, servers" "$(tail -n 1 "$err")"
	finish
}
php=(chroot "$root" /usr/bin/php8.2 -n -d extension=posix)

# Order: native frames of the C code between functions stay.
cat >"$root/tmp/order.php" <<'S'
<?php
echo "ready ", getmypid(), "\n";
fgets(STDIN);
function key2($x, $y) { posix_getpid(); return $x <=> $y; }
function outer() { $a = [2, 1]; usort($a, 'key2'); }
outer();
S
count_ready -f "$libc:getpid" -- "${php[@]}" /tmp/order.php
has "native frames are in their places" \
	';zend_execute;[{]main[}] \(order\.php\);outer \(order\.php\);[^()]*zend_call_function;key2 \(order\.php\);[^()]*getpid$'
lacks "the evaluator's frames are not shown" 'execute_ex'
count_ready -f --native "$libc:getpid" -- "${php[@]}" /tmp/order.php
has "--native shows them, too" \
	';execute_ex;[{]main[}] \(order\.php\);outer \(order\.php\);.*;execute_ex;key2 \(order\.php\);'

# A generator that another one delegates to: those above it are in no chain.
cat >"$root/tmp/delegated.php" <<'S'
<?php
echo "ready ", getmypid(), "\n";
fgets(STDIN);
function inner() { posix_getpid(); yield 1; posix_getpid(); yield 2; }
function outer() { yield from inner(); }
foreach (outer() as $x);
S
count_ready -f "$libc:getpid" -- "${php[@]}" /tmp/delegated.php
has "generators that delegate are told" '[{]main[}] \(delegated\.php\);.*\[php: delegating generators\];[^()]*inner \(delegated\.php\);'

# A fiber has a stack of its own, though its frames lead on to those of its caller.
cat >"$root/tmp/fiber.php" <<'S'
<?php
echo "ready ", getmypid(), "\n";
fgets(STDIN);
function work() { posix_getpid(); Fiber::suspend(); posix_getpid(); }
$fiber = new Fiber('work');
$fiber->start();
$fiber->resume();
posix_getpid();
S
count_ready -f "$libc:getpid" -- "${php[@]}" /tmp/fiber.php
lacks "functions of a fiber's caller are not in its stack" '[{]main[}] \(fiber\.php\);.*work \(fiber\.php\)'
is "... those of the fiber are" "$(counted ';\[unwind: a fiber began\];[^()]*;work \(fiber\.php\);[^()]*getpid$')" 2
is "... and outside of it its callers" "$(counted ';[{]main[}] \(fiber\.php\);[^()]*getpid$')" 1

# Chains that are bent: the walk ends, says why, and native frames go on.
cp "$here/php_forged.php" "$root/tmp"
count_ready -f "$libc:getpid" -- "${php[@]}" -d extension=ffi -d ffi.enable=1 /tmp/php_forged.php
is "a circle is followed for a while only" "$(counted 'zend_execute;execute_ex;\[php: too deep\];.*ffi_call.*;getpid$')" 1
is "where a wild pointer leads is not read" "$(counted 'zend_execute;execute_ex;\[php: unreadable\];.*ffi_call.*;getpid$')" 1
is "the chain is whole again" "$(counted ';[{]main[}] \(php_forged\.php\);whole \(php_forged\.php\);[^()]*getpid$')" 1

# Samples: nearly all have functions.
cat >"$root/tmp/busy.php" <<'S'
<?php
function used() { $u = getrusage(); return $u["ru_utime.tv_sec"] + $u["ru_utime.tv_usec"] / 1e6; }
class Order { function compare($x, $y) { return $x <=> $y; } }
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function work($until)
{
	$order = new Order;
	while (used() < $until) {
		$a = range(1, 50);
		usort($a, [$order, "compare"]);
		fib(10);
		preg_replace_callback('/\d/', fn($m) => "x", "a1b2c3");
	}
}
echo "ready ", getmypid(), "\n";
fgets(STDIN);
work(used() + 2);
S
sample_ready -F 499 -U -o "$tmp/busy.svg" -- "${php[@]}" /tmp/busy.php
work=$(counted '[{]main[}] \(busy\.php\);work \(busy\.php\)')
ran=$(counted ';zend_execute_scripts;')
calculates "$ran > 100 && $work > 0.9 * $ran"
check $? "samples have functions" "$work of $ran"
grep -q '>PHP</text>' "$tmp/busy.svg"
check $? "a picture tells PHP's functions from others" "$(grep -o 'id="legend".*' "$tmp/busy.svg" | cut -c 1-300)"

# Lines of samples: what tests the loop's end may neither fail nor call, so its frame does not tell it.
cat >"$root/tmp/lines.php" <<'S'
<?php
function used() { $u = getrusage(); return $u["ru_utime.tv_sec"] + $u["ru_utime.tv_usec"] / 1e6; }
function work($until)
{
	while (used() < $until)
		for ($i = 0;
			$i < 100000; $i++);
}
echo "ready ", getmypid(), "\n";
fgets(STDIN);
work(used() + 1);
S
sample_ready -F 499 -U --lines -- "${php[@]}" /tmp/lines.php
ran=$(counted ';work \(/tmp/lines\.php')
tests=$(counted ';work \(/tmp/lines\.php:7\)')
calculates "$ran > 50 && $tests > 0.9 * $ran"
check $? "samples have the lines that were interrupted" "$tests of $ran"

# A server, whose processes were there before, and whose functions are compiled for each request.
if in_release bookworm php8.2-fpm; then
	cat >"$root/tmp/fpm.conf" <<'S'
[global]
error_log = /dev/null
[www]
listen = /tmp/fpm.sock
pm = static
pm.max_children = 2
user = 0
group = 0
S
	cat >"$root/tmp/page.php" <<'S'
<?php
class Page { function show() { posix_getpid(); echo "shown"; } }
(new Page)->show();
S
	rm -f "$root/tmp/fpm.sock"
	chroot "$root" /usr/sbin/php-fpm8.2 -n -d extension=posix -F -R -y /tmp/fpm.conf >>"$fate" 2>&1 &
	server=$!
	started+=("$server")
	await 20 test -S "$root/tmp/fpm.sock"
	if attach -f "$libc:getpid"; then
		for _ in 1 2 3 4 5; do
			python3 "$here/fcgi_request.py" "$root/tmp/fpm.sock" /tmp/page.php
		done >"$tmp/pages"
		detach
		out=$folded
		is "php-fpm answers" "$(grep -o shown "$tmp/pages" | wc -l)" 5
		is "each request of php-fpm has the page's functions" \
			"$(counted '[{]main[}] \(page\.php\);Page::show \(page\.php\);[^()]*getpid$')" 5
		is "... as one stack" "$(grep -c 'Page::show (page\.php);[^()]*getpid ' "$out")" 1
	else
		fail "php-fpm" "$(tail -n 2 "$err")"
	fi
	kill "$server"
else
	skip "php-fpm" "$(tail -n 1 "$err")"
fi
finish
