#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The include law (ARCHITECTURE.md): which room of src/ may include which. Called by the test
# runner; with a directory as the second argument, it checks that tree alone.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)

# Prints a line for each include in tree $1 that the law forbids.
violations() {
	(cd "$1" && find src -name '*.[ch]' | sort | xargs -r awk '
	BEGIN {
		# The room of a file is its folder; files right in src/ have rooms of their own:
		# "plan" is plan.h, "run" is run.*, run_*, outputs.* and compared.*, "command" all else. "wire" is what
		# src/bpf shares with user space: its headers that are not named *.bpf.h.
		allow("base", "base")
		allow("bpf", "bpf wire")
		allow("wire", "wire")
		allow("plan", "base")
		allow("elf", "base elf")
		allow("tally", "base tally wire")
		allow("process", "base tally wire process")
		allow("symbolize", "base elf tally wire process symbolize")
		allow("trigger", "base elf tally wire process symbolize trigger libbpf")
		allow("report", "base tally symbolize report")
		allow("recording", "base tally wire process symbolize recording report/profile.h")
		allow("unwind", "base elf tally wire process unwind libbpf")
		allow("session", "base plan tally wire process symbolize trigger unwind session" \
			" libbpf skeleton")
		allow("live", "base tally symbolize/names.h report live")
		allow("tui", "base report tui")
		allow("cli", "base cli")
		allow("run", "base plan tally wire process symbolize trigger report recording unwind" \
			" session live tui cli run")
		allow("command", "base plan trigger report cli run command")
	}
	function allow(room, rooms,    list, n, i) {
		n = split(rooms, list, " ")
		for (i = 1; i <= n; i++)
			allowed[room, list[i]] = 1
		known[room] = 1
	}
	function room_of(path,    parts) {
		sub(/^src\//, "", path)
		if (path ~ /^bpf\/[^.]*\.h$/)
			return "wire"
		if (split(path, parts, "/") > 1)
			return parts[1]
		sub(/\.[ch]$/, "", path)
		if (path == "outputs" || path == "compared" || path == "watch" || path ~ /^run_/)
			return "run"
		return path == "plan" || path == "run" ? path : "command"
	}
	/^[ \t]*#[ \t]*include[ \t]*["<]/ {
		match($0, /["<][^">]*[">]/)
		quote = substr($0, RSTART, 1)
		name = substr($0, RSTART + 1, RLENGTH - 2)
		from = room_of(FILENAME)
		if (quote == "<") {
			# src/bpf runs in the kernel: there <bpf/...> is the language, not the library.
			if (name !~ /^bpf\// || from == "bpf")
				next
			to = "libbpf"
		} else if (name ~ /\.skel\.h$/) {
			to = "skeleton"
		} else {
			if (system("test -f src/" name) != 0) {
				printf "%s:%d: \"%s\" is not a path below src/\n", FILENAME, FNR, name
				next
			}
			to = room_of(name)
		}
		if (!(from in known))
			printf "%s:%d: the law has no room %s\n", FILENAME, FNR, from
		else if (!((from, to) in allowed) && !((from, name) in allowed))
			printf "%s:%d: %s may not include %s (%s)\n", FILENAME, FNR, from, name, to
	}')
}

if [ $# -ge 2 ]; then
	violations "$2"
	exit
fi

found=$(violations "$top")
if [ -n "$found" ]; then
	echo "$found"
	echo "FAIL the include law holds: $(wc -l <<<"$found") violations"
else
	echo "ok the include law holds"
fi

# Proof that it can fail: one planted line at a time, in a copy.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
plant() {
	local into=$1 line=$2 want=$3 included
	rm -rf "$copy/src"
	cp -r "$top/src" "$copy/src"
	mkdir -p "$copy/src/$(dirname "$into")"
	included=$(sed -n 's,.*"\(.*/.*\)".*,\1,p' <<<"$line")
	[ -z "$included" ] || { mkdir -p "$copy/src/${included%/*}" && touch "$copy/src/$included"; }
	echo "$line" >>"$copy/src/$into"
	if [[ $(violations "$copy") == *"$want"* ]]; then
		echo "ok a planted $line in $into is found"
	else
		echo "FAIL a planted $line in $into is found: it was not"
	fi
}
plant base/planted.c '#include "tally/tally.h"' "base may not include tally/tally.h"
plant tally/planted.c '#  include "process/worlds.h"' "tally may not include process/worlds.h"
plant report/planted.c '#include "trigger/trigger.h"' "report may not include trigger/trigger.h"
plant report/planted.c '#include <bpf/libbpf.h>' "report may not include bpf/libbpf.h (libbpf)"
plant trigger/planted.c '#include "report/profile.h"' "trigger may not include report/profile.h"
plant cli/planted.h '#include "session/session.h"' "cli may not include session/session.h"
plant run.c '#include "stacktally.skel.h"' "run may not include stacktally.skel.h (skeleton)"
plant profile.c '#include "session/session.h"' "command may not include session/session.h"
plant recording/planted.c '#include "report/writer.h"' "recording may not include report/writer.h"
plant attic/planted.c '#include "base/own.h"' "the law has no room attic"
plant session/planted.c '#include "bpf/kernel.bpf.h"' "session may not include bpf/kernel.bpf.h"
plant bpf/wire.h '#include "bpf/kernel.bpf.h"' "wire may not include bpf/kernel.bpf.h"
plant cli/planted.c '#include "message.h"' '"message.h" is not a path below src/'
