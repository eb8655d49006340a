#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Our user stacks compared with gdb's and perf's: unwind_peers_test.sh BUILD
# timeout: 400
# kind: callers
. "$(dirname "$0")/../harness.bash" "$1"
if [ -n "${STACKTALLY_VM-}" ]; then
	skip "gdb and perf" "an emulated machine is too slow for them"
	exit 0
fi
python3 "$(dirname "$0")/unwind_peers.py" "$1" "$tmp" || failed=1
finish
