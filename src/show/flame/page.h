/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML page that shows flame graphs, and the format of its data. A report is a file with both
 * (report/html.c); a server sends the page once and new data again and again.
 *
 * The data is a block of bytes. The page's load(block) shows it; update(block) replaces the data
 *and keeps zoom, search, filters and selection, because it identifies frames by name and module.
 *
 *	"STF1"
 *	size, JSON	{"title","subtitle","unit","facts":[[name,text],...],"compare":bool,
 *			 "shares":bool,"baseScale":n,"minimum":n,"leftOut":n,
 *			 "start":time, if known,"sampleNs":what a count of one stands for, or 0,
 *			 "spanMs":of the time that is shown, or 0,
 *			 "ofAll":whether all threads were measured}, UTF-8
 *	n, strings	each: size, UTF-8 without control characters
 *	n, frames	each: name (a string's index), module (a string's index), kind (enum
 *			flame_kind, plus 128 on the kernel's side and
 *			256 times enum frame_interest), and of FLAME_WHO: tgid, tid;
 *			in the order of siblings; frame 0 is the root
 *	n, then columns of one number for each node, in preorder, the root first:
 *	  steps		not for the root: how many steps the parent is above the node before;
 *			0: that node is the parent
 *	  frames	not for the root: the frame of a first child; for others the frame minus
 *			that of the sibling before (never negative)
 *	  rests		the node's total minus the totals of its children in the block
 *	  hidden	0, or 1 and a column: the part of the rest that belongs to children that
 *			were left out (the other part is the node's own)
 *	  base		0, or 1 and again rests and hidden, of the tree it is compared with
 *	0, or 1 and when it was counted:
 *	n, seconds	each: begin (ms since the end of the one before, or since the start),
 *			length (ms), n, counts, each: twice the number of a node, and 1 more if it
 *			is of children that were left out, as the difference to the one before; the
 *			count. Of each node, all counts add up to its rest
 *	bins		their length in ms, n, the events of whatever stack in each
 *
 * All numbers are unsigned LEB128: seven bits a byte, the lowest first, the top bit says that more
 * follow.
 */
#ifndef STACKTALLY_FLAME_PAGE_H
#define STACKTALLY_FLAME_PAGE_H

#include "base/bytes.h"
#include "flame/flame_tree.h"
#include "tally/timeline.h"
#include "view/profile.h"

struct page_options {
	bool shares;	   /* compare shares of the totals, not counts */
	double base_scale; /* else: counts that equal one of the base */

	/* For page_data() only: when the profile was counted; the tree has leaf_of. Or NULL. */
	const struct timeline *timeline;

	/* For page_head() only; page_data() takes them from the tree. */
	bool compare;
	uint64_t minimum, left_out; /* as in struct flame_tree */
};

/* Appends the JSON of a block. */
void page_head(const struct profile *profile, const struct page_options *options,
	       struct bytes *json);

/*
 * Appends a block: the facts of `profile` and the tree, which need not be of that profile's
 * entries. 0 or -ENOMEM.
 */
int page_data(const struct profile *profile, const struct flame_frames *frames,
	      const struct flame_tree *tree, const struct page_options *options,
	      struct bytes *bytes);

/* Appends an HTML file that shows the block and loads nothing else. 0 or -ENOMEM. */
int page_file(const char *data, size_t size, struct bytes *bytes);

/*
 * Appends the page for a server, without data. After its own it loads the style sheet and the
 * script of these URLs, which are not escaped; the script can use the page's object `stacktally`.
 * The server must send page_policy() as Content-Security-Policy.
 */
void page_shell(const char *style_url, const char *script_url, struct bytes *bytes);
const char *page_policy(void);

#endif
