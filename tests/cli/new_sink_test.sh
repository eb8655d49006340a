#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# A new sink of reports is one new file and one line: adds one to a copy of the sources, builds it,
# and measures with it where that is allowed. new_sink_test.sh BUILD
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

cat >"$copy/src/tools/run/sink_sample.c" <<'END2'
// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>

#include "run/sink.h"

static int sample_open(const struct sink_source *source, struct plan *plan, void **ret_self,
		       struct error *err)
{
	(void)plan;
	(void)err;
	*ret_self = source->report;
	return 0;
}

static int sample_report(void *self, struct error *err)
{
	const struct run_report *report = self;

	(void)err;
	fprintf(stderr, "sample: %" PRIu64 " in %s\n", tally_total(report->tally),
		report->meta.event);
	return 0;
}

const struct sink_ops sample_sink = {
	.open = sample_open,
	.report = sample_report,
};
END2
sed -i 's/^#define SINKS(SINK) /&SINK(sample) /' "$copy/src/tools/run/sink.h"

changes=$(diff -rU0 "$top/src" "$copy/src" | grep -c '^+[^+]')
files=$(diff -rq "$top/src" "$copy/src")
[ "$changes" = 1 ] && [ "$(wc -l <<<"$files")" = 2 ] && [[ $files == *": sink_sample.c"* ]]
check $? "a new sink touches one new file and one line" "$changes lines; $files"

make --no-print-directory -C "$copy" all >"$TMPDIR/log" 2>&1
check $? "the new sink builds" "$(tail -n 3 "$TMPDIR/log")"

if [ "$(id -u)" != 0 ]; then
	echo "skip the new sink gets the report of each interval: needs root"
	exit
fi
"$copy/build/stackcount" -i 0.2 -D 0.5 t:sched:sched_switch >"$TMPDIR/out" 2>"$TMPDIR/err"
[ "$(grep -cx 'sample: [1-9][0-9]* in t:sched:sched_switch' "$TMPDIR/err")" -ge 2 ]
check $? "the new sink gets the report of each interval" "$(cat "$TMPDIR/err")"
