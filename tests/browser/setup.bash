# SPDX-License-Identifier: GPL-2.0-or-later
# Finds a browser; sourced as: . setup.bash BUILD_DIR. Sets $chromium, and $modules to the directory
# of playwright-core; skips the test if one is missing.
# shellcheck shell=bash
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ]; then
	echo "skip browser: no chromium: apt-get install chromium"
	exit 0
fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	echo "skip browser: no node and npm"
	exit 0
fi
modules=$1/browser
browser=$(dirname "${BASH_SOURCE[0]}")
if ! cmp -s "$browser/package.json" "$modules/package.json" ||
	! [ -d "$modules/node_modules/playwright-core" ]; then
	mkdir -p "$modules" && cp "$browser/package.json" "$modules/" || exit 2
	if ! (cd "$modules" && npm install --no-audit --no-fund --ignore-scripts >npm.log 2>&1); then
		cat "$modules/npm.log"
		echo "skip browser: npm cannot install playwright-core"
		exit 0
	fi
fi
