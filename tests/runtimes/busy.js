// SPDX-License-Identifier: GPL-2.0-or-later
// busy.js MODE N: as busy.py
const fs = require("fs");
const asks = process.argv[2] === "ask";
let sink = 0;
function clock() { return process.cpuUsage().user / 1e6; }
function leaf(n) {
	let total = 0;
	for (let i = 0; i < n; i++) total += i * i % 7;
	if (asks) process.ppid;
	return total;
}
function key(x, y) {
	let total = 0;
	for (let i = 0; i < 60; i++) total += x ^ i;
	sink += total;
	if (asks) process.ppid;
	return x - y;
}
function render(n) { return leaf(n); }
function order(n) {
	const items = [];
	for (let i = 0; i < (asks ? 2 : n); i++) items.push(n - i);
	return items.sort(key);
}
function handle() { sink += render(600); return order(10); }
function run(n) {
	const end = clock() + n;
	for (let done = 0; asks ? done < n : clock() < end; done++) sink += handle().length;
}
function main() { run(+process.argv[3]); }
fs.writeSync(1, `ready ${process.pid}\n`);
fs.readSync(0, Buffer.alloc(1));
main();
