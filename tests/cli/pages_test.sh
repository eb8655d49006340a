#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Flame graphs in the programs that show them: xmllint reads the SVG, Chromium both formats:
# pages_test.sh BUILD. Pages and screenshots are kept in BUILD/pages.
# timeout: 600
# kind: outputs
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd) || exit 2
pages=$build/pages
mkdir -p "$pages" || exit 2
compile() { # SOURCE PROGRAM
	"${CC:-gcc}" -std=gnu17 -D_GNU_SOURCE -O1 $("$here/../scripts/rooms" flags) "$here/../$1" \
		"$build/libcore.a" -lunistring -lz -o "$2" || exit 2
}
compile tests/browser/make_pages.c "$pages/make_pages"
"$pages/make_pages" "$pages" || exit 2
"$build/profile" -q --from "$here/golden/recordings/times.stacktally" -o "$pages/times.html" || exit 2
"$build/profile" -q --from "$here/golden/recordings/languages.stacktally" -o "$pages/languages.html" || exit 2

if ! command -v xmllint >/dev/null; then
	echo "skip svg-is-xml: no xmllint"
else
	for svg in "$pages"/*.svg; do
		if xmllint --noout "$svg"; then
			echo "ok svg-is-xml $(basename "$svg")"
		else
			echo "FAIL svg-is-xml $(basename "$svg")"
		fi
	done
fi

# shellcheck source=tests/browser/setup.bash
. "$here/browser/setup.bash" "$build"
node "$here/browser/pages_test.js" "$modules" "$pages" "$chromium"
