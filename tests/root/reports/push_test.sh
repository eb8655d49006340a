#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# profile --push, to a server that keeps what it is sent: the samples are those of the same intervals
# in files, with names and labels: push_test.sh BUILD
# timeout: 300
# kind: outputs
. "$(dirname "$0")/../harness.bash" "$1"
here=$(cd "$(dirname "$0")/../../push" && pwd)
[ -e /usr/share/gocode/src/github.com/google/pprof/proto/profile.proto ] && command -v protoc >>"$fate" || {
	skip push "needs protoc and pprof's profile.proto"
	finish
}

# engine NAME: starts a server that keeps all in $dir; its port is $port
engine() {
	dir=$tmp/$1
	mkdir "$dir"
	echo take >"$dir/plan"
	mkfifo "$dir/port"
	python3 "$here/engine.py" "$dir" >"$dir/port" 2>"$dir/errors" &
	started+=($!)
	read -r port <"$dir/port"
}
# sent EXPRESSION: what Python makes of the decoded intervals `d`
sent() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$tmp/sent.json" "$1" 2>>"$tmp/sent.err"; }

# A unit of our own, in a cgroup2 hierarchy that is mounted, or can be.
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts) service=unknown_service
if [ -z "$mount" ] && mkdir "$tmp/cgroup2" && mount -t cgroup2 none "$tmp/cgroup2" 2>>"$fate"; then
	mount=$tmp/cgroup2
fi
slice=$mount/stacktally-test.slice
cgroup=$slice/pushed-$$.service
id=$(printf '%064x' $$) container=$slice/docker-$(printf '%064x' $$).scope
leave() {
	[ ! -d "$container" ] || await 5 rmdir "$container" 2>>"$fate"
	[ ! -d "$cgroup" ] || await 5 rmdir "$cgroup" "$slice" 2>>"$fate"
	[ "$mount" != "$tmp/cgroup2" ] || umount "$mount"
}
at_exit=leave
# Two processes that have loaded one file at different addresses.
"$programs/nested" >>"$fate" &
second=$!
started+=($second)
begin "$programs/nested"
if [ -n "$mount" ] && mkdir -p "$cgroup" 2>>"$fate" && echo "$pid" >"$cgroup/cgroup.procs"; then
	service=pushed-$$
else
	skip "names of services" "no cgroup can be made here"
fi
build_id=$(readelf -n "$programs/nested" | sed -n 's/.*Build ID: //p')
for protocol in pprof pyroscope otlp; do
	engine $protocol
	rm -f "$tmp"/*.folded
	"$profile" -p "$pid" -i 1 -F 97 --push "$protocol+http://127.0.0.1:$port" --label env=test \
		-o "$tmp/%n.folded" 3 2>"$err"
	"$here/decode.py" $protocol "$dir"/*.body >"$tmp/sent.json" 2>"$tmp/decode.err"
	check $? "$protocol: what is sent can be decoded" "$(cat "$tmp/decode.err" "$err")"
	wanted=$(cat "$tmp"/*.folded | awk '{ n += $NF } END { print n + 0 }')
	[ "$(sent 'd["samples"]')" = "$wanted" ] && [ "$wanted" -gt 0 ]
	check $? "$protocol: the samples are those of the files" "$(sent 'd["samples"]') for $wanted; $(cat "$err")"
	[ "$(sent 'd["functions"].get("main", 0) > 0.9 * d["samples"]')" = True ]
	check $? "$protocol: functions have names" "$(sent 'd["functions"]')"
	key=service.name env=env host=host.name
	[ $protocol = pyroscope ] && key=service_name host=host_name
	[ "$(sent "{(l['$key'], l['$env'], l['$host']) for l, n in d['labels']}")" = "{('$service', 'test', '$(hostname)')}" ]
	check $? "$protocol: samples have the labels of their service" "$(sent 'd["labels"]')"
	[ "$(sent 'any(len(b) == 40 for b in d["build_ids"])')" = True ]
	check $? "$protocol: mappings have build-ids" "$(sent 'd["build_ids"]')"
	rm -f "$dir"/*.body
	"$profile" -p "$pid,$second" -i 1 -F 97 --push "$protocol+http://127.0.0.1:$port" --no-names --label service.name=mine 2 2>"$err"
	"$here/decode.py" $protocol "$dir"/*.body >"$tmp/sent.json" 2>"$tmp/decode.err"
	[ "$(sent 'd["samples"] == d["unnamed"] > 0 and "main" not in d["functions"]')" = True ] &&
		[ "$(sent "{l['$key'] for l, n in d['labels']}")" = "{'mine'}" ]
	check $? "$protocol: without names, and with a service by name" "$(cat "$tmp/decode.err" "$tmp/sent.json" "$err")"
	read -r main size < <(readelf -sW "$programs/nested" | awk '$8 == "main" { print "0x" $2, $3 }')
	places="[a for b, a, inside in d['places'] if b == '$build_id']"
	[ "$(sent "all(inside for b, a, inside in d['places'] if b)")" = True ] &&
		[ "$(sent "len([a for a in $places if $main < a < $main + $size])")" = 1 ] &&
		[ "$(sent "max($places) < $(stat -c %s "$programs/nested")")" = True ]
	check $? "$protocol: ... addresses are the file's, the same for both processes" "$(sent 'd["places"]')"
	# Sums, in their unit, and of how many events, as a program knows them.
	rm -f "$dir"/*.body
	"$stackcount" --sum arg1 -i 1 -U --push "$protocol+http://127.0.0.1:$port" "$programs/sc_values:sc_give" \
		-- "$programs/sc_values" $((20000 / slow)) >"$tmp/said" 2>"$err"
	"$here/decode.py" $protocol "$dir"/*.body >"$tmp/sent.json" 2>"$tmp/decode.err"
	read -r events sum < <(sed -n 's/^given //p' "$tmp/said")
	wanted="{'arg1 count': $sum, 'events count': $events}"
	[ $protocol = otlp ] && wanted="{'arg1 count': $sum}" # a profile has one type of value
	[ "$(sent "d['totals'] == $wanted")" = True ]
	check $? "$protocol: sums are those of the program" "$(sent 'd["totals"]') for $wanted; $(cat "$tmp/decode.err" "$err")"
	rm -f "$dir"/*.body
	"$profile" -p "$pid" -i 1 -F 97 --push "$protocol+http://127.0.0.1:$port" --no-labels 2 2>"$err"
	"$here/decode.py" $protocol "$dir"/*.body >"$tmp/sent.json" 2>"$tmp/decode.err"
	wanted="{'$host', '$key'}"
	[ $protocol = pprof ] && wanted="set()"
	[ "$(sent "set().union(*[l for l, n in d['labels']]) - {'__name__'} == $wanted and d['samples'] > 0")" = True ]
	check $? "$protocol: samples without labels of their own" "$(cat "$tmp/decode.err" "$tmp/sent.json" "$err")"
done

# ---- containers, and threads by name
if [ $service != unknown_service ] && mkdir "$container" && echo "$pid" >"$container/cgroup.procs"; then
	for protocol in pprof pyroscope otlp; do
		engine $protocol-container
		"$profile" -p "$pid" -i 1 -F 97 --push "$protocol+http://127.0.0.1:$port" --per-thread 2 2>"$err"
		"$here/decode.py" $protocol "$dir"/*.body >"$tmp/sent.json" 2>"$tmp/decode.err"
		keys="service.name container.id cgroup comm tid"
		[ $protocol = pyroscope ] && keys="service_name container_id cgroup comm tid"
		[ $protocol = otlp ] && keys="service.name container.id cgroup thread.name thread.id"
		path=$(cut -d: -f3 "/proc/$pid/cgroup" | grep "docker-$id")
		[ "$(sent "{tuple(l.get(k) for k in '$keys'.split()) for l, n in d['labels']}")" = \
			"{('${id:0:12}', '$id', '$path', 'nested', $pid)}" ]
		check $? "$protocol: a container by its id, the cgroup, the thread by name and id" "$(sent 'd["labels"]') $path"
	done
	echo "$pid" >"$cgroup/cgroup.procs"
else
	skip "labels of containers" "no cgroup can be made here"
fi

# ---- the end
engine end
"$profile" --push "http://127.0.0.1:$port" >"$out" 2>"$err" &
run=$!
started+=($run)
sleep 2
began=$(date +%s%N)
kill -TERM $run
wait $run
took=$((($(date +%s%N) - began) / 1000000))
[ $took -lt 5000 ] && [ "$(ls "$dir"/*.body | wc -l)" = 1 ]
check $? "SIGTERM sends the interval that has begun" "$took ms; $(cat "$err")"
[ ! -s "$out" ]
check $? "... and nothing goes to stdout" "$(head -n 3 "$out")"

# ---- the process that sends
echo hang >"$dir/plan"
"$profile" -i 1 --push "http://127.0.0.1:$port" >"$out" 2>"$err" &
run=$!
started+=($run)
sending() { ps -o pid=,uid= --ppid "$run" | awk '$2 == 65534 { print $1 }' | grep .; }
has_sender() { [ -n "$(sending)" ]; }
await 10 has_sender
sender=$(sending | head -n 1)
begun() { [ -n "$(cat "/proc/$sender/task/$sender/children" 2>>"$fate")" ]; }
await 10 begun
child=$(tr -d ' ' <"/proc/$sender/task/$sender/children")
grep -q '^CapEff:.*0000000000000000' "/proc/$child/status" && grep -q '^Seccomp:.*2' "/proc/$child/status" &&
	grep -q '^Uid:.65534' "/proc/$child/status"
check $? "the process that speaks to the engine has no privileges" "$(grep -E 'Uid|Cap|Seccomp' "/proc/$child/status")"
kill -TERM $run
wait $run
[ ! -e "/proc/$sender" ]
check $? "... and ends with the command" "$(ps -ef | grep "$sender")"
finish
