/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct perf_script, and what perf_script*.c share: perf_script.c is the writer and its head,
 * perf_script_record.c the text of a record.
 */
#ifndef STACKTALLY_REPORT_PERF_SCRIPT_INTERNAL_H
#define STACKTALLY_REPORT_PERF_SCRIPT_INTERNAL_H

#include "report/writer.h"
#include "view/frame_text.h"
#include "view/stack_list.h"
#include "view/timed_samples.h"

struct perf_script {
	const struct profile *profile;
	struct timed_samples samples;
	struct frame_texts frames;
	struct bytes bytes;
	struct bytes event; /* its name, as one word */
	uint32_t list[STACK_LIST_MAX];
};

/* ---- perf_script_record.c ---- */

/* Appends a name without the blanks and parentheses at which readers split. */
void perf_script_put_word(struct bytes *bytes, const char *word);

/* Makes the line of each frame, once. 0 or -ENOMEM. */
int perf_script_make_frames(struct perf_script *script);

/* Writes a record; `at` in seconds since the start. */
void perf_script_put_record(struct perf_script *script, const struct tally_entry *entry, double at);

#endif
