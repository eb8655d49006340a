#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 240
# A recording of a stripped program gets its names afterwards: names_later_test.sh BUILD
# kind: symbols
. "$(dirname "$0")/../harness.bash" "$1"
unset BCC_SYMFS BCC_DEBUGINFO_ROOT DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT
export DEBUGINFOD_CACHE_PATH=$tmp/cache DEBUGINFOD_RETRY_LIMIT=1
known=';main;outer;middle;inner;burn(;|$)'
bare=';[[]stripped[+]0x[0-9a-f]+[]];[[]stripped[+]0x[0-9a-f]+[]]'
mkdir "$tmp/parts" "$tmp/empty"
cp "$programs/nested" "$tmp/parts/whole"
objcopy --only-keep-debug "$tmp/parts/whole" "$tmp/parts/symbols.debug"
strip -o "$tmp/stripped" "$tmp/parts/whole"
id=$(readelf -n "$tmp/stripped" | sed -n 's/^ *Build ID: //p')
[ -n "$id" ] || { skip "names by build-id" "the compiler writes none" && finish; }
measure -F 499 -U -o "$tmp/r.stacktally" -- "$tmp/stripped" $((200 * slow))
rm "$tmp/stripped"

# report ARGUMENT ...: reports from the recording; sets $status and $took (ms)
report() {
	local from=${EPOCHREALTIME/[.,]/}
	"$profile" --from "$tmp/r.stacktally" -f "$@" >"$out" 2>"$err"
	status=$?
	took=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))
}
named() { # named NAME ARGUMENT ...
	report "${@:2}"
	exits "$1: exit status" 0
	has "$1" "$known"
	lacks "$1: all of it" '[[]stripped'
}
unnamed() { # unnamed NAME ARGUMENT ...
	report "${@:2}"
	exits "$1: exit status" 0
	has "$1" "$bare"
	lacks "$1: no other name" ';(main|outer|middle|inner|burn)(;|$)'
}
unnamed "without a directory functions are told by where they begin"

# ---- the forms of a directory
# place FILE PATH: a directory $tmp/PATH's with the file at that path
place() {
	rm -rf "$tmp/directory"
	mkdir -p "$(dirname "$tmp/directory/$2")"
	cp "$1" "$tmp/directory/$2"
}
place "$tmp/parts/symbols.debug" ".build-id/${id:0:2}/${id:2}.debug"
named "from a tree of build-ids as packages have it" --debuginfo "$tmp/directory"
place "$tmp/parts/symbols.debug" "${id:0:2}/${id:2}.debug"
named "from the tree itself" --debuginfo "$tmp/directory"
place "$tmp/parts/symbols.debug" some/where/x.debug
named "from a debug file of any name" --debuginfo "$tmp/directory"
place "$tmp/parts/whole" bin/nested
named "from a copy that was not stripped" --debuginfo "$tmp/directory"
"$profile" --from "$tmp/r.stacktally" --debuginfo "$tmp/directory" -o "$tmp/named.stacktally" 2>"$err"
"$profile" --from "$tmp/named.stacktally" -f >"$out" 2>"$err"
has "a recording can be written with the names" "$known"

# ---- wrong ones
unnamed "an empty directory" --debuginfo "$tmp/empty"
gcc -g -O1 -o "$tmp/other" -x c - <<<'int main(void) { return 0; }'
place "$tmp/other" ".build-id/${id:0:2}/${id:2}.debug"
unnamed "a file with another build-id at the right place is not used" --debuginfo "$tmp/directory"
place /bin/sh ".build-id/${id:0:2}/${id:2}.debug"
cp "$tmp/parts/symbols.debug" "$tmp/directory/later.debug"
named "nor does it hide the right one" --debuginfo "$tmp/directory"
head -c 3000 "$tmp/parts/symbols.debug" >"$tmp/torn"
place "$tmp/torn" torn.debug
unnamed "a torn file" --debuginfo "$tmp/directory"
report --debuginfo "$tmp/nosuch"
exits "a directory that does not exist" 1
says "and it is named" "^profile: cannot open $tmp/nosuch: No such file or directory$"
"$profile" --debuginfo "$tmp/empty" 1 >"$out" 2>"$err"
status=$?
exits "--debuginfo without --from" 2

# ---- servers
if ! command -v debuginfod >"$fate" || ! command -v debuginfod-find >"$fate"; then
	skip "names of a server" "debuginfod is not installed"
	finish
fi
port=$((20000 + RANDOM % 20000))
mkdir "$tmp/served"
cp "$tmp/parts/symbols.debug" "$tmp/served"
debuginfod -d "$tmp/index.sqlite" -p $port -F "$tmp/served" >"$tmp/server.log" 2>&1 &
server=$!
started+=($server)
url=http://127.0.0.1:$port
for ((i = 0; i < 100; i++)); do
	DEBUGINFOD_URLS=$url DEBUGINFOD_CACHE_PATH=$tmp/probe debuginfod-find debuginfo "$id" >"$fate" 2>&1 && break
	rm -rf "$tmp/probe"
	sleep 0.1
done
DEBUGINFOD_URLS=$url named "from a debuginfod server"
kill $server
wait $server
rm -rf "$tmp/cache"
DEBUGINFOD_URLS=$url unnamed "a server that is not there"
[ "$took" -lt $((3000 * slow)) ]
check $? "is not waited for" "$took ms"

# Servers that answer badly: with another file, and not at all.
cat >"$tmp/server.py" <<'END'
import http.server
import sys
import time

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if sys.argv[1] == "slow":
            time.sleep(600)
        with open(sys.argv[1], "rb") as file:
            body = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *unused):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
print(server.server_port, flush=True)
server.serve_forever()
END
serve() { # serve FILE-OR-slow: sets $url
	kill $server 2>>"$fate"
	rm -rf "$tmp/cache" "$tmp/port"
	python3 "$tmp/server.py" "$1" >"$tmp/port" 2>>"$fate" &
	server=$!
	started+=($server)
	until [ -s "$tmp/port" ]; do sleep 0.02; done
	url=http://127.0.0.1:$(cat "$tmp/port")
}
serve "$tmp/other"
DEBUGINFOD_URLS=$url unnamed "a server that sends a file with another build-id"
serve "$tmp/parts/symbols.debug"
DEBUGINFOD_URLS=$url named "(one that sends the right file)"
serve slow
DEBUGINFOD_URLS=$url unnamed "a server that does not answer"
[ "$took" -lt $((15000 * slow)) ]
check $? "is given up after some seconds" "$took ms"
finish
