/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The display options of the commands, for the formats.
 */
#ifndef STACKTALLY_VIEW_REPORT_OPTIONS_H
#define STACKTALLY_VIEW_REPORT_OPTIONS_H

#include <stdbool.h>

#include "view/frame_filter.h"
#include "view/profile.h"
#include "view/scale.h"

enum report_layout {
	REPORT_LAYOUT_PROFILE,	  /* the multi-line layout of bcc's profile */
	REPORT_LAYOUT_STACKCOUNT, /* that of bcc's stackcount */
};

/* --label: what is known of all samples. */
struct report_label {
	const char *key, *value;
};

struct report_options {
	enum report_layout layout;
	bool delimited;		/* -d */
	bool annotations;	/* -a: _[k] on kernel frames */
	bool offset;		/* -s */
	bool address;		/* -A (profile's form) */
	bool verbose_address;	/* stackcount -v: a bare address column */
	bool by_address;	/* --by-address */
	bool per_process;	/* comm and tgid are shown (profile: always; stackcount -P) */
	bool hide_process_line; /* stackcount -p: counted by process, comm line not printed */
	bool per_thread;	/* --per-thread */
	bool show_cgroup;
	bool lines;		     /* --lines */
	bool user_only, kernel_only; /* -U, -K */
	bool bare_unknown; /* --unknown: [unknown] in place of [FILE+0xSTART], as bcc has it */
	bool by_comm; /* processes of one comm are one: for --diff, and where ids are not known */
	enum scale_how diff_scale;	   /* --diff-raw, --diff-share */
	const struct frame_filter *filter; /* what is left out of stacks; NULL: nothing */
	const char *caption; /* --title: of pages and pictures; NULL: the command line */
	/* For tables: */
	uint32_t rows;	     /* -n; 0: as many as the format likes */
	const char *columns; /* --columns; NULL: the usual ones */
	const char *sort;    /* --sort; NULL: the usual order */
	/* For engines that store profiles of many machines: */
	bool by_service; /* samples have the labels of their service (service.h), and `labels` */
	bool no_labels; /* --no-labels: samples have no labels of their own, nor of their service */
	bool no_names;	/* --no-names: of code in files, addresses only */
	const struct report_label *labels;
	uint32_t n_labels;
};

/* The PROFILE_VIEW_* flags of what no format shows with these options. */
static inline uint32_t report_options_hidden(const struct report_options *options)
{
	return (options->user_only ? PROFILE_VIEW_NO_KERNEL : 0) |
	       (options->kernel_only ? PROFILE_VIEW_NO_USER : 0) |
	       (options->bare_unknown ? PROFILE_VIEW_NO_IDENTITY : 0);
}

#endif
