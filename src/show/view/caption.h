/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The title of a flame graph: command line and event, so that windows of several are told apart.
 * The line below it: host, kernel, time, duration, samples.
 */
#ifndef STACKTALLY_VIEW_CAPTION_H
#define STACKTALLY_VIEW_CAPTION_H

#include "base/bytes.h"
#include "view/profile.h"

/* Both append untrusted text, which the caller must escape (view/markup.h). */
void caption_title(struct bytes *bytes, const struct profile *profile);
void caption_subtitle(struct bytes *bytes, const struct profile *profile);

/*
 * Cuts "... Hit Ctrl-C to end." off the title of a text report: it is for those who wait, not for
 * files.
 */
void caption_end_title(char *title);

#endif
