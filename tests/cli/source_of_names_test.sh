#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A new source of names is one file and one line: source_of_names_test.sh BUILD. One of each kind is
# added to a copy of src/, and names addresses that no other source names.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
cp -r "$top/src" "$TMPDIR/src"
cd "$TMPDIR" || exit 1

cat >src/symbolize/sample_file.c <<'C'
#include "symbolize/sources.h"

int sample_file_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		     struct pool *pool)
{
	(void)elf;
	for (size_t i = 0; i < n; i++) {
		if (queries[i].name)
			continue;
		queries[i].start = queries[i].address;
		queries[i].name = pool_string(pool, "named_by_file");
	}
	return 0;
}
C
cat >src/symbolize/sample_process.c <<'C'
#include "symbolize/sources.h"

int sample_process_find(struct process_request *request)
{
	int r = sources_make_queries(request);

	for (size_t i = 0; r == 0 && i < request->n; i++) {
		request->queries[i].start = request->queries[i].address;
		request->queries[i].name = pool_string(request->pool, "named_by_process");
	}
	return r;
}
C
sed -i -e '/^#define FILE_SOURCES/a SOURCE(sample_file_find) \\' \
	-e '/^#define PROCESS_SOURCES/a SOURCE(sample_process_find) \\' src/symbolize/sources.h
touched=$(diff -rq "$top/src" src | wc -l)
lines=$(diff "$top/src/symbolize/sources.h" src/symbolize/sources.h | grep -c '^[<>]')
if [ "$touched" = 3 ] && [ "$lines" = 2 ]; then
	echo "ok two sources of names are two files and a line each"
else
	echo "FAIL two sources of names are two files and a line each: $touched files, $lines lines"
fi

# Names the address of a function that was stripped, and one of anonymous memory.
cat >driver.c <<'C'
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbolize/symbolizer.h"

static __attribute__((noinline)) void stripped(void)
{
	__asm__ volatile("");
}

int main(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tally_address addresses[] = { { .address = (uintptr_t)stripped },
					     { .address = (uintptr_t)memory } };
	struct symbolizer *symbolizer;
	struct images *images;
	struct tally *tally;
	struct names *names;
	uint32_t image, id;

	stripped();
	if (images_new(NULL, &images) || symbolizer_new(images, NULL, &symbolizer) ||
	    tally_new(0, 0, &tally) || names_new(&names) ||
	    images_at(images, getpid(), 0, monotonic_ns(), &image))
		return 1;
	for (int i = 0; i < 2; i++) {
		addresses[i].image = image;
		addresses[i].flags = TALLY_ADDRESS_EXACT;
		if (tally_address(tally, &addresses[i], &id))
			return 1;
	}
	if (symbolizer_resolve(symbolizer, tally, names, NULL))
		return 1;
	for (uint32_t i = 0; i < names_n_frames(names); i++)
		puts(names_frame(names, i).name ? names_frame(names, i).name : "no name");
	return 0;
}
C
if ! gcc -std=gnu17 -D_GNU_SOURCE -s $("$top/scripts/rooms" flags .) driver.c src/symbolize/sample_*.c src/symbolize/sources.c \
	"$build/libcore.a" -o driver -ldw -lelf -liberty -lz -llzma -lbz2 -lzstd -lpthread; then
	echo "FAIL both are built into a program"
	exit
fi
names=$(./driver | tr '\n' ' ')
if [ "$names" = "named_by_file named_by_process " ]; then
	echo "ok both give names"
else
	echo "FAIL both give names: $names"
fi
