<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// busy.php MODE N: as busy.py
$asks = $argv[1] == "ask";
function clock() { $used = getrusage(); return $used["ru_utime.tv_sec"] + $used["ru_utime.tv_usec"] / 1e6; }
function leaf($n) {
	global $asks;
	$total = 0;
	for ($i = 0; $i < $n; $i++) $total += $i * $i % 7;
	if ($asks) getmypid();
	return $total;
}
function key_($x, $y) {
	global $asks;
	$total = 0;
	for ($i = 0; $i < 60; $i++) $total += $x ^ $i;
	if ($asks) getmypid();
	return $x - $y;
}
function render($n) { return leaf($n); }
function order($n) { global $asks; $items = range(1, $asks ? 2 : $n); usort($items, "key_"); return $items; }
function handle() { render(600); return order(10); }
function run($n) {
	global $asks;
	$end = clock() + $n;
	for ($done = 0; $asks ? $done < $n : clock() < $end; $done++) handle();
}
function main($n) { run($n); }
echo "ready ", getmypid(), "\n";
fgets(STDIN);
main((int)$argv[2]);
