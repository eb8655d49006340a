#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --from answers each option or refuses it: from_test.sh BUILD
# kind: foreign files
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
recordings=$top/tests/golden/recordings
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
# from RECORDING OPTION...: a report, in $tmp/out
from() {
	local recording=$recordings/$1.stacktally command=profile
	[[ $1 == stackcount ]] && command=stackcount
	[ -e "$recording" ] || recording=$1
	"$build/$command" --from "$recording" "${@:2}" >"$tmp/out" 2>"$tmp/err"
}
# sum RECORDING EXPECTED OPTION...: the sum of the counts in folded lines
sum() {
	from "$1" -f "${@:3}"
	[ $? -eq 0 ] && [ "$(awk '{ n += $NF } END { print n + 0 }' "$tmp/out")" = "$2" ] &&
		grep -q "^$2 \(samples\|events\), .* lost$" "$tmp/err"
	check $? "--from $1 ${*:3}" "not $2: $(cat "$tmp/out" "$tmp/err")"
}
# refused RECORDING WHY OPTION...: exit status 2, one line, no report
refused() {
	local status
	from "$1" "${@:3}"
	status=$?
	[ $status -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -qF -- "$2" "$tmp/err"
	check $? "--from $1 ${*:3} is refused" "exit status $status: $(cat "$tmp/out" "$tmp/err")"
}

# ---- which events
sum profile 35 -p 99
sum profile 38 -p 99,41
sum profile 0 -p 1
sum profile 3 --name 'my a*'
sum profile 0 --name spi
sum profile 121 -I
sum threads 30 -L 51,52
sum threads 20 -L 52 --per-thread
sum threads 30 --cgroup /sys/fs/cgroup/system.slice/worker.service
sum threads 30 --cgroup /system.slice
sum threads 0 --cgroup /system.slice/work
sum stackcount 33 -p 405,1,507
sum stackcount 46 vfs_read
refused profile 'it was recorded without --per-thread' -L 99
refused profile 'it was recorded without --per-thread' --per-thread
refused profile 'it was recorded without --show-cgroup' --cgroup /a
refused profile 'it was recorded without --show-cgroup' --show-cgroup
refused threads 'it was recorded without -I' -I
refused stackcount 'its event is vfs_read' c:free
refused stackcount 'its event is vfs_read' -r 'vfs_.*'
refused profile '-C/--cpu cannot be used with --from' -C 1
refused stackcount '-c/--cpu cannot be used with --from' -c 1
refused profile '-e/--event cannot be used with --from' -e cpu-clock
refused profile '-F/--frequency cannot be used with --from' -F 49
refused profile '-c/--count cannot be used with --from' -c 1
refused profile '--cgroupmap cannot be used with --from' --cgroupmap /x
refused profile '--mntnsmap cannot be used with --from' --mntnsmap /x
refused profile '--children cannot be used with --from' --children -p 99
refused profile '-- true cannot be used with --from' -f -- true

# ---- when
refused profile 'duration cannot be used with --from' 5
refused stackcount '-D/--duration cannot be used with --from' -D 5
refused profile '-i/--interval cannot be used with --from' -i 1
refused stackcount '-T/--timestamp cannot be used with --from' -T
"$build/stackcount" --from "$recordings/profile.stacktally" -T >"$tmp/out" 2>"$tmp/err"
grep -qx "$(date -d @1700000005 +%H:%M:%S)" "$tmp/out"
check $? "-T prints when the recording ended" "$(head -n 4 "$tmp/out")"
from profile -o "$tmp/%t.folded" && [ -s "$tmp/$(date -d @1700000000 +%Y%m%d-%H%M%S).folded" ]
check $? "%t is when the recording began" "$(ls "$tmp")"

# ---- which seconds
sum times 150
sum times 50 --range 0-1
sum times 100 --range 0.4-2.4
sum times 100 --range 1-
sum times 100 --range -2
sum "$recordings/times.stacktally:2-9" 50
grep -q 'main 50$' "$tmp/out" && ! grep -q pread64 "$tmp/out"
check $? "a range has the stacks of its time only" "$(cat "$tmp/out")"
from times --range 1-3 -o "$tmp/part.stacktally" && sum "$tmp/part.stacktally" 50 --range 1-2
from times --range 1-2 && head -n 1 "$tmp/out" | grep -qF 'Of these: 1.00 s to 2.00 s.'
check $? "the title says which seconds" "$(head -n 1 "$tmp/out")"
"$build/profile" --from "$recordings/times.stacktally:2-3" --diff "$recordings/times.stacktally:0-1" -f \
	>"$tmp/out" 2>"$tmp/err"
[ "$(sed 's/.*main/main/' "$tmp/out" | paste -sd,)" = 'main;pread64 50 0,main 0 50' ]
check $? "two ranges of a file are compared" "$(cat "$tmp/out" "$tmp/err")"
cp "$recordings/times.stacktally" "$tmp/a:0-1"
sum "$tmp/a:0-1" 150
for range in 3-2 1 x-2 -; do
	from times -f --range=$range
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] &&
		grep -qE 'argument --range: (ends before it begins|must be BEGIN-END, in seconds)' "$tmp/err"
	check $? "--range $range is refused" "$(cat "$tmp/out" "$tmp/err")"
done
# empty NAME WHY OPTION...: exit status 1, one line, no report
empty() {
	local status
	from "$1" -f "${@:3}"
	status=$?
	[ $status -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qF -- "$2" "$tmp/err"
	check $? "--from $1 ${*:3} is refused" "exit status $status: $(cat "$tmp/out" "$tmp/err")"
}
empty times 'lasts 5.000 s: nothing of it is from 5.000 s on' --range 5-6
empty times 'nothing that was counted from 1.600 s to 2.400 s' --range 1.6-2.4
empty profile 'does not tell when it was counted' --range 0-1
refused "$recordings/times.stacktally:0-1" '--from has a range itself' --range 0-1
refused times '--time-buckets cannot be used with --from' --time-buckets 1

# ---- which stacks
sum profile 121 -U
grep -q 'vfs_read' "$tmp/out"
[ $? -eq 1 ] && grep -q '__libc_start_call_main;main;pread64 12' "$tmp/out"
check $? "-U leaves out kernel frames" "$(cat "$tmp/out")"
from profile -U -o "$tmp/user.stacktally"
refused "$tmp/user.stacktally" 'it was recorded with -U' -K
! grep -q vfs_read "$tmp/user.stacktally"
check $? "a recording of user stacks holds no others" "it does"
from profile -p 41 -o "$tmp/one.stacktally"
! grep -q pread64 "$tmp/one.stacktally" && grep -q ext4_writepages "$tmp/one.stacktally"
check $? "a recording of one process holds no stacks of others" "it does"
sum "$tmp/one.stacktally" 3
sum profile 121 --max-depth 2
grep -qx 'spin;\[truncated\];main;pread64;\[truncated\];__x64_sys_pread64;vfs_read 12' "$tmp/out"
check $? "--max-depth cuts" "$(cat "$tmp/out")"
refused profile 'its stacks were cut at 3 frames' --max-depth 4
sum profile 121 --max-depth 3
sum threads 65 --max-depth 1000
sum profile 121 --inlines
grep -q 'push_back(int&&);operator new 23' "$tmp/out"
check $? "--inlines shows what was recorded" "$(cat "$tmp/out")"
sum profile 121 --no-inlines
! grep -q 'operator new' "$tmp/out" && grep -q 'push_back(int&&) 23' "$tmp/out"
check $? "--no-inlines leaves it out" "$(cat "$tmp/out")"
refused threads 'it was recorded without --inlines' --inlines
refused threads 'it was recorded without --lines' --lines
refused profile '--unwind cannot be used with --from' --unwind fp
refused profile '--unwind-memory cannot be used with --from' --unwind-memory 8
refused stackcount '--hash-storage-size cannot be used with --from' --hash-storage-size 8
refused stackcount '--stack-storage-size cannot be used with --from' --stack-storage-size 8

# ---- the title of the report
from profile --name spin -p 99 -U
[[ $(head -n 1 "$tmp/out") == *' for 5 secs. Of these: PID 99, threads named spin, user stacks.' ]]
check $? "the title names the filters" "$(head -n 1 "$tmp/out")"

# ---- hints
from profile --name 'gunicorn*'
grep -qx "no thread named gunicorn\* was seen; seen most: swapper/6 (40), spin (35), dd (14)" "$tmp/err"
check $? "a name that nothing has is answered by those that were seen" "$(cat "$tmp/err")"
from profile --name 'spin'
! grep -q 'was seen' "$tmp/err"
check $? "... and others are not" "$(cat "$tmp/err")"
from profile -f -A
grep -qx 'folded stacks have neither addresses nor offsets: -A has no effect' "$tmp/err"
check $? "-A -f: one of them changes nothing, and a note says so" "$(cat "$tmp/err")"
from profile -A
! grep -q 'no effect' "$tmp/err"
check $? "-A alone does" "$(cat "$tmp/err")"
from profile -f
[ "$(tail -n 1 "$tmp/err")" = "121 samples, $(wc -l <"$tmp/out") stacks, 0 lost" ]
check $? "the closing line counts the stacks that are printed" "$(cat "$tmp/err"; wc -l <"$tmp/out")"
from stackcount -f
[ "$(tail -n 1 "$tmp/err")" = "46 events, $(wc -l <"$tmp/out") stacks, 0 lost" ]
check $? "stackcount counts events" "$(cat "$tmp/err")"
from stackcount
[ "$(head -n 1 "$tmp/out")" = 'Tracing 1 functions for "vfs_read".' ] && ! grep -q Detaching "$tmp/out"
check $? "a title that was saved waits for no Ctrl-C" "$(head -n 1 "$tmp/out")"

# ---- recordings of version 3
for name in threads profile; do
	from "$top/tests/recordings/version-3/$name.stacktally" -f && mv "$tmp/out" "$tmp/old"
	from $name -f && cmp "$tmp/out" "$tmp/old"
	check $? "version 3 of $name" "$(cat "$tmp/err")"
done
sum "$top/tests/recordings/version-3/threads.stacktally" 30 -L 51,52
refused "$top/tests/recordings/version-3/threads.stacktally" 'it was recorded without -I' -I

# ---- recordings of version 6, where flags said the language of a function
from "$top/tests/recordings/version-6/languages.stacktally" --format svg && mv "$tmp/out" "$tmp/old"
from languages --format svg && cmp "$tmp/out" "$tmp/old"
check $? "version 6 of languages" "$(cat "$tmp/err")"

# ---- files of other programs
cat >"$tmp/x.folded" <<'END'
spin;main;inner 7
spin;main;vfs_read_[k] 2
other;[unwind: generated code];[jit] 1
END
sum "$tmp/x.folded" 10
from "$tmp/x.folded" -f && cmp "$tmp/out" <(sort -k 2n "$tmp/x.folded" | sed 's/_\[k\]//')
check $? "folded text gives itself" "$(cat "$tmp/out" "$tmp/err")"
from "$tmp/x.folded" -o "$tmp/kept.stacktally" && sum "$tmp/kept.stacktally" 10
refused "$tmp/kept.stacktally" 'it holds no ids of processes' -p 1
sum "$tmp/x.folded" 9 --name 's*'
sum "$tmp/x.folded" 10 -U
! grep -q vfs_read "$tmp/out"
check $? "-U leaves out kernel frames of folded text" "$(cat "$tmp/out")"
refused "$tmp/x.folded" 'it holds no ids of processes' -p 1
from "$tmp/x.folded"
grep -qx '    -                spin' "$tmp/out"
check $? "a report of folded text has no process ids" "$(cat "$tmp/out")"
from profile -o "$tmp/x.pb.gz" && sum "$tmp/x.pb.gz" 35 -p 99
: >"$tmp/empty"
for file in /etc/passwd /bin/ls; do
	from $file
	[ $? -eq 1 ] && grep -q \
		"^profile: $file is not a stacktally recording, a JFR file, speedscope's JSON, Firefox's JSON, a pprof file, the text of perf script or folded stacks: " "$tmp/err"
	check $? "$file is no recording" "$(cat "$tmp/err")"
done
printf 'main;foo bar\nx;y z\n' >"$tmp/odd.folded"
from "$tmp/odd.folded"
grep -q ': line 1, main;foo bar, ends with no count$' "$tmp/err"
check $? "text that is no folded stacks: the line that shows it is named" "$(cat "$tmp/err")"
for option in -A -s; do
	refused "$tmp/x.folded" 'it holds names, and no addresses' $option
done
from "$tmp/empty"
[ $? -eq 1 ] && grep -q 'it is empty$' "$tmp/err"
check $? "an empty file" "$(cat "$tmp/err")"
exit $failed
