/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that someone else chose, inside markup: in XML and HTML, between tags and in quoted
 * attributes. And numbers as people read them.
 */
#ifndef STACKTALLY_VIEW_MARKUP_H
#define STACKTALLY_VIEW_MARKUP_H

#include "base/bytes.h"

/* `size` bytes of UTF-8 without control characters, as bytes_name() makes them. */
void markup_text(struct bytes *bytes, const char *text, size_t size);

/* Any bytes: made clean, then escaped. */
void markup_foreign(struct bytes *bytes, const char *text);

/* "1,234,567" */
void markup_count(struct bytes *bytes, uint64_t count);
/* With as many decimals as are not zero, three at most; not negative. */
void markup_number(struct bytes *bytes, double number);
/* "4.50", a share of the whole in percent; 0 of nothing */
void markup_percent(struct bytes *bytes, double part, double whole);

#endif
