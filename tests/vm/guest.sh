#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in a test machine: guest.sh BUILD_DIR [NAMES]. First prints what this kernel can do; then
# runs the root tests (only NAMES, comma-separated) with longer time limits, because the machine is
# emulated; last the tests after which the machine cannot be used any more.
top=$(cd "$(dirname "$0")/../.." && pwd)
"$1/tests/vm/features"
exec "$top/tests/run" --only root,vm --all --slow 5 --again 1 --match "${2:-}" "$1"
