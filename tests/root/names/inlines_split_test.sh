#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --inlines with split and with compressed DWARF: inlines_split_test.sh BUILD
# Reports of this kind: no inlined functions, and no word about the files that have them.
# timeout: 120
# kind: inlined
. "$(dirname "$0")/../harness.bash" "$1"
# Files of debug information are read if every user may.
chmod 755 "$tmp" "${tmp%/*}"
cd "$tmp" || exit 1
cat >p.c <<'C'
static inline __attribute__((always_inline)) void inlined_part(long n) { for (volatile long i = 0; i < n; i++); }
__attribute__((noinline)) void whole(void) { inlined_part(200000000); }
int main(void) { whole(); }
C
for version in 4 5; do
	gcc -O2 -g -gdwarf-$version -gsplit-dwarf p.c -o split || exit 1
	measure -U -f -F 199 --inlines -- ./split
	has "functions inlined by a unit of a .dwo file are shown, DWARF $version" ';whole;inlined_part'
	rm -f ./*.dwo
	measure -U -f -F 199 --inlines -- ./split
	lacks "without that file they are not, DWARF $version" ';inlined_part'
	says "which is told, DWARF $version" 'such as .*split-p[.]dwo' "$err"
done
gcc -O2 -g p.c -o plain && objcopy --compress-debug-sections=zlib-gnu plain compressed || exit 1
measure -U -f -F 199 --inlines -- ./compressed
has "sections that are compressed in the old form are read" ';whole;inlined_part'
