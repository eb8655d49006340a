#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of processes that ended long before the report: names_compile_test.sh BUILD
# timeout: 300
# kind: gone files
. "$(dirname "$0")/../harness.bash" "$1"

name="99.5 % of the frames that have a symbol are named while a machine compiles"
# The script reads perf's log and readelf to find out which frames have a symbol. On emulated CPUs a
# few files take as long.
timeout $((70 * slow)) python3 "$(dirname "$0")/../../../bench/names_share.py" "$1" $((100 / slow / slow)) >"$out" 2>&1
status=$?
# A share of a few frames would mean nothing.
frames=$(sed -n 's/^named [0-9]* of \([0-9]*\) frames .*/\1/p' "$out")
case $status in
0) [ "${frames:-0}" -ge 1000 ] && ok "$name" || fail "$name" "only ${frames:-no} frames were compared" ;;
2) skip "$name" "$(tail -n 1 "$out")" ;;
*) fail "$name" "$(tail -n 8 "$out")" ;;
esac
cat "$out"
finish
