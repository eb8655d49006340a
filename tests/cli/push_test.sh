#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --push against servers and networks that fail, without a measurement: push_test.sh BUILD
# timeout: 200
# kind: outputs
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
client=$1/tests/push/client
tmp=$(mktemp -d)
started=()
end() { [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>>"$tmp/null"; }

# check STATUS NAME WHY
check() {
	if [ "$1" -eq 0 ]; then
		echo "ok $2"
	else
		echo "FAIL $2: $3"
	fi
}

# engine NAME PLAN [OPTION...]: starts a server; its files are in $dir, its port is $port
engine() {
	dir=$tmp/$1
	mkdir "$dir"
	printf '%b\n' "$2" >"$dir/plan"
	: >"$dir/log"
	mkfifo "$dir/port"
	python3 "$top/tests/push/engine.py" "$dir" "${@:3}" >"$dir/port" 2>"$dir/errors" &
	started+=($!)
	read -r port <"$dir/port"
}
# send NAME INPUT OPTION...: runs the client; its messages are in $tmp/NAME.err
send() {
	printf '%b\n' "$2" | "$client" "${@:3}" 2>"$tmp/$1.err"
	said=$(cat "$tmp/$1.err")
}
# bodies: how many different ones the engine has kept, and how many in all
bodies() { sha256sum "$dir"/*.body 2>>"$tmp/null" | awk '!seen[$1]++ { n++ } END { print n + 0, NR }'; }
three='1001 5000\n1002 300000\n1003 5000'

# ---- it works
it_works() {
	engine take take
	send take "$three" "http://127.0.0.1:$port"
	[ "$(bodies)" = "3 3" ]
	check $? "three intervals arrive, each once" "$(bodies); $said"
	grep -q '^POST /v1/pprof HTTP/1.1' "$dir/1.head" && grep -q '^Content-Type: application/octet-stream' "$dir/1.head"
	check $? "... at the pprof receiver" "$(cat "$dir/1.head")"
	grep -q '3 intervals sent to .*, lost: none' "$tmp/take.err"
	check $? "... and an account is given" "$said"
	engine chunked chunked
	send chunked "$three" "pyroscope+http://localhost:$port"
	[ "$(bodies)" = "3 3" ] && grep -q 'POST /push.v1.PusherService/Push ' "$dir/1.head"
	check $? "interim and chunked responses are read; localhost is looked up" "$(bodies); $said"
	engine endless endless
	send endless 1001\ 100 "otlp+http://127.0.0.1:$port/other"
	[ "$(bodies)" = "1 1" ] && grep -q 'POST /other ' "$dir/1.head" && grep -q 'Content-Encoding: gzip' "$dir/1.head"
	check $? "a response that does not end; a path of its own" "$(bodies); $said"
}

# ---- answers
answers() {
	engine errors 'answer 500\nanswer 503\ntake'
	send errors "$three\nsleep 4000" "http://127.0.0.1:$port"
	[ "$(bodies)" = "3 3" ]
	check $? "after 500 and 503, all arrive, each once" "$(bodies); $said"
	grep -q 'does not take intervals: it answered 500: because of 500' "$tmp/errors.err" &&
		grep -q 'takes intervals again' "$tmp/errors.err"
	check $? "... the failure and its end are told" "$said"
	engine later 'answer 429 Retry-After: 2\ntake'
	began=$(date +%s%N)
	send later "1001 100\nsleep 4000" "http://127.0.0.1:$port"
	[ "$(bodies)" = "1 1" ] && [ "$(stat -c %Y "$dir/2.body")" -ge $((began / 1000000000 + 2)) ]
	check $? "429 with Retry-After: not before its time" "$(bodies); $said"
	engine refused 'answer 400\ntake'
	send refused "$three" "http://127.0.0.1:$port"
	[ "$(bodies)" = "2 2" ] && grep -q '1 refused by the engine: it answered 400: because of 400' "$tmp/refused.err"
	check $? "an interval that is refused is dropped and told, and the others go on" "$(bodies); $said"
}

# ---- connections
connections() {
	engine reset 'reset\nreset\ntake'
	send reset "1001 8000000\n1002 5000\n1003 5000\nsleep 8000" "http://127.0.0.1:$port"
	[ "$(bodies)" = "3 3" ]
	check $? "after broken connections, all arrive, each once" "$(bodies); $said"
	engine silent 'silent\ntake'
	send silent "$three\nsleep 1500" "http://127.0.0.1:$port"
	[ "$(bodies)" = "2 2" ] && grep -q '1 sent without an answer' "$tmp/silent.err" && [ "$(wc -l <"$dir/log")" -eq 3 ]
	check $? "without an answer, an interval is not sent again, and this is told" "$(bodies); $said"
	engine garbage 'garbage\ntake'
	send garbage "$three\nsleep 1500" "http://127.0.0.1:$port"
	[ "$(bodies)" = "2 2" ] && grep -q 'that is not HTTP' "$tmp/garbage.err"
	check $? "what is not HTTP is no answer" "$(bodies); $said"
	for how in slow-answer slow-read hang; do
		engine $how $how
		began=$(date +%s%N)
		send $how "1001 8000000\n1002 100" "http://127.0.0.1:$port"
		took=$((($(date +%s%N) - began) / 1000000))
		[ $took -lt 6000 ] && grep -q WARNING "$tmp/$how.err"
		check $? "$how: the end does not wait for it" "$took ms; $said"
	done
}

# ---- nobody there
nobody_there() {
	send down "$three" http://127.0.0.1:1
	grep -q 'cannot connect: Connection refused' "$tmp/down.err" && grep -q '3 intervals were not sent and are lost' "$tmp/down.err" &&
		grep -q '0 wait, lost: 3 not sent' "$tmp/down.err"
	check $? "without a server, what is lost is told" "$said"
	send dns "$three" http://no-such-host.invalid
	grep -q 'its name cannot be looked up' "$tmp/dns.err"
	check $? "a name that does not exist" "$said"
}

# ---- the spool
the_spool() {
	send spool "$three" http://127.0.0.1:1 "spool=$tmp/spool"
	[ "$(ls "$tmp/spool")" = "$(printf '%020d.pprof\n' 1001 1002 1003)" ]
	check $? "what cannot be sent is in the spool" "$(ls "$tmp/spool"); $said"
	[ "$(stat -c %a "$tmp/spool" "$tmp"/spool/* | sort -u | tr '\n' ' ')" = "600 700 " ]
	check $? "... for nobody else to read" "$(ls -la "$tmp/spool")"
	mv "$tmp/spool/00000000000000001001.pprof" "$tmp/spool/00000000000000001001.pprof.sent"
	: >"$tmp/spool/notes"
	engine resent take
	send again "1004 100" "http://127.0.0.1:$port" "spool=$tmp/spool"
	[ "$(bodies)" = "3 3" ] && [ "$(ls "$tmp/spool")" = notes ]
	check $? "a later run sends it, and not what the earlier one was sending" "$(bodies) $(ls "$tmp/spool"); $said"
	grep -q '1 sent without an answer' "$tmp/again.err" && grep -q '1 files in the spool are not intervals' "$tmp/again.err"
	check $? "... and tells both" "$said"
	intervals=$(for i in $(seq 1 50); do echo "$((2000 + i)) 10000\n"; done | tr -d '\n')
	send bound "$intervals" http://127.0.0.1:1 "spool=$tmp/bound" bytes=100000
	[ "$(cat "$tmp"/bound/* | wc -c)" -le 100000 ] && [ "$(ls "$tmp/bound" | tail -n 1)" = 00000000000000002050.pprof ] &&
		grep -q '40 dropped for lack of room' "$tmp/bound.err"
	check $? "a full spool drops the oldest, and counts them" "$(ls "$tmp/bound" | wc -l); $said"
	engine killed hang
	mkfifo "$tmp/input"
	"$client" "http://127.0.0.1:$port" "spool=$tmp/killed" <"$tmp/input" 2>"$tmp/killed.err" &
	run=$!
	exec 5>"$tmp/input"
	send seed "3001 100" http://127.0.0.1:1 "spool=$tmp/killed.seed"
	echo "3002 100" >&5
	for _ in $(seq 100); do
		[ -s "$dir/log" ] && break
		sleep 0.1
	done
	send second "" "http://127.0.0.1:$port" "spool=$tmp/killed"
	grep -q 'in use by another run' "$tmp/second.err"
	check $? "two runs do not share a spool" "$said"
	kill -KILL $run
	wait $run 2>>"$tmp/null"
	exec 5>&-
	send after "" "http://127.0.0.1:$port" "spool=$tmp/killed"
	[ $? -eq 0 ] && ! ls "$tmp"/killed/*.sent >>"$tmp/null" 2>&1
	check $? "the spool of a run that was killed can be used" "$said"
	if [ "$(id -u)" = 0 ] && mkdir "$tmp/small" && mount -t tmpfs -o size=64k,mode=700 none "$tmp/small" 2>>"$tmp/null"; then
		send full "$intervals" http://127.0.0.1:1 "spool=$tmp/small"
		grep -q 'cannot write to the spool .*: No space left on device' "$tmp/full.err"
		check $? "a full disk is told" "$said"
		engine disk 'answer 503\nanswer 503\ntake'
		rm -f "$tmp"/small/*
		head -c 65536 /dev/zero >"$tmp/small/filler" 2>>"$tmp/null"
		send disk "$three\nsleep 4500" "http://127.0.0.1:$port" "spool=$tmp/small"
		[ "$(bodies)" = "3 3" ]
		check $? "... and intervals wait in memory meanwhile" "$(bodies); $said"
	else
		echo "skip a full disk: a small file system cannot be mounted"
	fi
}

# ---- the process that sends is killed
# client_begins NAME OPTION...: runs the client; it reads from descriptor 6, and its process is $run
client_begins() {
	mkfifo "$tmp/$1.input"
	"$client" "${@:2}" <"$tmp/$1.input" 2>"$tmp/$1.err" &
	run=$!
	exec 6>"$tmp/$1.input"
}
# kill_senders: the client's child, and that one's
kill_senders() {
	local keeper
	keeper=$(pgrep -P $run)
	# shellcheck disable=SC2046
	kill -KILL $keeper $(pgrep -P "$keeper")
}
client_ends() {
	exec 6>&-
	wait $run
	said=$(cat "$tmp/$1.err")
}
# await N: until the engine has had N requests
await() {
	for _ in $(seq 100); do
		[ "$(cat "$dir"/*.head 2>>"$tmp/null" | grep -c POST)" -ge "$1" ] || [ "$(wc -l <"$dir/log")" -ge "$1" ] && break
		sleep 0.1
	done
}
senders_die() {
	engine idle take
	client_begins idle "http://127.0.0.1:$port"
	echo "1001 5000" >&6
	await 1
	sleep 0.2
	kill_senders
	printf '1002 5000\n1003 5000\n' >&6
	await 3
	client_ends idle
	[ "$(bodies)" = "3 3" ] && grep -q 'the process that sends died' "$tmp/idle.err" && grep -q 'lost: none' "$tmp/idle.err"
	check $? "the process that sends is started again after it died" "$(bodies); $said"
	engine dies-late 'hang\ntake'
	client_begins dies-late "http://127.0.0.1:$port"
	printf '1001 5000\n1002 5000\n' >&6
	await 1
	kill_senders
	await 2
	client_ends dies-late
	[ "$(bodies)" = "1 1" ] && grep -q '1 sent without an answer.*: the process that sends died' "$tmp/dies-late.err"
	check $? "... an interval that was sent by then counts as unanswered" "$(bodies); $said"
	engine dies-early 'slow-read\ntake'
	client_begins dies-early "http://127.0.0.1:$port"
	printf '1001 8000000\n' >&6
	sleep 1
	kill_senders
	printf '1002 5000\n' >&6
	await 2
	client_ends dies-early
	[ "$(bodies)" = "2 2" ] && grep -q 'lost: none' "$tmp/dies-early.err"
	check $? "... one that was not sent by then is sent again" "$(bodies); $said"
	engine dies-often take
	client_begins dies-often "http://127.0.0.1:$port"
	for i in 1 2 3; do
		echo "100$i 500" >&6
		await $i
		sleep 0.2
		kill_senders
	done
	client_ends dies-often
	[ "$(bodies)" = "3 3" ] && grep -q 'lost: none' "$tmp/dies-often.err"
	check $? "... as often as it dies" "$(bodies); $said"
}

# ---- TLS and credentials
tls_and_credentials() {
	certificate() {
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$2" \
			-addext "subjectAltName=DNS:$2" -keyout "$tmp/$1.key" -out "$tmp/$1.crt" 2>>"$tmp/null"
	}
	certificate good localhost
	certificate other elsewhere.example
	engine tls take --tls "$tmp/good.crt" "$tmp/good.key"
	printf 'secret-token\n' >"$tmp/token"
	printf 'user:pass word\n' >"$tmp/basic"
	send tls "$three" "https://localhost:$port" "ca=$tmp/good.crt" "auth=$tmp/token"
	[ "$(bodies)" = "3 3" ] && grep -q '^Authorization: Bearer secret-token' "$dir/1.head"
	check $? "over TLS, with a token" "$(bodies); $said"
	[ "$(grep -c secret "$tmp/tls.err")" = 0 ]
	check $? "... which no message has" "$said"
	engine tls-dies take --tls "$tmp/good.crt" "$tmp/good.key"
	client_begins tls-dies "https://localhost:$port" "ca=$tmp/good.crt" "auth=$tmp/token"
	sleep 0.5
	kill_senders
	echo "1001 5000" >&6
	await 1
	client_ends tls-dies
	[ "$(bodies)" = "1 1" ] && grep -q '^Authorization: Bearer secret-token' "$dir/1.head"
	check $? "... and after the process that sends was started again" "$(bodies); $said"
	engine tls-basic take --tls "$tmp/good.crt" "$tmp/good.key"
	send basic "1005 100" "https://localhost:$port" "ca=$tmp/good.crt" "auth=$tmp/basic"
	grep -q "^Authorization: Basic $(printf 'user:pass word' | base64)" "$dir"/1.head
	check $? "with a user and a password" "$(cat "$dir"/1.head)"
	send untrusted "$three" "https://localhost:$port"
	grep -q 'its certificate is not trusted' "$tmp/untrusted.err" && [ "$(bodies)" = "1 1" ]
	check $? "a certificate of an unknown authority" "$said"
	send name "$three" "https://127.0.0.1:$port" "ca=$tmp/good.crt"
	grep -q 'its certificate is not trusted' "$tmp/name.err" && [ "$(bodies)" = "1 1" ]
	check $? "a certificate of another name" "$said"
	engine plain reset
	send plain "$three" "https://localhost:$port" "ca=$tmp/good.crt"
	grep -q 'TLS failed' "$tmp/plain.err"
	check $? "a server without TLS" "$said"
	send noca "" "https://localhost:$port" "ca=$tmp/token"
	grep -q 'holds none' "$tmp/noca.err"
	check $? "a file without certificates" "$said"
	send noauth "" "https://localhost:$port" "ca=$tmp/good.crt" "auth=$tmp/missing"
	grep -q "cannot read credentials from '$tmp/missing'" "$tmp/noauth.err"
	check $? "a missing file of credentials" "$said"
}

# Most of the time goes by waiting: all parts at once.
for part in it_works answers connections nobody_there the_spool senders_die tls_and_credentials; do
	(
		trap end EXIT
		"$part"
	) >"$tmp/$part.out" 2>"$tmp/$part.noise" &
done
wait
mountpoint -q "$tmp/small" && umount "$tmp/small"
cat "$tmp"/*.out
! grep -h '^FAIL' "$tmp"/*.out >>"$tmp/null" && ! grep . "$tmp"/*.noise
status=$?
rm -rf "$tmp"
exit $status
