#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The include law of scripts/rooms.txt holds, and ARCHITECTURE.md shows it. Called by the test runner.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)

found=$("$top/scripts/rooms" check 2>&1)
if [ -n "$found" ]; then
	echo "$found"
	echo "FAIL the include law holds: $(wc -l <<<"$found") violations"
else
	echo "ok the include law holds"
fi

if cmp -s <("$top/scripts/rooms" draw) \
	<(sed -n '/^<!-- rooms: /,/^<!-- end of rooms -->/p' "$top/ARCHITECTURE.md" | sed '1d;$d'); then
	echo "ok ARCHITECTURE.md shows the include law"
else
	echo "FAIL ARCHITECTURE.md shows the include law: make docs writes it"
fi

# The check finds each kind of violation, in a copy of the tree.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
fresh_copy() {
	rm -rf "$copy/src"
	cp -r "$top/src" "$copy/src"
	mkdir -p "$copy/scripts"
	cp "$top/scripts/rooms.txt" "$copy/scripts/"
}
expect() {
	local what=$1 want=$2 found
	found=$("$top/scripts/rooms" check "$copy" 2>&1)
	if [[ $found == *"$want"* ]]; then
		echo "ok $what is found"
	else
		echo "FAIL $what is found: no line says '$want'"
	fi
}
plant() {
	local into=$1 line=$2 want=$3
	fresh_copy
	mkdir -p "$copy/src/$(dirname "$into")"
	echo "$line" >>"$copy/src/$into"
	expect "a planted $line in $into" "$want"
}
plant base/planted.c '#include "tally/tally.h"' "base may not include tally/tally.h"
plant data/tally/planted.c '#  include "process/images.h"' "tally may not include process/images.h"
plant show/report/planted.c '#include "trigger/trigger.h"' "report may not include trigger/trigger.h"
plant show/report/planted.c '#include <bpf/libbpf.h>' "report may not include bpf/libbpf.h (libbpf)"
plant tools/cli/planted.h '#include "session/session.h"' "cli may not include session/session.h"
plant measure/session/planted.c '#include "symbolize/symbolizer.h"' "session may not include symbolize/symbolizer.h"
plant tools/run/run.c '#include "stacktally.skel.h"' "run may not include stacktally.skel.h (skeleton)"
plant show/import/planted.c '#include "report/writer.h"' "import may not include report/writer.h"
plant attic/planted.c '#include "base/own.h"' "the law has no room attic"
plant measure/attic/planted.c '#include "base/own.h"' "the law has no room attic"
plant planted.c '#include "base/own.h"' "the law has no room planted.c"
plant measure/session/planted.c '#include "bpf/kernel.bpf.h"' "session may not include bpf/kernel.bpf.h"
plant in_kernel/bpf/wire.h '#include "bpf/kernel.bpf.h"' "wire may not include bpf/kernel.bpf.h"
plant tools/cli/planted.c '#include "message.h"' '"message.h" is not a path below src/'

plant measure/session/planted.c '/* as session/gone.h says */' "planted.c:1: there is no session/gone.h"

change_law() {
	local edit=$1 want=$2
	fresh_copy
	sed -i "$edit" "$copy/scripts/rooms.txt"
	expect "a law changed by $edit" "$want"
}
change_law 's/^  elf | arch base/  elf | tally arch base/' "elf does not use its grant tally"
change_law 's/^base | /base | plan/' "plan does not stand below base"
change_law 's/^  tally /  attic /' "there is no room attic"
change_law 's,^measure/ | symbolize ,measure/ | ,' "measure/ may not include symbolize/"
change_law 's,^send/ | machine ,send/ | machine data ,' "send/ does not use its grant data"
change_law 's,^machine/ | ,machine/ | measure ,' "measure does not stand below machine/"
