#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# A new report format is one new file and one line: adds one to a copy of the sources, builds it,
# and looks for it wherever formats are listed. new_format_test.sh BUILD
# all: it builds a copy of the tree; new_trigger_test.sh and source_of_names_test.sh do, too
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
copy=$TMPDIR/copy
mkdir "$copy"
cp -rp "$top/Makefile" "$top/src" "$top/scripts" "$copy/"
cp -rp "$build" "$copy/build" # most objects are up to date
rm -rf "$copy"/build/{tests,asan,fuzz}

# check STATUS NAME WHY
check() { if [ "$1" -eq 0 ]; then echo "ok $2"; else echo "FAIL $2: $3"; fi; }

cat >"$copy/src/show/report/sample.c" <<'END'
// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "report/writer.h"

static uint32_t sample_view(const struct report_options *options)
{
	(void)options;
	return 0;
}

static int sample_write(const struct report *report, FILE *out, struct error *err)
{
	(void)err;
	fprintf(out, "%u stacks, %" PRIu64 " samples\n", report->profile->n_entries,
		report->profile->total);
	return 0;
}

static const char *const extensions[] = { ".sample", NULL };

const struct writer sample_writer = {
	.name = "sample",
	.description = "totals",
	.extensions = extensions,
	.whole = true,
	.view = sample_view,
	.write = sample_write,
};
END
sed -i 's/^\tNEXT(json, .*/&\n\tNEXT(sample, "sample") \\/' "$copy/src/show/report/formats.h"

changes=$(diff -rU0 "$top/src" "$copy/src" | grep -c '^[-+][^-+]')
files=$(diff -rq "$top/src" "$copy/src")
[ "$changes" = 1 ] && [ "$(wc -l <<<"$files")" = 2 ] && [[ $files == *": sample.c"* ]]
check $? "a new format touches one new file and one line" "$changes lines; $files"

make --no-print-directory -C "$copy" all >"$TMPDIR/log" 2>&1
check $? "the new format builds" "$(tail -n 3 "$TMPDIR/log")"

recording=$top/tests/golden/recordings/profile.stacktally
want='[1-9][0-9]* stacks, [1-9][0-9]* samples'
for command in profile stackcount; do
	run() { "$copy/build/$command" "$@" 2>"$TMPDIR/err"; }
	run --help | tr -s ' \n' ' ' | grep -q ' json, sample, perf-'
	check $? "$command --help lists the new format" "it does not"
	run --print-man | grep -q ' json, sample, perf-script or recording'
	check $? "the man page of $command lists the new format" "it does not"
	run --print-completion | grep -q '\bjson sample perf-script\b'
	check $? "the completion of $command offers the new format" "it does not"
	run --from "$recording" --format sample | grep -qx "$want"
	check $? "$command --format writes the new format" "$(tail -n 1 "$TMPDIR/err")"
	run --from "$recording" -o "$TMPDIR/$command.sample" &&
		grep -qx "$want" "$TMPDIR/$command.sample"
	check $? "$command -o writes the new format by its extension" "$(tail -n 1 "$TMPDIR/err")"
	run --from "$recording" -o x.none
	grep -q ' \.json \.sample ' "$TMPDIR/err"
	check $? "$command tells of the new extension" "$(tail -n 1 "$TMPDIR/err")"
done
