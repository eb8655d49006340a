#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Our option parser against Python's argparse: argparse_test.sh BUILD
driver=$1/tests/cli/options_driver
here=$(dirname "$0")

if ! command -v python3 > /dev/null; then
	echo "skip argparse: there is no python3 to compare with"
	exit 0
fi
# Newer ones word and split some things differently; 3.11 is what the tools run on in Debian 12.
if ! python3 -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 11))'; then
	echo "skip argparse: python3 is not of version 3.10 or 3.11"
	exit 0
fi
if [ ! -x "$driver" ]; then
	echo "FAIL argparse: $driver is not built"
	exit 1
fi
exec python3 "$here/argparse_oracle.py" "$driver"
