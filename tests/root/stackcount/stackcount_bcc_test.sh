#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports and messages of both commands, compared with those of bcc: stackcount_bcc_test.sh BUILD
# timeout: 240
# kind: calls
if ! command -v python3 >/dev/null; then
	echo "skip as bcc: there is no python3"
	exit 0
fi
exec python3 "$(dirname "$0")/../../golden/bcc/compare.py" "$1"
