# SPDX-License-Identifier: GPL-2.0-or-later
# The lines that shell tests print; sourced. $failed is the exit status of the test.
# shellcheck shell=bash disable=SC2034 # the tests use the variable
failed=0

ok() { echo "ok $1"; }
skip() { echo "skip $1: $2"; }
fail() {
	echo "FAIL $1: $2"
	failed=1
}
# check STATUS NAME WHY
check() { if [ "$1" -eq 0 ]; then ok "$2"; else fail "$2" "$3"; fi; }
