#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of processes that are long gone: names_compile_test.sh BUILD
# timeout: 300
. "$(dirname "$0")/../harness.bash" "$1"

name="99.5 % of the frames that have a symbol are named while a machine compiles"
# What has a symbol is found out from perf's log and readelf, see there. Where CPUs are emulated, a
# few files take as long.
timeout $((70 * slow)) python3 "$(dirname "$0")/../../../bench/names_share.py" "$1" $((100 / slow / slow)) >"$out" 2>&1
case $? in
0) ok "$name" ;;
2) skip "$name" "$(tail -n 1 "$out")" ;;
*) fail "$name" "$(tail -n 8 "$out")" ;;
esac
cat "$out"
finish
