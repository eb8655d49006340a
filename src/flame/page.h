/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page that shows flame graphs: its text, and the data it takes. A file is both in one
 * (html.c); a server sends the page once and then data again and again.
 *
 * Data is a block of bytes, which the page's load(block) shows from scratch and update(block)
 * shows in place of what it has, keeping zoom, search, filters and selection. Frames keep their
 * identity by what they are called, so blocks of different trees may follow each other.
 *
 *	"STF1"
 *	size, JSON	{"title","subtitle","unit","facts":[[name,text],...],"compare":bool,
 *			 "shares":bool,"minimum":n,"leftOut":n}, UTF-8
 *	n, strings	each: size, UTF-8 without control characters
 *	n, frames	each: name (a string's index), module (a string's index), kind (enum
 *			flame_kind, plus 16 on the kernel's side), and of FLAME_WHO: tgid, tid;
 *			in the order of siblings; frame 0 is the root
 *	n, then a column of n numbers each, for the nodes in preorder, the root first:
 *	  steps		of all but the root: how far back towards the root its parent is from
 *			the node before it; 0: that node is the parent
 *	  frames	of all but the root: of a first child its frame; of others the frame less
 *			that of the sibling before it (never negative)
 *	  rests		the node's total less the totals of the children that are here
 *	  hidden	0, or 1 and a column: the part of the rest that belongs to children that
 *			were left out (the other part is its own)
 *	  base		0, or 1 and again rests and hidden, of what it is compared with
 *
 * All numbers are unsigned LEB128: seven bits a byte, the lowest first, the top bit says that more
 * follow.
 */
#ifndef STACKTALLY_FLAME_PAGE_H
#define STACKTALLY_FLAME_PAGE_H

#include "base/bytes.h"
#include "flame/flame_tree.h"
#include "view/profile.h"

struct page_options {
	bool shares; /* in a comparison, both sides count for the same in all */

	/* For page_head() alone: page_data() sees them by the tree. */
	bool compare;
	uint64_t minimum, left_out; /* boxes of fewer samples, and how many of them */
};

/* Appends the JSON that a block has in front, as above. */
void page_head(const struct profile *profile, const struct page_options *options,
	       struct bytes *json);

/*
 * Appends a block. What `profile` says of the measurement goes along; its entries are not looked
 * at: the tree may be of any part of them, and compared with anything. 0 or -ENOMEM.
 */
int page_data(const struct profile *profile, const struct flame_frames *frames,
	      const struct flame_tree *tree, const struct page_options *options,
	      struct bytes *bytes);

/* Appends a file that shows the block, deflated: no network, no other file. 0 or -ENOMEM. */
int page_file(const char *data, size_t size, struct bytes *bytes);

/*
 * Appends the page for a server, without data: it loads the style sheet and runs the script of
 * these URLs (ours, not escaped) after its own; the script finds what the page's have, above all
 * `stacktally`. The page has no policy of its own; the server sends as Content-Security-Policy
 * what page_policy() returns: 'self' for those two and for connections.
 */
void page_shell(const char *style_url, const char *script_url, struct bytes *bytes);
const char *page_policy(void);

#endif
