// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the places of source lines in this process instead of a confined child, so that crashes of
 * libdw are seen. The input is a byte that chooses the line, and an ELF file.
 *
 * As libdw crashes within seconds of a search (tests/fuzz/fuzz_inlines.c), the tests only replay
 * the inputs in the tree (fuzz: corpus only). To search, ignoring crashes of libdw:
 *
 *	build/fuzz/tests/fuzz/fuzz_line_places -fork=2 -ignore_crashes=1 DIRECTORY
 *	tests/fuzz/corpus/line_places
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "symbolize/line_places.h"

#define MAX_NS	   1000000000ull
#define MAX_PLACES 65536u /* more are refused */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_place(void *context, const struct code_place *place)
{
	uint32_t *n = context;

	if (++*n > MAX_PLACES || place->n_ranges > CODE_PLACE_RANGES)
		abort();
	/* Reads both strings to their ends. */
	if ((place->name && strlen(place->name) > 1 << 30) ||
	    (place->within && strlen(place->within) > 1 << 30))
		abort();
	if (place->function.begin < place->function.end &&
	    (place->address < place->function.begin || place->address >= place->function.end))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = { "a.c", "b.cc", "x/a.c" };
	own(own_fd) int fd = memfd_create("input", MFD_CLOEXEC);
	struct line_neighbours near = { 0 };
	struct line_request request = { .fd = fd };

	if (size < 1)
		return 0;
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
		abort();
	request.line = data[0];
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		uint32_t n = 0;
		int r;

		request.file = files[i];
		request.end_ns = monotonic_ns() + MAX_NS;
		r = line_places_each(&request, check_place, &n, &near);
		if (r > 0)
			abort();
		/* A line has code, or its neighbours are on its two sides. */
		if (r == 0 && n == 0 &&
		    ((near.before && near.before >= request.line) ||
		     (near.behind && near.behind <= request.line)))
			abort();
	}
	return 0;
}
