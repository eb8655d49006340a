/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gzip stream on its way out. What fails is kept in `failed`, as struct bytes does; the bytes
 * that come out depend on those that went in only.
 */
#ifndef STACKTALLY_REPORT_GZIP_H
#define STACKTALLY_REPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
	z_stream stream;
	FILE *out;
	int failed; /* 0, -ENOMEM, or -EIO: then the stream knows more */
	unsigned char chunk[65536];
};

/* gzip_end() is due, also when this failed. */
void gzip_start(struct gzip *gzip, FILE *out);
void gzip_put(struct gzip *gzip, const void *from, size_t size);
/* Writes what is still there and gives back what it took; returns `failed`. */
int gzip_end(struct gzip *gzip);

#endif
