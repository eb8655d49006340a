/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of --dump: a line for each thread, and its stack; threads of a process that are at the
 * same place have one stack together.
 */
#ifndef STACKTALLY_REPORT_THREADS_TEXT_H
#define STACKTALLY_REPORT_THREADS_TEXT_H

#include "base/bytes.h"
#include "view/frame_text.h"
#include "view/profile.h"

/* The profile has `meta->threads`. 0 or a negative errno. */
int threads_text_put(const struct profile *profile, const struct frame_texts *frames,
		     const char *indent, struct bytes *bytes);

#endif
