/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* What languages are told of the frame that a walk has left (languages/hooks.bpf.h). */
#ifndef STACKTALLY_LANGUAGES_LEFT_FRAME_BPF_H
#define STACKTALLY_LANGUAGES_LEFT_FRAME_BPF_H

#include <stdbool.h>

#include <linux/types.h>

struct left_frame {
	__u64 into; /* where its code is in the evaluator, if less than that's size */
	__u64 sp, fp;
	bool own; /* the step from it was the language's own */
};

/* What becomes of an evaluator's frame where runs have no anchors. */
enum evaluated {
	EVALUATED_RUN,	   /* it gets the next run, or a frame that says that there is none */
	EVALUATED_BEFORE,  /* it belongs to the call before, and is left out */
	EVALUATED_BETWEEN, /* it has no run: before its first function, or after the last */
};

#endif
