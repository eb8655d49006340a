/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to show a profile: what the display options of the commands come down to.
 */
#ifndef STACKTALLY_VIEW_REPORT_OPTIONS_H
#define STACKTALLY_VIEW_REPORT_OPTIONS_H

#include <stdbool.h>

enum report_layout {
	REPORT_LAYOUT_PROFILE,	  /* the multi-line layout of bcc's profile */
	REPORT_LAYOUT_STACKCOUNT, /* that of stackcount */
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
	bool diff;	  /* --diff: there is a profile->base; processes are one a comm */
	bool diff_counts; /* --diff-raw: counts as they are, not as shares of each total */
};

#endif
