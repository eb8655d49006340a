# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of npm packages, for tests that run them; sourced.
# shellcheck shell=bash disable=SC2034 # the tests use the variables

# npm_unpacked PACKAGE VERSION: sets $unpacked to a directory with the package, which is kept in a cache,
# or $why not, and fails. None of its scripts runs.
npm_unpacked() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/stacktally/npm tmp
	unpacked=$cache/${1//\//+}-$2
	[ -d "$unpacked" ] && return
	command -v npm >/dev/null || {
		why="npm is not installed"
		return 1
	}
	mkdir -p "$cache"
	tmp=$(mktemp -d "$cache/fetch.XXXXXX")
	if (cd "$tmp" && timeout 100 npm pack --silent "$1@$2" >log 2>&1 && mkdir tree &&
		tar -xzf ./*.tgz -C tree --strip-components=1 --no-same-owner); then
		mv -T "$tmp/tree" "$unpacked" 2>>"$tmp/log" || [ -d "$unpacked" ]
	else
		why="npm pack $1@$2: $(tail -n 1 "$tmp/log")"
		false
	fi
	local status=$?
	rm -rf "$tmp"
	return "$status"
}
