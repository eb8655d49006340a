#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The replies of --live, also to hostile requests: live_protocol_test.sh BUILD
# timeout: 300
# shellcheck source=tests/root/harness.bash
# kind: strangers
. "$(dirname "$0")/../harness.bash" "$1"
client=$(dirname "$0")/live_client.py

# serve COMMAND [ARGUMENT...]: starts the command and waits for its address; sets $server and $url
serve() {
	: >"$err"
	"$@" >"$out" 2>"$err" &
	server=$!
	started+=("$server")
	await 30 grep -q '^Live at ' "$err" || {
		fail "serves" "$(cat "$err")"
		exit 1
	}
	url=$(sed -n 's/^Live at //p' "$err")
}
stop() {
	kill -INT "$server"
	wait "$server"
	status=$?
}

begin "$programs/nested" || exit 1
serve "$profile" -F 199 --live -o "$tmp/all.folded"
for what in page saving refusals hostile slow; do
	python3 "$client" "$what" "$url" || fail "$what" "the client gave up"
done
python3 "$client" privileges "$url" "$server" || fail privileges "the client gave up"

# ---- go tool pprof reads from it
if command -v go >/dev/null; then
	HOME=$tmp PPROF_TMPDIR=$tmp go tool pprof -raw "${url}debug/pprof/profile?seconds=3" >"$tmp/raw" 2>"$tmp/go.err"
	check $? "go tool pprof fetches a profile" "$(cat "$tmp/go.err")"
	HOME=$tmp go tool pprof -top "$tmp"/*.pb.gz >"$tmp/top" 2>>"$tmp/go.err"
	grep -q ' burn$' "$tmp/top"
	check $? "it has the names" "$(head -n 8 "$tmp/top")"
	calculates "$(sed -n 's/^Duration: \([0-9.]*\)s.*/\1/p' "$tmp/top" | head -n 1) > 2 &&
		$(sed -n 's/^Duration: \([0-9.]*\)s.*/\1/p' "$tmp/top" | head -n 1) < 8"
	check $? "and the seconds that were requested" "$(head -n 8 "$tmp/top")"
else
	skip "go tool pprof" "no go"
fi

# ---- the end; the stream has all events
python3 "$client" follow "$url" >"$tmp/followed" &
follower=$!
await 20 grep -qs '^following' "$tmp/followed"
ticks() { [ "$(grep -c '^tick' "$tmp/followed")" -ge "$1" ]; }
await 30 ticks 4
stop
wait "$follower" || fail "follows" "the client gave up"
grep -E '^(ok|FAIL)' "$tmp/followed"
closing
read -r _ told_samples told_lost < <(grep '^followed' "$tmp/followed")
[ "$status" -eq 0 ] && [ "$samples" = "$told_samples" ] && [ "$lost" = "$told_lost" ] &&
	[ "$(total "$tmp/all.folded")" = "$samples" ]
check $? "the stream had every sample of the report" \
	"status $status; it had ${told_samples-} and ${told_lost-} lost; $(tail -n 1 "$err")"

# ---- stackcount, in intervals: they clear its tables, but not the page
serve "$stackcount" -i 1 -D $((10 * slow)) --live t:syscalls:sys_enter_clock_nanosleep
python3 "$client" follow "$url" >"$tmp/followed" &
follower=$!
await 20 grep -qs '^following' "$tmp/followed"
if command -v go >/dev/null; then
	(while :; do sleep 0.05; done) &
	sleeper=$!
	started+=("$sleeper")
	HOME=$tmp go tool pprof -raw "${url}debug/pprof/profile?seconds=2" >"$tmp/raw" 2>"$tmp/go.err"
	check $? "go tool pprof fetches events from stackcount" "$(cat "$tmp/go.err")"
	grep -q '^events/count' "$tmp/raw" && grep -q 'sleep' "$tmp/raw"
	check $? "they are events" "$(head -n 12 "$tmp/raw")"
	kill "$sleeper"
fi
wait "$server"
wait "$follower" || fail "follows stackcount" "the client gave up"
grep -E '^(ok|FAIL)' "$tmp/followed" | sed 's/$/ (stackcount)/'

# ---- sums: with what they are of and their unit, in the page's data and in what it saves
serve "$stackcount" --sum bytes_req --live t:kmem:kmalloc
python3 - "$url" <<'END'
import json, sys, time, urllib.request
url = sys.argv[1]
def check(holds, name, why):
    print(f"ok {name}" if holds else f"FAIL {name}: {why}")
with urllib.request.urlopen(url + "events") as events:
    while True:
        line = events.readline().decode()
        if not line or line.startswith("data: "):
            break
state = json.loads(line[6:])
measured, head = state["measurement"], state["head"]
check((measured["measure"], measured["unit"], head["unit"]) == ("bytes_req", "bytes", "bytes"),
      "the page knows the unit of sums", (measured, head))
time.sleep(3)
saved = json.load(urllib.request.urlopen(url + "save?format=json"))
stacks = saved["stacks"]
check(saved["measurement"]["unit"] == "bytes" and sum(s["count"] for s in stacks) ==
      saved["measurement"]["samples"] > sum(s["events"] for s in stacks) > 0,
      "what is saved has sums beside events", saved["measurement"])
text = urllib.request.urlopen(url + "save?format=text").read().decode()
check(" bytes of " in text, "... and the unit in text", text[-300:])
END
stop
check "$status" "it ends well" "$(tail -n 1 "$err")"

# ---- addresses
"$profile" --live=example.com:1 -f 1 >"$out" 2>"$err"
says "a host name is refused" "cannot serve at 'example.com:1'"
"$profile" --live=0.0.0.0 -f 1 >"$out" 2>"$err"
says "an address that others can reach gets a warning" '^WARNING: nothing is encrypted: '
serve "$profile" -f "--live=[::1]" 3
case $url in "http://[::1]:"*) ok "serves at an IPv6 address" ;; *) fail "serves at an IPv6 address" "$url" ;; esac
wait "$server"
exit $failed
