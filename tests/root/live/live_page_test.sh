#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The live page in headless Chromium: live_page_test.sh BUILD. Screenshots are kept in BUILD/pages.
# timeout: 600
# kind: outputs
build=$1
if [ -n "${STACKTALLY_VM-}" ]; then
	echo "skip the page in a browser: an emulated machine is too slow for one, and has no network"
	exit 0
fi
# shellcheck source=tests/browser/setup.bash
. "$(dirname "$0")/../../browser/setup.bash" "$build"
# shellcheck source=tests/root/harness.bash
. "$(dirname "$0")/../harness.bash" "$build"
mkdir -p "$build/pages" || exit 2
: >"$err"
# Our programs alone ("live-..." and "<img ..."): what else a busy machine runs would soon take all boxes that the live
# page may have, and then those of new programs are cut.
"$profile" -F 199 --live -f --name '?i*' >"$out" 2>"$err" &
server=$!
started+=("$server")
await 30 grep -q '^Live at ' "$err" || {
	fail "serves" "$(cat "$err")"
	exit 1
}
node "$(dirname "$0")/../../browser/live_test.js" "$modules" "$build/pages" "$chromium" \
	"$(sed -n 's/^Live at //p' "$err")" "$programs" "$server" || {
	failed=1
	kill "$server" 2>"$fate" # which node does if all goes well
}
wait "$server"
check $? "profile ends as it does without a browser" "status $?; $(tail -n 1 "$err")"
exit $failed
