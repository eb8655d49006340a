#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What make deb, make release and the service rest on: packages_test.sh BUILD
# (make test-deb, test-unit and test-release use them for real.)
set -u
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
check() { # STATUS NAME WHY
	if [ "$1" -eq 0 ]; then echo "ok $2"; else echo "FAIL $2: $3"; fi
}
version=$(sed -n 's/^VERSION := //p' "$top/Makefile")
packaged=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")
[ -n "$version" ] && [ "$version" = "$packaged" ]
check $? "Makefile and debian/changelog have the same version" "$version, $packaged"
needed=$(sed -n 's/^build \(lib[a-z0-9]*-dev\) .*/\1/p; s/^build \(zlib1g-dev\) .*/\1/p' "$top/scripts/install-deps" | grep -v libc6 | sort)
declared=$(sed -n '/^Build-Depends/,/^Standards/p' "$top/debian/control" | grep -Eo 'lib[a-z0-9]+-dev|zlib1g-dev' | sort)
[ -n "$needed" ] && [ "$needed" = "$declared" ]
check $? "debian/control has the libraries of install-deps" "$(diff <(echo "$needed") <(echo "$declared"))"

"$top/scripts/source-tree" "$tmp/tree" 2>"$tmp/err"
check $? "source-tree" "$(cat "$tmp/err")"
read -r id time <"$tmp/tree/COMMIT"
[ "$id" = "$("$top/scripts/commit" id)" ] && [ "$("$tmp/tree/scripts/commit" id) $("$tmp/tree/scripts/commit" time)" = "$id $time" ]
check $? "its file COMMIT stands for git" "$(cat "$tmp/tree/COMMIT")"
cmp -s "$top/Makefile" "$tmp/tree/Makefile" && [ -x "$tmp/tree/debian/rules" ] && [ ! -e "$tmp/tree/.git" ] && [ ! -e "$tmp/tree/build" ]
check $? "it has the sources and nothing else" "$(ls -a "$tmp/tree")"
mkdir "$tmp/bare" && cp -r "$top/scripts" "$tmp/bare"
[ "$("$tmp/bare/scripts/commit" id)" = unknown ] && ! "$tmp/bare/scripts/commit" time
check $? "without git and COMMIT the commit is unknown" "$("$tmp/bare/scripts/commit" id)"

objects=$(grep -al "$top" "$build"/*.bpf.o)
[ -s "$build/stacktally.bpf.o" ] && [ -z "$objects" ]
check $? "BPF objects have no path of the build" "$objects"

if ! command -v systemd-analyze >"$tmp/fate"; then
	echo "skip the unit: no systemd-analyze"
	exit
fi
unit=$top/service/stacktally-profile.service
exposure=$(systemd-analyze security --offline=true "$unit" 2>"$tmp/err" |
	sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
python3 -c "import sys; sys.exit(not 0 < ${exposure:-9} < 2)"
check $? "the exposure of the unit is below 2.0" "${exposure:-none}"
grep -E '^(CapabilityBoundingSet|AmbientCapabilities)=' "$unit" | sed 's/.*=//' | sort -u >"$tmp/sets"
[ "$(cat "$tmp/sets")" = "CAP_BPF CAP_PERFMON CAP_SYS_PTRACE" ]
check $? "the unit has three capabilities" "$(cat "$tmp/sets")"
