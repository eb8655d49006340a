/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands above a picture: a title, and a line of where, when, how long and how much.
 */
#ifndef STACKTALLY_VIEW_CAPTION_H
#define STACKTALLY_VIEW_CAPTION_H

#include "base/bytes.h"
#include "view/profile.h"

/* Both append text that someone else may have chosen: to be cleaned and escaped. */
void caption_title(struct bytes *bytes, const struct profile *profile);
void caption_subtitle(struct bytes *bytes, const struct profile *profile);

/* "samples", or "events" where each of them was counted. */
const char *caption_unit(const struct profile *profile);

#endif
