#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Python in a program that is no interpreter: uWSGI with its plugin and libpython, in two threads:
# uwsgi_test.sh BUILD
# all: wsgi_test.sh measures the same kind of server
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
can 'user probes' || have_uprobes || {
	skip "uWSGI's functions" "$no_uprobes"
	finish
}
root=$("$here/../../root_of" bookworm uwsgi-core uwsgi-plugin-python3 2>"$err") || {
	skip "uWSGI's functions" "$(tail -n 1 "$err")"
	finish
}
mkdir -p "$root/tmp"
cat >"$root/tmp/page.py" <<'S'
import os
def price(x): return os.getpid()
def page(): return sorted(range(3), key=lambda x: price(x))
def application(environ, start_response):
    page()
    start_response("200 OK", [])
    return [b"ok"]
S
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
chroot "$root" /usr/bin/uwsgi-core --plugin python311 --http-socket "127.0.0.1:$port" --wsgi-file /tmp/page.py \
	--enable-threads --threads 2 >"$tmp/server.log" 2>&1 &
server=$!
started+=("$server")
# answers TIMES: whether the server answers so many requests
answers() {
	python3 -c 'import sys, urllib.request
for _ in range(int(sys.argv[2])):
    assert urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1], timeout=5).read() == b"ok"' "$port" "$1" 2>>"$fate"
}
few() { answers 1; }
await 30 few || {
	fail "uWSGI answers" "$(tail -n 3 "$tmp/server.log")"
	finish
}
if attach -p "$server" c:getpid; then
	answers 100
	check $? "it answers while it is measured" "$(tail -n 1 "$fate")"
	detach
	whole=$(counted ';python_call;.*;application \(page\.py\);page \(page\.py\);.*;page\.<locals>\.<lambda> \(page\.py\);price \(page\.py\);[^()]*getpid$' "$folded")
	is "functions of embedded Python are in their places" "$whole" 300
	is "and none is unknown" "$(counted '\[python: ' "$folded")" 0
else
	fail "stackcount attaches to uWSGI" "$(tail -n 2 "$err")"
fi
kill -9 "$server"
finish
