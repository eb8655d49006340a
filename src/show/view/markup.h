/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escapes untrusted text for XML and HTML, between tags and in quoted attributes; formats numbers.
 */
#ifndef STACKTALLY_VIEW_MARKUP_H
#define STACKTALLY_VIEW_MARKUP_H

#include "base/bytes.h"

/* Escapes `size` bytes that bytes_name() has cleaned. */
void markup_text(struct bytes *bytes, const char *text, size_t size);

/* Cleans any bytes as bytes_name() does, then escapes them. */
void markup_foreign(struct bytes *bytes, const char *text);

/* "1,234,567" */
void markup_count(struct bytes *bytes, uint64_t count);
/* A number that is not negative, with up to three decimals and no trailing zeros. */
void markup_number(struct bytes *bytes, double number);
/* The share in percent, "4.50"; "0.00" if the whole is 0. */
void markup_percent(struct bytes *bytes, double part, double whole);

#endif
