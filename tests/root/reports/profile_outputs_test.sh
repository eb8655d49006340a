#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports in intervals, files and recordings: profile_outputs_test.sh BUILD
# timeout: 180
# kind: outputs
. "$(dirname "$0")/../harness.bash" "$1"

# ---- a report for each interval, with the samples of that interval only
begin "$programs/nested" || finish
measure -F 499 -f -p "$pid" -i 1 3
exits "-i ends with the duration" 0
reports=$(awk 'BEGIN { RS = "" } END { print NR }' "$out")
# On an emulated machine a report takes longer than an interval.
[ "$reports" -ge $((slow > 1 ? 2 : 3)) ] && [ "$(grep -c ' samples\{0,1\}, ' "$err")" -eq "$reports" ]
check $? "-i 1 3 gives three reports, each with its closing line" "$reports: $(cat "$err")"
paste <(awk 'BEGIN { RS = ""; FS = "\n" } { sum = 0; for (i = 1; i <= NF; i++) { n = $i; sub(/.* /, "", n); sum += n }
	print sum }' "$out") <(sed -n 's/^\([0-9]*\) samples*, .*/\1/p' "$err") >"$tmp/sums"
awk '$1 != $2 || $1 == 0 { exit 1 }' "$tmp/sums"
check $? "each report adds up to its closing line" "$(cat "$tmp/sums")"
sum=$(total)
calculates "$sum <= 3 * 499 * 1.15 + 5"
check $? "together they have no more samples than were taken: none is in two" "$sum of 1497"
[ "$(grep -c ' 0 lost$' "$err")" -eq "$reports" ]
check $? "nothing is lost between them" "$(cat "$err")"
measure -F 499 -p "$pid" -i 1 2
[ "$(grep -Ec '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]$' <(sed 's/ *$//' "$out"))" -ge 2 ] &&
	[ "$(grep -c '^Sampling' "$out")" -eq 1 ]
check $? "the multi-line reports have one title, and their times" "$(grep -n : "$out" | head -n 5)"
end

# ---- files
cd "$tmp" || finish
"$profile" -F 499 -o x.txt -o x.folded -o x.stacktally -o - --format text --format folded \
	--format recording --format folded -- "$programs/system_calls" 300 >live 2>"$err"
grep -v '^ready' live >live.folded
cmp live.folded x.folded
check $? "standard output and a file have the same report" "they differ"
[ "$(total x.folded)" -gt 20 ]
check $? "it has samples" "$(cat "$err")"
head -n 1 x.txt | grep -q '^Sampling at 499 Hertz of ' && grep -q '^    -                system_calls (' x.txt
check $? "a text file has the title and the entries" "$(head -n 3 x.txt)"
closing
"$profile" --from x.stacktally -f >again.folded 2>again.err
cmp again.folded x.folded
check $? "a recording gives the report of its measurement" "$(diff again.folded x.folded | head -n 5)"
cmp again.err "$err"
check $? "and its closing line" "$(diff again.err "$err")"
"$profile" --from x.stacktally >again.txt 2>>"$fate"
cmp again.txt x.txt
check $? "and the multi-line one" "$(diff again.txt x.txt | head -n 5)"
rm -f y.*
"$profile" -q -F 99 -o y.txt -o y.folded -o y.stacktally -- "$programs/nested" 100 >"$fate" 2>"$err"
grep -q '^Sampling' y.txt && grep -Eq '^nested;.* [0-9]+$' y.folded &&
	"$profile" -q --from y.stacktally -f | cmp - y.folded
check $? "the extension selects the format" "$(head -c 80 y.txt y.folded)"
[ ! -s "$err" ]
check $? "-q says nothing" "$(cat "$err")"
"$profile" -q --format folded -o y.unheard -F 99 -- "$programs/nested" 100 >"$fate" 2>"$err"
grep -Eq '^nested;.* [0-9]+$' y.unheard
check $? "--format selects it where the extension does not" "$(cat "$err")"
ln -s y.folded y.link.folded
"$profile" -q -F 99 -o y.link.folded -- "$programs/recursion" 3 50 >"$fate" 2>"$err"
[ -L y.link.folded ] && grep -q '^recursion;' y.folded
check $? "a link stays, and the file it leads to is replaced" "$(ls -l)"
(umask 077 && "$profile" -q -F 99 -o z.folded -- true)
[ "$(stat -c %a z.folded)" = 600 ]
check $? "a new file heeds the umask" "$(stat -c %a z.folded)"

# ---- recordings, without privileges
chmod 755 "$tmp"
[ -z "${TMPDIR-}" ] || chmod 711 "$TMPDIR"
cp "$profile" "$tmp/profile"
chmod 644 x.stacktally
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --no-new-privs \
	"$tmp/profile" --from "$tmp/x.stacktally" -f >nobody.folded 2>"$err"
check $? "anybody may report from a recording" "$(cat "$err")"
cmp nobody.folded x.folded
check $? "and gets the same" "$(diff nobody.folded x.folded | head -n 3)"

# ---- a measurement that cannot be written is kept
kept_recording() { sed -n 's/^The measurement is kept in \(.*\): report from it with --from$/\1/p' "$err"; }
mkdir kept
TMPDIR=$tmp/kept measure -F 499 -o /dev/full -o beside.folded --format json --format folded -- \
	"$programs/nested" 100
exits "a full disk is an error" 1
kept=$(kept_recording)
[[ $kept == "$tmp"/kept/* ]] && [ "$(stat -c %a "$kept")" = 600 ] && "$profile" -q --from "$kept" -f >kept.folded
check $? "the measurement is kept in TMPDIR" "$(cat "$err")"
[ "$(total kept.folded)" -gt 0 ] && cmp kept.folded beside.folded
check $? "... and the other output is written" "$(head -n 2 kept.folded beside.folded)"
mkdir gone
TMPDIR=$tmp/kept measure -q -F 499 -o gone/x.folded -o after.folded -- sh -c "rmdir gone; exec $programs/nested 100"
[ "$status" -eq 1 ] && grep -q 'cannot write gone/x.folded: No such file or directory' "$err" &&
	[ "$(total after.folded)" -gt 0 ]
check $? "... also if it is the name that cannot be given" "exit status $status: $(cat "$err"; ls)"
TMPDIR=/nowhere measure -q -F 499 -o /dev/full --format json -- "$programs/nested" 100
kept=$(kept_recording)
[[ $kept == /var/tmp/* ]] && rm "$kept"
check $? "... or in /var/tmp" "$(cat "$err")"
rm -r kept && mkdir kept
"$profile" -q --from x.stacktally -o /dev/full --format json 2>"$err"
[ "$(wc -l <"$err")" -eq 1 ]
check $? "what comes from a recording is not kept again" "$(cat "$err")"
"$profile" -F 499 -f -- "$programs/nested" 100 2>"$err" | :
[ -z "$(kept_recording)" ]
check $? "nor what a closed pipe does not take" "$(cat "$err")"

# ---- files that are no recordings
head -c 500 x.stacktally >short.stacktally
measure --from short.stacktally -f
exits "a recording that was cut is an error" 1
says "the message says where" 'short\.stacktally.*(offset|byte) [0-9]+'
[ ! -s "$out" ]
check $? "nothing is on stdout" "$(head -n 2 "$out")"
measure --from "$profile" -f
exits "a file that is no recording is an error" 1
[ "$(wc -l <"$err")" -eq 1 ]
check $? "in one line" "$(cat "$err")"
measure --from nosuch.stacktally -f
exits "a file that does not exist is an error" 1
mkfifo pipe.stacktally
timeout 10 "$profile" --from pipe.stacktally -f >"$out" 2>"$err"
[ $? -eq 1 ]
check $? "a pipe without a writer is refused, not waited for" "$(cat "$err")"
measure --from "$tmp" -f
exits "a directory is no recording" 1
finish
