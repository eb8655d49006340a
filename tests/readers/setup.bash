# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of this directory: installs other programs that read our formats below
# BUILD/readers.
#	readers_npm BUILD	the node packages of package.json; sets `modules`, or `why` not
#	readers_flamegraph BUILD	flamegraph.pl; sets `flamegraph`, or `why` not

# shellcheck disable=SC2034 # the tests use the variables
readers_npm() {
	local directory=$1/readers/npm from
	from=$(dirname "${BASH_SOURCE[0]}")/package.json
	modules='' why=''
	if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
		why="node and npm are not installed"
		return 1
	fi
	mkdir -p "$directory"
	exec {readers_lock}>"$directory/lock"
	flock "$readers_lock"
	if ! cmp -s "$from" "$directory/installed.json"; then
		cp "$from" "$directory/package.json"
		if ! (cd "$directory" && HOME=$directory npm install --no-package-lock --no-audit \
			--no-fund --ignore-scripts >"$directory/log" 2>&1); then
			why="npm cannot install the readers: $(grep -m 1 -i error "$directory/log")"
			flock -u "$readers_lock"
			return 1
		fi
		cp "$from" "$directory/installed.json"
	fi
	flock -u "$readers_lock"
	modules=$directory/node_modules
}

# Debian ships flamegraph.pl in plprofiler, a profiler for PostgreSQL, of which nothing else is
# needed.
# shellcheck disable=SC2034
readers_flamegraph() {
	local directory=$1/readers/flamegraph
	flamegraph=$(command -v flamegraph.pl || find "$directory" -name flamegraph.pl 2>/dev/null)
	why=''
	[ -z "$flamegraph" ] || return 0
	mkdir -p "$directory"
	(cd "$directory" && apt-get -q download plprofiler && dpkg-deb -x plprofiler_*.deb .) \
		>"$directory/log" 2>&1
	flamegraph=$(find "$directory" -name flamegraph.pl)
	[ -n "$flamegraph" ] && return 0
	why="flamegraph.pl is not on PATH, and plprofiler cannot be downloaded"
	return 1
}
