/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a recording that tells when its entries were counted: a timeline. */
#ifndef STACKTALLY_RECORDING_TIMES_H
#define STACKTALLY_RECORDING_TIMES_H

#include "recording/reader.h"
#include "recording/section_writer.h"
#include "tally/timeline.h"

/* Writes the sections of the timeline, which tells all of its tally. */
void times_save(const struct timeline *timeline, struct section_writer *writer);

/* The timeline so far, which the caller owns, and what is needed to read on. */
struct times_loading {
	struct timeline *timeline;	/* most_rows is TIMELINE_ROWS */
	const struct tally *tally;	/* complete */
	struct timeline_count *counted; /* of each entry, in slices so far */
	uint32_t rows;			/* of the slice that is not complete */
};

void times_loading_clear(struct times_loading *loading);

/* Reads an item of RECORDING_SLICES: a slice or a row of it. Failures are the reader's. */
void times_load_slice(struct times_loading *loading, struct reader *reader);
/* Reads RECORDING_BINS. */
void times_load_bins(struct times_loading *loading, struct reader *reader);
/* After all slices, if there are any: fails unless they have all that was counted. */
void times_check(const struct times_loading *loading, struct reader *reader);

#endif
