#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Java servers under load, started without any option for profilers: Jetty and Tomcat, whose pages are queries of a
# database: java_servers_test.sh BUILD. All releases, and requests in virtual threads, with TEST_ALL.
# timeout: 600
# kind: own frames
. "$(dirname "$0")/interpreters.bash" "$1"
here=$(dirname "$0")
command -v javac >/dev/null || {
	skip "Java servers under load" "no javac"
	finish
}
libraries=$("$here/../../root_of" bookworm libtomcat10-java libjetty9-java libh2-java libjackson2-databind-java 2>"$err") || {
	skip "Java servers under load" "$(tail -n 1 "$err")"
	finish
}
mkdir -p "$tmp/java_servers/jars" "$tmp/java_servers/classes"
cp -L "$libraries"/usr/share/java/*.jar "$tmp/java_servers/jars"
javac --release 17 -d "$tmp/java_servers/classes" -cp "$tmp/java_servers/jars/*" \
	"$here"/java_{shop,jetty,tomcat}.java 2>"$err" || {
	check 1 "the servers compile" "$(head -n 3 "$err")"
	finish
}

# serve SERVER ARGUMENT...: starts it by $java, in $root, on a free port; sets $server and $port
serve() {
	local at=$tmp/java_servers
	if [ -n "$root" ]; then
		at=/tmp/java_servers
		rm -rf "$root$at" && cp -r "$tmp/java_servers" "$root/tmp"
	fi
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	# shellcheck disable=SC2086 # one word, or none
	${root:+unshare -m sh "$tmp/in" "$root"} "$java" -Xmx256m -cp "$at/classes:$at/jars/*" "java_$1" "$port" "$at" \
		"${@:2}" >"$tmp/server.log" 2>&1 &
	server=$!
	started+=("$server")
	answers() { python3 "$here/wsgi_load.py" "$port" 0.2 >"$tmp/pages" 2>>"$fate"; }
	await 30 answers
}

# whole NAME ROOT SERVER ARGUMENT...: samples of it under load; stacks of its pages begin with ROOT
whole() {
	local name=$1 begins=$2 load all cut ours rooted
	serve "${@:3}" || {
		fail "$name answers" "$(tail -n 3 "$tmp/server.log")"
		return
	}
	python3 "$here/wsgi_load.py" "$port" 9 >"$tmp/pages" &
	load=$!
	started+=("$load")
	measure -U -F 499 -f -p "$server" 6
	wait "$load"
	kill "$server"
	wait "$server" 2>>"$fate"
	all=$(counted '.*') cut=$(counted '\[unwind: ') ours=$(counted 'java_shop\.')
	rooted=$(counted ";Thread::call_run\\(\\);.*;$begins;.*;java_[a-z]*\\\$Shop\.doGet;java_shop\.page")
	echo "# $name: $all samples, $cut not complete, $ours of the shop, $rooted of these with their root; $(cat "$tmp/pages") pages"
	calculates "$all >= 100 && $cut <= 0.01 * $all"
	check $? "$name: 99 % of samples are complete" \
		"$cut of $all are not: $(grep '\[unwind: ' "$out" | head -n 3 | rev | cut -c 1-200 | rev)"
	# In the others a function is not exact, or frames are in the heap.
	calculates "$ours >= 20 && $rooted >= 0.9 * $ours"
	check $? "$name: the pages' functions are in the stacks of its threads" "$rooted of $ours"
}

root='' java=$(readlink -f "$(command -v java)")
whole "Jetty" 'java\.lang\.Thread\.run;(java\.lang\.Thread\.runWith;)?org\.eclipse\.jetty\..*' jetty
whole "Tomcat" 'java\.lang\.Thread\.run;(java\.lang\.Thread\.runWith;)?org\.apache\.tomcat\..*' tomcat

# java looks for its libraries in /proc.
cat >"$tmp/in" <<'S'
mount -t proc proc "$1/proc" && root=$1 && shift && exec chroot "$root" "$@"
S
for of in ${TEST_ALL:+trixie:21 trixie:25 sid:26}; do
	IFS=: read -r release version <<<"$of"
	root=$("$here/../../root_of" "$release" "openjdk-$version-jre-headless" 2>"$err") || {
		skip "Java $version's servers" "$(tail -n 1 "$err")"
		continue
	}
	mkdir -p "$root/tmp" "$root/proc"
	java=/usr/lib/jvm/java-$version-openjdk-amd64/bin/java
	whole "Java $version, Jetty" 'java\.lang\.Thread\.run;(java\.lang\.Thread\.runWith;)?org\.eclipse\.jetty\..*' jetty
	whole "Java $version, Tomcat's virtual threads" 'java\.util\.concurrent\.ForkJoinWorkerThread\.run;.*;org\.apache\.tomcat\..*' \
		tomcat virtual
done
finish
