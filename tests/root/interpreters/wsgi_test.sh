#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A WSGI application under load: Flask and its template engine, SQLite, gunicorn with two threads:
# wsgi_test.sh BUILD
# timeout: 300
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")

# serve ROOT: starts the server on a free port; sets $server, $worker and $port
serve() {
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	mkdir -p "$1/tmp" && cp "$here/wsgi_shop.py" "$1/tmp"
	chroot "$1" /usr/bin/python3 -m gunicorn --threads 2 --worker-tmp-dir /tmp -b "127.0.0.1:$port" --chdir /tmp \
		wsgi_shop:app >"$tmp/server.log" 2>&1 &
	server=$!
	started+=("$server")
	answers() { python3 "$here/wsgi_load.py" "$port" 0.2 >"$tmp/pages" 2>>"$fate"; }
	await 30 answers || return
	worker=$(pgrep -P "$server")
}

# split FILE: of its samples in Python code: all; with a root that is the module that was run or what a
# thread begins with; those that do not have one, and say why; torn or unmatched ones. Of a report with the
# server's process only.
split() {
	awk '{
		n = $NF; sub(/ [0-9]+$/, ""); k = split($0, frame, ";"); root = ""
		if ($0 !~ /PyEval_|Py_RunMain|\[python: | \([^()]*\.py\)/) next
		all += n
		for (i = 1; i <= k && root == ""; i++)
			if (frame[i] ~ / \([^()]*\)$/) root = frame[i]
		if (root ~ /^(<module>|_run_module_as_main|Thread\._bootstrap) /) rooted += n
		else if ($0 ~ /\[python: /) told += n
		if ($0 ~ /\[python: (torn|unmatched|unreadable)\]/) odd += n
	} END { print all + 0, rooted + 0, told + 0, odd + 0 }' "$1"
}

for release in $(releases bookworm trixie); do
	root=$("$here/../../root_of" "$release" python3 python3-flask gunicorn 2>"$err") || {
		skip "$release's Flask under load" "$(tail -n 1 "$err")"
		continue
	}
	serve "$root" || {
		fail "$release's gunicorn answers" "$(tail -n 3 "$tmp/server.log")"
		continue
	}
	python3 "$here/wsgi_load.py" "$port" 13 >"$tmp/pages" &
	load=$!
	started+=("$load")
	measure -v -U -F 499 -o "$tmp/wsgi.folded" -o "$tmp/wsgi.json" -p "$worker" 10
	wait "$load"
	kill "$server"
	read -r all rooted told odd < <(split "$tmp/wsgi.folded")
	echo "# $release: $all samples in Python code, $rooted with a root, $told say why not, $odd torn or unmatched;" \
		"$(cat "$tmp/pages") pages"
	calculates "$all > 500 && $rooted >= 0.99 * $all"
	check $? "$release's Flask: 99 % of samples have a whole Python stack" "$rooted of $all"
	calculates "$all > 0 && $rooted + $told == $all"
	check $? "$release's Flask: every other says why" "$((all - rooted - told)) do not"
	calculates "$all > 500 && $odd <= 0.01 * $all"
	check $? "$release's Flask: at most 1 % are torn or unmatched" "$odd of $all"
	out=$tmp/wsgi.folded
	has "$release's Flask: functions of templates and callbacks from SQLite are in the stacks" \
		'Flask\.wsgi_app \(app\.py\);.*items \(wsgi_shop\.py\);.*(root|block_[a-z]*) \(<template>\)'
	has "... and of code that C calls back" 'items \(wsgi_shop\.py\);.*connect\.<locals>\.<lambda> \(wsgi_shop\.py\)'
	python3 - "$tmp/wsgi.json" "$err" <<'P'
import json, re, sys
m = json.load(open(sys.argv[1]))["measurement"]["user_stacks"]
said = dict((b, int(a)) for a, b in re.findall(r"^ +(\d+) with an evaluator's frame that stays: (.*)$", open(sys.argv[2]).read(), re.M))
assert m["programs"] > 500 and m["program_reasons"] == said, (m, said)
P
	check $? "$release's Flask: JSON has the totals by reason that -v prints" "$(tail -n 3 "$err")"
done
finish
