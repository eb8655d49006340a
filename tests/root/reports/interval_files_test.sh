#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Formats that hold one report get a file for each interval: interval_files_test.sh BUILD
# timeout: 180
# kind: outputs
. "$(dirname "$0")/../harness.bash" "$1"

begin "$programs/nested" || finish
cd "$tmp" || finish
mkdir files
measure -q -F 499 -f -p "$pid" -i 1 3 -o 'files/%n.json' -o 'files/%n.pb.gz' -o 'files/%n.txt' \
	-o 'files/%n.stacktally' -o 'files/all.folded' -o 'files/%n.folded' -o 'files/at-%t.svg'
exits "a file for each interval" 0
n=$(awk 'BEGIN { RS = "" } END { print NR }' files/all.folded)
[ "$n" -ge 3 ]
check $? "there are three intervals" "$n: $(cat "$err")"
for suffix in json pb.gz txt stacktally folded; do
	# As many files as reports, and no others.
	[ "$(find files -name "[0-9]*.$suffix" | wc -l)" -eq "$n" ] && [ -s "files/$n.$suffix" ]
	check $? "each has its .$suffix" "$(ls files)"
done
[ "$(find files -name 'at-2*-*.svg' | wc -l)" -ge 2 ]
check $? "%t is the time" "$(ls files)"
awk '{ print }' files/[0-9].folded | sort >one
grep -v '^$' files/all.folded | sort | cmp - one
check $? "together they have the lines of the file with all intervals" "see above"
python3 - "$n" <<'END' >"$tmp/said" 2>&1
import datetime, json, sys
end = None
for i in range(1, int(sys.argv[1]) + 1):
    profile = json.load(open(f"files/{i}.json"))
    of = profile["measurement"]
    folded = sum(int(line.rsplit(" ", 1)[1]) for line in open(f"files/{i}.folded"))
    assert sum(stack["count"] for stack in profile["stacks"]) == of["samples"] == folded, i
    start = datetime.datetime.fromisoformat(of["start_time"][:26] + "+00:00").timestamp()
    assert end is None or abs(start - end) < 0.001, (i, start, end)
    end = start + of["duration_ns"] / 1e9
    assert of["duration_ns"] > 0 and of["duration_ns"] < 60e9, i
END
check $? "each says when it began and how long it took; they follow one another" "$(cat "$tmp/said")"
differs=
for i in $(seq "$n"); do
	"$profile" -q --from "files/$i.stacktally" -f | cmp - "files/$i.folded" || differs+=" $i"
done
[ -z "$differs" ]
check $? "each recording has the samples of its interval" "not those of$differs"
end

measure -i 1 2 -o one.json
[ "$status" -eq 2 ] && grep -qF 'put %n or %t in the name' "$err"
check $? "one name for many reports is refused" "$status: $(cat "$err")"
measure -i 0.5 2 -o '%t.json'
[ "$status" -eq 2 ] && grep -qF 'need %n' "$err"
check $? "and so is %t alone for two reports a second" "$status: $(cat "$err")"
ls ./*.json >"$tmp/said" 2>&1
check $((! $?)) "they leave no file" "$(cat "$tmp/said")"
finish
