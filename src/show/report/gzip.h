/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gzip stream written to a FILE. The first failure is kept in `failed`, as in struct bytes. The
 * output has no time stamp: equal input gives equal output.
 */
#ifndef STACKTALLY_REPORT_GZIP_H
#define STACKTALLY_REPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
	z_stream stream;
	FILE *out;
	int failed; /* 0, -ENOMEM, or -EIO: see ferror(out) */
	unsigned char chunk[65536];
};

/* `out` is borrowed. gzip_end() is due, also if this failed. */
void gzip_start(struct gzip *gzip, FILE *out);
void gzip_put(struct gzip *gzip, const void *from, size_t size);
/* Writes the rest and frees the memory; returns `failed`. */
int gzip_end(struct gzip *gzip);

#endif
