#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unwinding tables are made when code is first sampled, or a moment later, and freed with the
# process: unwind_discovery_test.sh BUILD
# timeout: 300
# quiet: what part of short programs is walked depends on how soon their tables are there
# kind: gone files
. "$(dirname "$0")/../harness.bash" "$1"
export XDG_CACHE_HOME=$tmp/cache
mkdir "$XDG_CACHE_HOME"
odd=$programs/sampled/odd_stacks
[ ! -e /proc/$$/autogroup ] || echo -15 >/proc/$$/autogroup

# number REGEX: the number in the messages of -v that the group of REGEX matches
number() { sed -n -E "s/.*$1.*/\1/p" "$err" | head -n 1; }
# complete NAME PERCENT [LEAST]: of at least LEAST (50) user stacks, PERCENT are complete
complete() {
	local all share
	read -r all share < <(sed -n 's/^user stacks: \([0-9]*\), \([0-9.]*\) % complete.*/\1 \2/p' "$err")
	calculates "${all:-0} >= ${3-50} && ${share:-0} >= $2"
	check $? "$1" "${share-no} % of ${all-no} stacks; $(grep ' ended for: ' "$err" | head -n 4)"
}

# ---- from the first sample
for ((i = 0; i < 40; i++)); do echo /bin/true; done >"$tmp/short.sh"
measure -F 4999 -U -f -v -- bash "$tmp/short.sh"
complete "short programs, nothing on disk: complete from the first sample" 95
measure -F 4999 -U -f -v -- bash "$tmp/short.sh"
complete "short programs again" 97
calculates "$(number ' ([0-9]+) from disk') > 0"
check $? "tables are loaded from disk the second time" "$(grep ^unwinding "$err")"

for ((i = 0; i < 100; i++)); do
	echo "'$programs/late_library' '$programs/libplugin.so' 2 56"
done >"$tmp/large.sh"
measure -F 4999 -U -f -v -- bash "$tmp/large.sh"
complete "short programs with 56 KiB on their stack" 98.5 500
calculates "$(number ' ([0-9]+) stacks finished in user space') >= 50"
check $? "... are walked in user space at first" "$(grep ' finished ' "$err")"

# shellcheck disable=SC2016
measure -F 999 -U -f -v -- bash -c 'for i in {1..400}; do (:; : "${BASHPID}") & done; wait'
complete "a storm of forks" 97
cat >"$tmp/again.sh" <<-'AGAIN'
	i=0; while ((i < 20000)); do ((i++)); done
	[ "$1" -eq 0 ] || exec bash "$0" $(($1 - 1))
AGAIN
measure -F 999 -U -f -v -- setarch -R bash "$tmp/again.sh" 8
complete "a program that executes itself, at the same addresses" 97
# Libraries that are loaded one after another and used at once.
cat >"$tmp/late.py" <<-'LATE'
	import importlib, time
	print("ready", __import__("os").getpid(), flush=True)
	end = time.monotonic() + 1
	while time.monotonic() < end:
	    pass
	for name in "sqlite3 zlib _ssl _hashlib _lzma _bz2 _ctypes _curses pyexpat".split():
	    try:
	        module = importlib.import_module(name)
	    except ImportError:
	        continue
	    end = time.monotonic() + 0.1
	    while time.monotonic() < end:
	        if name == "zlib":
	            module.compress(bytes(100000))
	        elif name == "sqlite3":
	            module.connect(":memory:").execute("select 1").fetchall()
LATE
begin /usr/bin/python3 "$tmp/late.py"
measure -F 999 -U -f -v -p "$pid" 3
end
complete "libraries that are loaded while the program runs" 99
has "(code in them was sampled)" '(deflate|compress|sqlite3)'

# ---- for which processes
begin "$programs/nested" 0
"$profile" -F 499 -U -f -v -p "$pid" 2 >"$out" 2>"$err" &
run=$!
started+=("$run")
while kill -0 "$run" 2>>"$fate"; do bash -c :; done
wait "$run"
calculates "$(number '^unwinding: ([0-9]+) processes') == 1"
check $? "with -p, tables are made for no other process" "$(grep ^unwinding "$err")"
end

# Other programs on this machine may run generated code without frame pointers (an emulator's), and
# have stacks deeper than the limit: these are left out.
begin "$odd"
measure -F 99 -U -f -v $((2 * slow))
end
excused=$(counted '\[unwind: generated code\]|^[^;]*;\[truncated\]|\[jit\]')
known=$(counted '\[unwind: ')
calculates "$known - $excused < 0.03 * $(total) && $(counted '^odd_stacks;_start;') > 20"
check $? "the whole machine: 97 % of the stacks are complete" "$known, $excused of $(total); $(grep ' ended for: ' "$err" | head -n 4)"

# ---- the tables of processes that ended are freed
measure -F 99 -U -f -v -- bash -c 'for i in {1..200}; do sleep 5 & done; kill $(jobs -p); wait' 2>&1
processes=$(number 'unwinding: ([0-9]+) processes')
calculates "${processes:-1000} < 20"
check $? "processes that ended are forgotten" "$processes processes"

# ---- little memory
measure -F 499 -U -f -v --unwind-memory 1 $((2 * slow)) -- bash -c '
	/usr/bin/python3 -c "import json, re, sqlite3, ssl, ctypes; [json.dumps([i]) for i in range(300000)]" &
	perl -e "for (1..3000000) { \$a{\$_ % 99}++ }" & openssl speed -seconds 1 sha256 & wait'
exits "with 1 MB for tables it works" 0
calculates "$(number ', ([0-9]+) evicted') > 0"
check $? "tables that were evicted are counted" "$(grep ^unwinding "$err")"
calculates "$(counted '\[unwind: (evicted|no room|table evicted)' ) > 0"
check $? "stacks that needed them say so" "$(grep ' ended for: ' "$err" | head -n 5)"
used=$(sed -n -E 's/^unwinding: .* ([0-9.]+) MB of ([0-9]+).*/\1 <= \2/p' "$err")
calculates "${used:-0}"
check $? "the tables stay within the limit" "$used"

# ---- damaged files in the cache on disk
find "$XDG_CACHE_HOME" -type f >"$tmp/cached"
calculates "$(wc -l <"$tmp/cached") > 5"
check $? "tables are kept on disk" "$(wc -l <"$tmp/cached") files"
while read -r file; do
	printf '\377\377\377\377\377\377\377\377' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) \
		conv=notrunc status=none
done <"$tmp/cached"
measure -F 499 -U -f -v -- timeout -s KILL 1 "$odd"
complete "damaged tables are made again" 99
calculates "$(number ' ([0-9]+) from disk') == 0"
check $? "and none of them is used" "$(grep ^unwinding "$err")"
finish
