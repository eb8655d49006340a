#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
# Other programs read our formats and find the same samples in each:
# formats_test.sh BUILD
# kind: foreign files
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
here=$top/tests/readers
build=$(cd "$1" && pwd) || exit 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/readers/setup.bash
. "$here/setup.bash"
export HOME=$tmp PPROF_TMPDIR=$tmp

. "$(dirname "$0")/../check.bash"
# same NAME EXPECTED FOUND: the two files are the same, and not empty
same() {
	[ -s "$3" ] && diff "$2" "$3" >"$tmp/diff"
	check $? "$1" "$(head -n 10 "$tmp/diff" "$tmp/err" 2>&1)"
}

# ---- the input: the recordings of tests/golden, and a new one of this machine
recordings=("$top"/tests/golden/recordings/{profile,threads,stackcount}.stacktally)
if [ "$(id -u)" = 0 ] && "$build/profile" -q -F 499 -o "$tmp/live.stacktally" 1 2>"$tmp/err" -- \
	bash -c 'for i in {1..200000}; do :; done; find /usr/lib -name "*.so" | sort | md5sum >/dev/null'; then
	recordings+=("$tmp/live.stacktally")
else
	echo "skip a measurement of this machine: $([ "$(id -u)" = 0 ] && tail -n 1 "$tmp/err" || echo not root)"
fi
names=()
for recording in "${recordings[@]}"; do
	name=$(basename "$recording" .stacktally)
	names+=("$name")
	command=profile
	[ "$name" != stackcount ] || command=stackcount
	"$build/$command" -q --from "$recording" -o "$tmp/$name.folded" -o "$tmp/$name.pb.gz" \
		-o "$tmp/$name.speedscope.json" -o "$tmp/$name.profile.json" -o "$tmp/$name.json" \
		-o "$tmp/$name.perf" \
		-o "$tmp/$name.txt" 2>"$tmp/err"
	check $? "all formats of $name at once" "$(cat "$tmp/err")"
	awk '{ n += $NF } END { print "total", n + 0 }' "$tmp/$name.folded" >"$tmp/$name.total"
	awk '/^ +[0-9]+$/ { n += $1 } END { print "total", n + 0 }' "$tmp/$name.txt" >"$tmp/found"
	! grep -qx 'total 0' "$tmp/$name.total"
	check $? "$name has samples" "$(cat "$tmp/err")"
	same "$name: text has as many samples as folded" "$tmp/$name.total" "$tmp/found"
done

# ---- go tool pprof, protoc
if command -v go >/dev/null && go tool pprof -h >/dev/null 2>&1 || [ -x "$(go env GOTOOLDIR 2>/dev/null)/pprof" ]; then
	for name in "${names[@]}"; do
		go tool pprof -raw "$tmp/$name.pb.gz" >"$tmp/raw" 2>"$tmp/err"
		awk '/^Locations$/ { exit } /^ +[0-9]+( +[0-9]+)?: / { sub(":", "", $1); n += $1 }
			END { print "total", n + 0 }' "$tmp/raw" >"$tmp/found"
		same "$name: go tool pprof -raw" "$tmp/$name.total" "$tmp/found"
		go tool pprof -top -sample_index=0 -nodefraction=0 "$tmp/$name.pb.gz" >"$tmp/top" 2>"$tmp/err"
		sed -n 's/^Showing .* of \([0-9]*\) total$/total \1/p' "$tmp/top" >"$tmp/found"
		same "$name: go tool pprof -top" "$tmp/$name.total" "$tmp/found"
		grep -q '^command line: ' "$tmp/top" || [ "$name" = threads ]
		check $? "$name: it shows the command line" "$(head "$tmp/top")"
		# Compared with itself, nothing is left.
		go tool pprof -top -sample_index=0 -diff_base="$tmp/$name.pb.gz" "$tmp/$name.pb.gz" \
			>"$tmp/top" 2>"$tmp/err"
		awk '/flat%/ { rows = 1; next } rows && $1 != 0 { exit 1 }' "$tmp/top" &&
			grep -q '^Showing' "$tmp/top"
		check $? "$name: go tool pprof -diff_base" "$(cat "$tmp/top" "$tmp/err")"
	done
	# What our options leave of stacks is what pprof's of the same names do.
	cat >"$tmp/filtered.folded" <<-'END'
		p;main;a;b;c 5
		p;main;a;b;b;b;d 3
		p;main;x;y;x;y;x;y;z 2
		p;main;fx;gx 4
		p;idle 7
		q;main;b;main;a 11
	END
	"$build/profile" -q --from "$tmp/filtered.folded" -o "$tmp/filtered.pb.gz" 2>"$tmp/err"
	while read -r -a options; do
		ours=("${options[@]/#-/--}") ours=("${ours[@]/show_/show-}")
		go tool pprof -traces -sample_index=0 "${options[@]}" "$tmp/filtered.pb.gz" 2>"$tmp/err" |
			awk '/^-+\+-/ { if (stack != "") print stack, n; stack = ""; next }
				/^ +[0-9]+   [^ ]/ && stack == "" { n = $1; stack = $2; next }
				stack != "" && NF == 1 { stack = $1 ";" stack }
				END { if (stack != "") print stack, n }' | sort >"$tmp/expected"
		"$build/profile" -q -f --from "$tmp/filtered.pb.gz" "${ours[@]}" 2>"$tmp/err" |
			sed 's/^[^;]*;//' | sort >"$tmp/found"
		diff "$tmp/expected" "$tmp/found" >"$tmp/diff"
		check $? "as go tool pprof ${options[*]}" "$(cat "$tmp/diff" "$tmp/err")"
		cat "$tmp/found" >>"$tmp/all.found"
	done <<'END'
-focus ^b$
-ignore ^b$
-hide ^b$
-show_from ^b$
-focus b -hide b
-hide . -ignore idle
-hide ^main$ -show_from ^(main|a)$
-focus ^a$ -show_from ^b$
-ignore z -show_from a|x
END
	[ -s "$tmp/all.found" ]
	check $? "... of which something is left"
	go tool pprof -tags "$tmp/threads.pb.gz" >"$tmp/tags" 2>"$tmp/err"
	tr -s ' ' <"$tmp/tags" >"$tmp/words"
	for tag in comm pid tid cgroup mode; do
		grep -q "^ $tag: Total" "$tmp/words"
		check $? "go tool pprof -tags shows $tag" "$(cat "$tmp/tags" "$tmp/err")"
	done
	go tool pprof -raw "$tmp/profile.pb.gz" >"$tmp/raw" 2>"$tmp/err"
	grep -q '^1: 0x562f48dba000/0x562f48dbb000/0x1000 /usr/local/bin/spin deadbeef ' "$tmp/raw"
	check $? "pprof has mappings with their build-ids" "$(grep -A 9 ^Mappings "$tmp/raw")"
	grep -A 1 'operator new src/inner.h:7' "$tmp/raw" | grep -q 'push_back.* src/vector.cc:12'
	check $? "pprof has inlined functions" "$(grep 'operator new' "$tmp/raw")"
else
	echo "skip go tool pprof: go is not installed"
fi
schema=/usr/share/gocode/src/github.com/google/pprof/proto
if command -v protoc >/dev/null && [ -e $schema/profile.proto ]; then
	for name in "${names[@]}"; do
		gzip -dc <"$tmp/$name.pb.gz" | protoc --decode=perftools.profiles.Profile -I$schema \
			profile.proto >"$tmp/decoded" 2>"$tmp/err"
		check $? "$name: protoc decodes it" "$(cat "$tmp/err")"
		# protoc would print a field that is not in the schema by its number.
		! grep -q '^ *[0-9]' "$tmp/decoded" && [ ! -s "$tmp/err" ]
		check $? "$name: pprof's schema knows every field" "$(grep -m 3 '^ *[0-9]' "$tmp/decoded"; cat "$tmp/err")"
	done
else
	echo "skip protoc: protoc or pprof's schema is not installed"
fi

# ---- flamegraph.pl
if readers_flamegraph "$build"; then
	for name in "${names[@]}"; do
		perl "$flamegraph" <"$tmp/$name.folded" >"$tmp/graph.svg" 2>"$tmp/err"
		sed -n 's/.*<title>all (\([0-9,]*\) samples, 100%).*/total \1/p' "$tmp/graph.svg" |
			tr -d , >"$tmp/found"
		same "$name: flamegraph.pl" "$tmp/$name.total" "$tmp/found"
	done
	"$build/profile" -q --from "${recordings[0]}" -f --diff "$tmp/threads.folded" \
		>"$tmp/difference.folded" 2>"$tmp/err"
	perl "$flamegraph" <"$tmp/difference.folded" >"$tmp/graph.svg" 2>"$tmp/err"
	grep -q '<title>all (121 samples, 100%' "$tmp/graph.svg" && grep -q '; [-+][0-9.]*%)</title>' "$tmp/graph.svg"
	check $? "flamegraph.pl draws a difference" "$(cat "$tmp/err"; grep -m 3 '<title>' "$tmp/graph.svg")"
else
	echo "skip flamegraph.pl: $why"
fi

# ---- readers from npm
readers_npm "$build" || {
	echo "skip pprof-format, speedscope, Firefox Profiler: $why"
	exit $failed
}
read_as() { node "$here/read.mjs" "$modules" "$@" 2>"$tmp/err"; }

# Firefox Profiler's command line talks to a server, to which it gives half a second to start. That
# is not enough on a busy machine, so the server is started here.
export PROFILER_CLI_SESSION_DIR=$tmp/sessions
mkdir "$PROFILER_CLI_SESSION_DIR"
cli=("$modules/.bin/profiler-cli")
firefox() { # FILE [RANGE]: of these seconds, as BEGIN,END
	local n server session
	session=$(basename "$1")
	rm -f "$tmp/sessions/$session.log" # of the same file before
	node "${cli[@]}" --daemon "$1" --session "$session" >"$tmp/err" 2>&1 &
	server=$!
	# A request before the file is loaded would end the session.
	until grep -qs 'Profile loaded' "$tmp/sessions/$session.log"; do
		kill -0 "$server" 2>"$tmp/null" || return 1
		sleep 0.05
	done
	[ $# -lt 2 ] || node "${cli[@]}" zoom push "$2" --session "$session" >"$tmp/zoomed" 2>&1
	node "${cli[@]}" thread list --session "$session" --json >"$tmp/list" 2>"$tmp/err"
	n=$(grep -c '"threadHandle": "t-' "$tmp/list")
	seq 0 $((n - 1)) | xargs -P 2 -I{} sh -c "node '${cli[*]}' thread functions --limit 0 \
		--session '$session' --thread t-{} --json >'$tmp/firefox.{}'" 2>>"$tmp/err"
	kill "$server"
	wait "$server" 2>"$tmp/null"
	[ "$n" -gt 0 ] && read_as firefox $(seq -f "$tmp/firefox.%g" 0 $((n - 1)))
}

for name in "${names[@]}"; do
	read_as json "$tmp/$name.json" >"$tmp/$name.leaves"
	head -n 1 "$tmp/$name.leaves" >"$tmp/found"
	same "$name: JSON" "$tmp/$name.total" "$tmp/found"
	read_as pprof "$tmp/$name.pb.gz" >"$tmp/found"
	same "$name: pprof-format" "$tmp/$name.leaves" "$tmp/found"
	read_as schema "$tmp/$name.speedscope.json" >"$tmp/found"
	check $? "$name: speedscope's schema" "$(cat "$tmp/found" "$tmp/err")"
	ns=$(sed -n 's/.*"sample_ns":\([0-9]*\).*/\1/p' "$tmp/$name.json")
	[ "$ns" != 0 ] || ns=1
	read_as speedscope "$tmp/$name.speedscope.json" "$ns" >"$tmp/found"
	same "$name: speedscope reads its own format" "$tmp/$name.leaves" "$tmp/found"
	read_as speedscope "$tmp/$name.folded" | head -n 1 >"$tmp/found"
	same "$name: speedscope reads folded" "$tmp/$name.total" "$tmp/found"
	period=$ns
	[ "$name" != threads ] || period=1000000
	read_as speedscope "$tmp/$name.pb.gz" "$period" | head -n 1 >"$tmp/found"
	same "$name: speedscope reads pprof" "$tmp/$name.total" "$tmp/found"
	# speedscope weighs a record by the time until the thread's next one, not by samples.
	read_as speedscope "$tmp/$name.perf" >"$tmp/found" && [ "$(wc -l <"$tmp/found")" -gt 1 ]
	check $? "$name: speedscope reads perf script" "$(cat "$tmp/found" "$tmp/err")"
	grep -c '^[^	#].*:$' "$tmp/$name.perf" | sed 's/^/total /' >"$tmp/found"
	same "$name: perf script has a record a sample" "$tmp/$name.total" "$tmp/found"
	firefox "$tmp/$name.perf" >"$tmp/found"
	same "$name: Firefox Profiler reads perf script" "$tmp/$name.leaves" "$tmp/found"
	firefox "$tmp/$name.profile.json" >"$tmp/found"
	same "$name: Firefox Profiler reads its own format" "$tmp/$name.leaves" "$tmp/found"
	firefox "$tmp/$name.folded" >"$tmp/all"
	head -n 1 "$tmp/all" >"$tmp/found"
	same "$name: Firefox Profiler reads folded" "$tmp/$name.total" "$tmp/found"
done

# ---- when: phases of pread64, then of main, which change in the middle
times=$top/tests/golden/recordings/times.stacktally
"$build/profile" -q --from "$times" -o "$tmp/times.speedscope.json" -o "$tmp/times.profile.json" \
	-o "$tmp/times.perf" 2>"$tmp/err"
check $? "formats with times" "$(cat "$tmp/err")"
for format in speedscope.json perf; do
	read_as order "$tmp/times.$format" >"$tmp/found"
	[ "$(paste -sd' ' "$tmp/found")" = "pread64 main" ]
	check $? "speedscope's time order has the phases, of $format" "$(cat "$tmp/found" "$tmp/err")"
done
for format in profile.json perf; do
	firefox "$tmp/times.$format" 0,1.4 | sed -n '2s/.*\t//p' >"$tmp/found"
	firefox "$tmp/times.$format" 1.6,3 | sed -n '2s/.*\t//p' >>"$tmp/found"
	[ "$(paste -sd' ' "$tmp/found")" = "pread64 main" ]
	check $? "Firefox Profiler has the phases, of $format" "$(cat "$tmp/found" "$tmp/zoomed" "$tmp/err")"
done
exit $failed
