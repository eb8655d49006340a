#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# Each case of bench/run still measures something: one small round of all, without the peers, whose
# columns only a whole run needs (`bench/run --smoke --peers` has them, too). A change of a closing
# line or an option cannot leave rows of docs/benchmarks.md empty.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
case ${STACKTALLY_VM-}$1 in
?*/asan | [!/]*) echo "skip the cases of bench/run: not in an emulated machine, nor of sanitized commands" && exit ;;
esac
"$top/bench/run" --smoke "$1"
