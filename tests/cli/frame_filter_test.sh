#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --focus and its relatives, in every format: frame_filter_test.sh BUILD
# kind: silence
set -u
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
recordings=$top/tests/golden/recordings
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$(dirname "$0")/../check.bash"
cd "$tmp" || exit 1

cat >stacks.folded <<'END'
main;a;b;c 5
main;a;b;b;b;d 3
main;x;y;x;y;x;y;z 2
main;void ns::f<int>(char const*);ns::g(int) const 4
idle 7
END

# stacks OPTION ... <EXPECTED
stacks() {
	"$build/profile" --from stacks.folded -qf "$@" 2>&1 | sed 's/^;//' | sort >printed
	diff <(sort) printed >&2
	check $? "stacks with $*" "$(tr '\n' '|' <printed)"
}
stacks --focus '^b$' <<'END'
main;a;b;c 5
main;a;b;b;b;d 3
END
stacks --focus '^c$' --focus 'd$' <<'END'
main;a;b;c 5
main;a;b;b;b;d 3
END
stacks --ignore '^[bx]$' <<'END'
main;void ns::f<int>(char const*);ns::g(int) const 4
idle 7
END
stacks --hide '^b$' --focus '^b$' <<'END'
main;a;c 5
main;a;d 3
END
stacks --hide '^(idle|b|x|y)$' <<'END'
main;a;c 5
main;a;d 3
main;z 2
main;void ns::f<int>(char const*);ns::g(int) const 4
END
stacks --show-from '^(b|y)$' <<'END'
b;c 5
b;b;b;d 3
y;x;y;x;y;z 2
END
stacks --show-from '^(b|y)$' --hide '^b$' <<'END'
y;x;y;x;y;z 2
END
stacks --collapse-recursion <<'END'
main;a;b;c 5
main;a;b;d 3
main;x;y;z 2
main;void ns::f<int>(char const*);ns::g(int) const 4
idle 7
END
stacks --simple-names --ignore '^[ax]$|idle' <<'END'
main;ns::f;ns::g 4
END
stacks --focus '^ns::f$' --simple-names <<'END'
main;ns::f;ns::g 4
END
stacks --focus 'ns::f<int>' --simple-names <<'END'
main;ns::f;ns::g 4
END
stacks --focus nosuch <<'END'
WARNING: no function, file or module matches --focus 'nosuch'
END

# ---- one line each
"$build/profile" --from stacks.folded -f --hide idle --ignore '^b$' >printed 2>told
grep -qx 'shown: 6 samples; 15 samples are left out by --ignore, --hide' told &&
	[ "$(wc -l <told)" -eq 2 ]
check $? "what is left out is told" "$(cat told)"
for wrong in 'x(' '[a' '*' 'a{2'; do
	"$build/profile" --from stacks.folded --hide "$wrong" >printed 2>told
	status=$?
	[ "$status" -eq 2 ] && ! [ -s printed ] && [ "$(grep -c 'not a regular expression' told)" -eq 1 ]
	check $? "no expression: $wrong" "status $status: $(cat told)"
done
"$build/profile" --from stacks.folded --simple-names --raw-names >printed 2>told
[ $? -eq 2 ] && grep -q 'not allowed with' told
check $? "names are simple or raw" "$(cat told)"

# ---- formats: what is left out of one is left out of all
# count FILE: the sum of the counts
count() { awk '{ sum += $NF } END { print sum + 0 }' "$1"; }
for recording in profile languages off-cpu wall; do
	case $recording in
	profile) hidden=vfs_read ;;
	languages) hidden=main ;;
	*) hidden=vfs_read ;;
	esac
	file=$recordings/$recording.stacktally
	"$build/profile" --from "$file" -qf >whole.folded 2>told
	grep -q "$hidden" whole.folded
	check $? "$recording: $hidden is there" "$(head -3 whole.folded)"
	for format in text top csv tsv folded svg pprof speedscope json perf-script; do
		"$build/profile" --from "$file" -q --hide "$hidden" --format "$format" -o out >printed 2>told
		status=$?
		[ "$format" = pprof ] && gzip -dc out >raw && mv raw out
		# The command line is a fact of some formats.
		[ "$status" -eq 0 ] && [ -s out ] && ! sed "s/--hide [^ ]*//g" out | grep -qa "$hidden"
		check $? "$recording: $format has no $hidden" \
			"status $status, $(sed "s/--hide [^ ]*//g" out | grep -a "$hidden" | head -2)"
	done
done
"$build/profile" --from "$recordings/profile.stacktally" -q --focus sys_ -o out.pb.gz -o out.json \
	-o out.folded -o out.speedscope.json >printed 2>told
for file in out.pb.gz out.json; do
	[ "$file" = out.json ] && total=$(python3 -c 'import json
print(sum(s["count"] for s in json.load(open("out.json"))["stacks"]))' 2>&1)
	[ "$file" = out.pb.gz ] && total=$("$build/profile" --from "$file" -qf 2>&1 | awk '{ s += $NF } END { print s }')
	[ "$total" = "$(count out.folded)" ]
	check $? "$file has the same sum" "$total, not $(count out.folded)"
done

# ---- a state is no function, so it stays; the waker's parts do, too
"$build/profile" --from "$recordings/off-cpu.stacktally" -qf >whole 2>told
"$build/profile" --from "$recordings/off-cpu.stacktally" -qf --hide . >bare 2>told
grep -q '\[blocked\]' bare && [ "$(count bare)" = "$(grep -E '\[(blocked|waiting for a CPU)\]' whole | count /dev/stdin)" ]
check $? "--hide . leaves the states" "$(cat bare)"

# ---- a recording is whole
"$build/profile" --from stacks.folded -q --focus '^b$' -o kept.stacktally >printed 2>told
"$build/profile" --from kept.stacktally -qf | sort >all
"$build/profile" --from stacks.folded -qf | sort >whole
cmp whole all
check $? "a recording keeps what is not shown" "$(diff whole all | head -3)"

# ---- differences
sed 's/ 5$/ 9/' stacks.folded >later.folded
"$build/profile" --from later.folded --diff stacks.folded --diff-raw -qf --focus '^b$' >printed 2>told
diff - printed <<'END'
;main;a;b;b;b;d 3 3
;main;a;b;c 5 9
END
check $? "both sides of a difference are filtered" "$(cat printed told)"
exit "$failed"
