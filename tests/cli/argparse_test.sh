#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Our option parser, compared with Python's argparse: argparse_test.sh BUILD
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! command -v python3 > /dev/null; then
	echo "skip argparse: there is no python3 to compare with"
	exit 0
fi
# Newer versions differ in messages and line breaks; in Debian 12 bcc's tools run on 3.11.
if ! python3 -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 11))'; then
	echo "skip argparse: python3 is not of version 3.10 or 3.11"
	exit 0
fi
if ! "${CC:-gcc}" -std=gnu17 -D_GNU_SOURCE $("$here/../../scripts/rooms" flags) "$here/options_driver.c" \
	"$1/libcore.a" -o "$tmp/options_driver"; then
	echo "FAIL argparse: the driver cannot be built"
	exit 1
fi
python3 "$here/argparse_oracle.py" "$tmp/options_driver"
