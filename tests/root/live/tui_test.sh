#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --tui and the progress line on a terminal: tui_test.sh BUILD
# timeout: 300
# kind: outputs
. "$(dirname "$0")/../harness.bash" "$1"
here=$(cd "$(dirname "$0")" && pwd)

if ! PYTHONPATH=$here python3 -c 'import terminal' 2>"$err"; then
	skip "--tui on a terminal" "$(tail -n 1 "$err")"
	finish
fi
if [ "$slow" -gt 1 ]; then
	skip "--tui on a terminal" "an emulated machine is too slow for it, and it does not depend on the kernel"
	finish
fi
begin "$programs/nested" 10000000 || finish
PYTHONDONTWRITEBYTECODE=1 python3 "$here/tui_screens.py" "$1" "$pid" "$tmp"
check $? "the test of the screens came to its end" "status $?"
end
finish
