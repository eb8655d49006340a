#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The table that a terminal gets, and tables of functions: top_test.sh BUILD
# kind: silence
set -u
export LC_ALL=C TERM=xterm
unset NO_COLOR
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
profile=$build/profile
stackcount=$build/stackcount
recordings=$top/tests/golden/recordings
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1

# on_terminal COMMAND ...: its output on a terminal of 80 columns in the file `screen`
on_terminal() { script -qec "stty cols 80 rows 40; $*" /dev/null </dev/null | tr -d '\r' >screen; }
is_table() { grep -q 'mostly in$' screen; }
from="$profile --from $recordings/profile.stacktally"

export NO_COLOR=1
on_terminal "$from"
is_table
check $? "a terminal gets the table" "$(cat screen)"
[ "$(wc -l <screen)" -le 40 ]
check $? "it has at most 40 lines" "$(wc -l <screen)"
for recording in "$recordings"/*.stacktally; do
	on_terminal "$profile --from $recording"
	! LC_ALL=C.UTF-8 grep '.\{81\}' screen >wide
	check $? "in 80 columns: $(basename "$recording")" "$(cat wide)"
done
on_terminal "$profile --from $recordings/times.stacktally --diff $recordings/times.stacktally:0-1 2>&1"
! LC_ALL=C.UTF-8 grep '.\{81\}' screen >wide
check $? "... and a difference" "$(cat wide)"
on_terminal "$from"
grep -q '^next: .*--format text' screen
check $? "what to type next is told" "$(tail -n 2 screen)"
! grep -q "$(printf '\033')" screen
check $? "NO_COLOR leaves out colours" "$(cat -v screen)"
unset NO_COLOR
on_terminal "$from"
grep -q "$(printf '\033\\[1m')" screen
check $? "heads are bold" "$(cat -v screen)"
TERM=dumb on_terminal "$from"
! grep -q "$(printf '\033')" screen
check $? "but not on a dumb terminal" "$(cat -v screen)"

for option in -d -a -s -A --by-address '--format text' '-o -'; do
	on_terminal "$from $option"
	grep -q '^    -                spin (99)$' screen && ! is_table
	check $? "$option on a terminal has the layout of bcc" "$(head -n 5 screen)"
done
on_terminal "$from -f"
grep -q '^spin;' screen && ! is_table
check $? "-f on a terminal is folded" "$(head -n 5 screen)"
for option in -v -P; do
	on_terminal "$stackcount --from $recordings/stackcount.stacktally $option"
	grep -q '^    31$\|^    30$' screen && ! is_table
	check $? "stackcount $option on a terminal has the layout of bcc" "$(head -n 5 screen)"
done
on_terminal "$stackcount --from $recordings/stackcount.stacktally"
is_table
check $? "stackcount has the table, too" "$(cat screen)"
$from >out 2>/dev/null
grep -q '^    -                spin (99)$' out
check $? "a pipe gets the layout of bcc" "$(head -n 5 out)"

# A thread that waits in libc: where it is called from is seen behind the kernel's functions.
cat >waits.json <<'END'
{"shared":{"frames":[{"name":"start_thread","file":"libc.so.6"},{"name":"poll","file":"libc.so.6"},
{"name":"do_syscall_64","file":"[kernel]"},{"name":"do_poll","file":"[kernel]"},{"name":"schedule","file":"[kernel]"}]},
"profiles":[{"type":"sampled","name":"a (7)","unit":"none","samples":[[0,1,2,3,4]],"weights":[5]},
{"type":"sampled","name":"b (8)","unit":"none","samples":[[2,3,4]],"weights":[4]}]}
END
$profile --from waits.json --top -q >out
grep -qx '  schedule <- .. <- poll <- start_thread' out && grep -qx '  schedule <- do_poll <- do_syscall_64' out
check $? "functions of the kernel are shortened where others follow" "$(cat out)"

$from --top -q >out
grep -q 'mostly in$' out
check $? "--top prints the table to a pipe" "$(head -n 5 out)"
$from --top=1 -q >one
[ "$(grep -c 'hottest stack' one)" = 1 ] && [ "$(grep -c 'other names$' one)" = 1 ]
check $? "--top=1 has a row in each part" "$(cat one)"
$from --top -q -o x.csv >out
grep -q 'mostly in$' out && [ -s x.csv ]
check $? "--top with -o prints it besides" "$(head -n 5 out)"
$from -q -o x.top && grep -q 'mostly in$' x.top
check $? "-o FILE.top has it" "$(head -n 5 x.top)"

tail -n +2 x.csv | cut -d, -f1 >self && sort -rnc self
check $? "it is sorted by self" "$(cat self)"
$from -q --format tsv -n 3 --sort cum --columns cum,name >out
[ "$(wc -l <out)" = 4 ] && [ "$(head -n 2 out)" = "$(printf 'total\tfunction\n46\tmain')" ]
check $? "-n, --sort and --columns with the names of pprof" "$(cat out)"
python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
sys.exit(any(len(row) != 7 for row in rows) or not any(", " in row[4] for row in rows))' x.csv
check $? "names with commas are quoted" "$(cat x.csv)"
printf 'x;=1+1;@SUM(A1),"b;-c;+d 5\n' >formula.folded
$profile -q --from formula.folded --format csv >formula.csv
python3 -c 'import csv
names = sorted(row["function"] for row in csv.DictReader(open("formula.csv")))
raise SystemExit(names != sorted(["x", chr(39) + "=1+1", chr(39) + "@SUM(A1),\"b", chr(39) + "-c", chr(39) + "+d"]))'
check $? "names that a spreadsheet would compute are text" "$(cat formula.csv)"

refused() { # NAME WORDS OPTION ...
	local name=$1 words=$2
	shift 2
	$from "$@" >out 2>err
	[ $? = 2 ] && grep -qF -- "$words" err && [ ! -s out ]
	check $? "$name" "$(cat err)"
}
refused "a column that is none" "no column 'x' (choose from self " --top --columns self,x
refused "an order that is none" "cannot sort by 'x'" --top --sort x
$from --columns self-before >out 2>err
[ $? = 2 ] && grep -qF 'self-before is of a difference' err
check $? "columns of no difference" "$(cat err)"
refused "columns without a table" "no output is a table" --columns self --format svg
refused "rows that are none" "invalid int value: '3x'" --top=3x
refused "--top with --format" "not allowed with" --top --format svg

base=$recordings/base.stacktally
$profile -q --from "$recordings/profile.stacktally" --diff "$base" --top >out 2>/dev/null
grep -q "^before: $base, " out && grep -q '  before    self  change ' out &&
	grep -q '^        2020-09-13T12:26:40Z ' out
check $? "a difference names its base and what it was" "$(head -n 8 out)"
printf 'a;main;gone 100\na;main;same 50\n' >before.folded
printf 'a;main;same 50\na;main;new 100\n' >now.folded
$profile -q --from now.folded --diff before.folded --diff-raw --top >out
grep -q '^     100       0    -100     100       0    -100  gone$' out &&
	grep -q '^       0     100    +100       0     100    +100  new$' out
check $? "functions that vanished and new ones are on top" "$(cat out)"
$profile -q --from now.folded --diff before.folded --diff-raw --format csv \
	--columns self-before,self,self-change,function >out
[ "$(sed -n 2,3p out | sort)" = "$(printf '0,100,100,new\n100,0,-100,gone')" ] ||
	[ "$(sed -n 2,3p out | sort)" = "$(printf '0,100,+100,new\n100,0,-100,gone')" ]
check $? "so are they in CSV" "$(cat out)"
$profile -q --from now.folded --diff before.folded --diff-raw --format json >out
python3 -c 'import json, sys
difference = json.load(open("out"))["difference"]
rows = {row["name"]: row for row in difference["functions"]}
sys.exit(difference["base"] != "before.folded" or difference["measurement"]["samples"] != 150 or
	[rows["gone"][key] for key in ("self_before", "self", "total_before", "total")] != [100, 0, 100, 0] or
	[rows["main"][key] for key in ("self_before", "self", "total_before", "total")] != [0, 0, 150, 150] or
	difference["functions"][0]["name"] not in ("gone", "new"))'
check $? "JSON of a difference has the functions of both" "$(cat out)"

# ---- --fail-if-more
compare() { $profile -q --from now.folded --diff before.folded --diff-raw "$@" >out 2>err; }
compare --fail-if-more 10
[ $? = 4 ] && grep -qx -- '+66.7 % self, +66.7 % total: new' err && [ -s out ] && ! grep -q same err
check $? "a function that grew: status 4, and its name" "$(cat err)"
compare --fail-if-more 66.7 && [ ! -s err ]
check $? "growth up to the limit: status 0, and silence" "$(cat err)"
compare --fail-if-more 10 -o x.html
[ $? = 4 ]
check $? "with any format" "$(cat err)"
for bad in x -1 3x nan inf ''; do
	compare --fail-if-more "$bad"
	[ $? = 2 ] && grep -q 'fail-if-more' err
	check $? "--fail-if-more '$bad' is refused" "$(cat err)"
done
$profile --from now.folded --fail-if-more 3 >out 2>err
[ $? = 2 ] && grep -q 'fail-if-more: needs --diff' err
check $? "--fail-if-more without a base" "$(cat err)"

# ---- time off the CPU
waits="$profile --from $recordings/off-cpu.stacktally"
$waits --format top --ignore vfs_read >out 2>err
grep -q '^     0 ns 7\.000 µs  spin (99)  ' out
check $? "microseconds are as wide as they look" "$(grep spin out)"
note='^5\.000 s of it in waits that began before the start; --format top leaves them out$'
for format in text folded; do
	$waits --format $format >out 2>err
	grep -q "$note" err
	check $? "$format tells of waits that began before the start" "$(cat err)"
done
$waits --format top >out 2>err
! grep -q "$note" err && grep -q '^left out: 5\.000 s' out
check $? "the table itself does" "$(cat err)"
on_terminal "$waits -f >$tmp/out"
grep -q '5\.000 s of it' screen && ! grep '.\{81\}' screen >wide
check $? "lines behind a report have at most 80 columns on a terminal" "$(cat screen)"
exit $failed
