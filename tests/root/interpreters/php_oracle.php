<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Calls getpid() from stacks of all kinds, and writes its own account of them: php php_oracle.php FILE [lines].
// Each line is as in a folded report with the functions of the program only, and with `lines` as in one with
// --lines, but the directories.
namespace App;

$account = [];

function show($name, $line)
{
	global $argv;
	return "$name (php_oracle.php)" . (($argv[2] ?? "") == "lines" ? " (php_oracle.php:$line)" : "");
}

/* The functions of a backtrace that are written in PHP, outermost first; the innermost one is at a line. */
function functions(array $trace, int $line)
{
	$functions = [];
	foreach ($trace as $call) {
		$name = $call["function"];
		$class = isset($call["class"]) ? "$call[class]::" : "";
		if (str_contains($name, "{closure") ||
		    !($class ? new \ReflectionMethod($class . $name)
			     : new \ReflectionFunction($name))->isInternal())
			array_unshift($functions, show($class . $name, $line));
		$line = $call["line"] ?? $line; /* what C code calls has none, but that code */
	}
	return [show("{main}", $line), ...$functions];
}

function probe()
{
	global $account;
	posix_getpid(); $at = __LINE__;
	$line = implode(";", functions(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), $at));
	$account[$line] = ($account[$line] ?? 0) + 1;
}

function recurse($n)
{
	$n ? recurse($n - 1) : probe();
}

class Base implements \IteratorAggregate, \JsonSerializable, \Countable
{
	public function method() { probe(); return $this; }
	public static function made() { probe(); return new static; }
	public function __get($name) { probe(); return 1; }
	public function __toString() { probe(); return "text"; }
	public function __invoke($x) { probe(); return $x; }
	public function getIterator(): \Iterator { probe(); yield 1; probe(); yield 2; }
	public function jsonSerialize(): mixed { probe(); return []; }
	public function count(): int { probe(); return 0; }
	public function compare($a, $b) { probe(); return $a <=> $b; }
}

class Derived extends Base
{
	public function method() { parent::method(); return parent::method(); }
	public function __destruct() { probe(); }
}

function methods()
{
	$it = Derived::made()->method();
	$it->missing;
	"$it";
	$it(1);
	foreach ($it as $each)
		probe();
	json_encode($it);
	count($it);
	$numbers = [3, 1, 2, 5, 4];
	usort($numbers, [$it, "compare"]);
	call_user_func([$it, "method"]);
	$it = null;
	(function () { probe(); })->call(new Base);
}

function closures()
{
	$outer = function ($x) { return (function () use ($x) { probe(); return $x; })(); };
	array_map($outer, [1, 2, 3]);
	array_filter([1, 2], static fn($x) => probe() ?? true);
	array_walk_recursive($GLOBALS["nested"], function ($x) { recurse($x); });
	preg_replace_callback("/./", function ($m) { probe(); return $m[0]; }, "abc");
	$first = recurse(...);
	$first(2);
	iterator_apply(new \ArrayIterator([1, 2]), function () { probe(); return true; });
}

function generator($n)
{
	for ($i = 0; $i < $n; $i++) {
		probe();
		yield $i;
	}
}

function generators()
{
	foreach (generator(3) as $i)
		recurse($i);
	$sent = (function () { while (true) { $x = yield; probe(); } })();
	$sent->send(1);
	$sent->send(2);
	iterator_to_array((function () { foreach (generator(2) as $i) yield $i; })());
}

function errors()
{
	set_error_handler(function () { probe(); return true; });
	echo $undefined;
	trigger_error("error");
	restore_error_handler();
	try {
		try {
			throw new \Exception;
		} finally {
			probe();
		}
	} catch (\Exception) {
		probe();
	}
}

echo "ready ", getmypid(), "\n";
fgets(STDIN);
$nested = [1, [2, [3]]];
spl_autoload_register(function ($name) { probe(); });
class_exists("Nowhere");
probe();
for ($n = 0; $n < 20; $n++)
	recurse($n);
recurse(900);
methods();
closures();
generators();
errors();

$lines = "";
foreach ($account as $line => $n)
	$lines .= "$line $n\n";
file_put_contents($argv[1], $lines);
