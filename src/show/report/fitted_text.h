/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text in the columns of a terminal: cut or filled to a width in cells, as characters may take two.
 */
#ifndef STACKTALLY_REPORT_FITTED_TEXT_H
#define STACKTALLY_REPORT_FITTED_TEXT_H

#include <stdint.h>

#include "base/bytes.h"

/* Cells that clean UTF-8 text takes. */
uint32_t fitted_width(const char *text, size_t size);

/*
 * Appends untrusted text, cleaned, in at most `width` cells (0: no limit). A name of a function
 * that is too long loses its arguments, then its templates; what is still too long is cut, with
 * ".." at its end. Returns the cells it took.
 */
uint32_t fitted_put(struct bytes *bytes, const char *text, uint32_t width);

/* The same, filled with blanks up to `width`. */
void fitted_fill(struct bytes *bytes, const char *text, uint32_t width);

#endif
