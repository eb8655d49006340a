#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Why walks of user stacks end: each sample has one reason, in all reports: unwind_ends_test.sh
# BUILD
# timeout: 120
# kind: callers
. "$(dirname "$0")/../harness.bash" "$1"

# json FILE EXPRESSION: succeeds if the Python expression is true; `r` is the report, `m` its
# measurement, `u` the user stacks
json() { python3 -c 'import json, sys
r = json.load(open(sys.argv[1])); m = r["measurement"]; u = m.get("user_stacks", {})
sys.exit(not (eval(sys.argv[2])))' "$1" "$2"; }
cd "$tmp" || finish

# ---- a walk that stops early is never taken for complete
# false_end HOW REASON FUNCTION: all walks from spin() end in FUNCTION, for that reason
false_end() {
	"$profile" -F 499 -U -o "$1.json" -o "$1.folded" -- "$programs/false_ends" "$1" 500 >"$tmp/said" 2>"$err"
	local in_spin there
	in_spin=$(counted ';spin(;|$)' "$1.folded")
	there=$(counted "^[^;]*;\\[unwind: $2\\];${3}called;spin(;|\$)" "$1.folded")
	[ "$in_spin" -gt 50 ] && [ "$there" -eq "$in_spin" ]
	check $? "$1: \"$2\" is at the root of all $in_spin" "$there, $(tail -n 3 "$1.folded")"
	json "$1.json" "u['ends'].get('$2', 0) == $there and u['complete'] == u['samples'] - sum(n for e, n in u['ends'].items() if e not in ('complete', 'entry')) < u['samples'] - 50"
	check $? "$1: none of them counts as complete" "$(head -c 1500 "$1.json")"
}
false_end gap "no row" "on_gap;"
false_end zero "bad return address" ""
false_end garbage "no mapping" "(\\[unknown\\];)?"

# ---- the reasons add up to the number of samples
begin "$programs/nested" || finish # so that there are user stacks
for mode in auto cfi fp; do
	"$profile" -F 999 -v --unwind=$mode -o "all.$mode.json" 2 >"$tmp/said" 2>"$err"
	json "all.$mode.json" "m['samples'] == sum(s['count'] for s in r['stacks']) > 0"
	check $? "--unwind=$mode: each sample is in a stack" "$(head -c 800 "all.$mode.json")"
	json "all.$mode.json" "u['samples'] > 100 and u['samples'] == sum(u['ends'].values()) == sum(s['count'] for s in r['stacks'] if s['user_end'] not in ('none', 'missed'))"
	check $? "--unwind=$mode: the reasons add up to the number of user stacks" "$(head -c 800 "all.$mode.json")"
	json "all.$mode.json" "all(u['ends'].get(e, 0) == sum(s['count'] for s in r['stacks'] if s['user_end'] == e) for e in {s['user_end'] for s in r['stacks']} - {'none', 'missed'})"
	check $? "--unwind=$mode: each reason counts the stacks that ended for it" "$(head -c 800 "all.$mode.json")"
	json "all.$mode.json" "not any(s['user_end'] == 'not told' for s in r['stacks'])"
	check $? "--unwind=$mode: no stack ends without a reason" "$(grep -m 3 'not told' "all.$mode.json")"
done
end

# ---- all reports have the totals: a program with complete and incomplete stacks
"$profile" -F 499 -v -o x.json -o x.speedscope.json -o x.pb.gz -o x.svg -o x.html -o x.perf.txt \
	-o x.stacktally -- sh -c "'$programs/false_ends' zero 300; '$programs/nested' 300" >"$tmp/said" 2>"$err"
json x.json "m['unwinding']['tables'] > 2 and m['unwinding']['rows'] > 1000 and m['unwinding']['bytes'] > 4096 and m['unwinding']['compiled'] + m['unwinding']['cached'] > 0 and m['unwinding']['compile_ns'] + m['unwinding']['cached_ns'] > 0"
check $? "JSON has numbers about the tables" "$(head -c 1500 x.json)"
json x.json "u['incomplete'][0]['end'] == 'bad return address' and u['incomplete'][0]['function'] == 'called' and u['incomplete'][0]['module'] == 'false_ends'"
check $? "JSON says where most incomplete stacks end" "$(head -c 1500 x.json)"
says "-v says how many are complete" '^(profile: )?user stacks: [0-9]+, [0-9.]+ % complete'
says "-v says where and why the others end" ' ended for: bad return address, in called of false_ends'
says "-v says how many tables, rows and bytes there are, and the time they took" 'unwinding: [0-9]+ tables .* [0-9]+ rows,.* MB .* compiled in [0-9]+ ms'
python3 - >"$tmp/log" 2>&1 <<'END'
import json
a, b = json.load(open("x.json"))["measurement"], json.load(open("x.speedscope.json"))["stacktally"]
b = b.get("measurement", b)
assert a["user_stacks"] == b["user_stacks"] and a["unwinding"] == b["unwinding"], b
END
check $? "speedscope has the same" "$(cat "$tmp/log")"
"$profile" --from x.stacktally -o again.json -o again.pb.gz >"$tmp/said" 2>"$err"
python3 - >"$tmp/log" 2>&1 <<'END'
import json
a, b = (json.load(open(f))["measurement"] for f in ("x.json", "again.json"))
assert a["user_stacks"] == b["user_stacks"] and a["unwinding"] == b["unwinding"], b
END
check $? "a recording keeps them" "$(cat "$tmp/log")"
for file in x.pb.gz again.pb.gz x.svg x.perf.txt x.html; do
	case $file in
	*.gz) zcat $file ;;
	*.html) python3 -c 'import base64, re, sys, zlib
data = re.search(r"id=\"data\">([^<]*)<", open(sys.argv[1]).read())[1]
text = zlib.decompress(base64.b64decode(data)).decode(errors="replace")
print(text.replace("\",\"", ": "))' $file ;;
	*) cat $file ;;
	esac | tr '\0' '\n' >text
	grep -aEq 'user stacks ?: [0-9]+, [0-9.]+ % complete' text &&
		grep -aEq 'incomplete ?: [0-9]+ for bad return address, in called of false_ends' text &&
		grep -aEq 'unwinding ?: [0-9]+ tables, [0-9]+ rows, [0-9]+ bytes; [0-9]+ compiled in' text
	check $? "$file has them as text" "$(grep -a -A12 'samples:' text | head -c 1500)"
done
finish
