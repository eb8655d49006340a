#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What runs in a test machine: guest.sh BUILD_DIR [NAMES]. First what this kernel can do, then the root
# tests (those of NAMES, comma-separated), with more time than on a machine that is not emulated, and
# last what leaves the machine unfit for more.
top=$(cd "$(dirname "$0")/../.." && pwd)
"$1/tests/vm/features"
exec "$top/tests/run" --only root,vm --slow 5 --again 1 --match "${2:-}" "$1"
