/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of report/page/, as they are: they are part of the program.
 */
#ifndef STACKTALLY_FLAME_PAGE_FILES_H
#define STACKTALLY_FLAME_PAGE_FILES_H

#include <stddef.h>

struct page_file {
	const char *start;
	size_t size;
};

struct page_file page_file_svg_css(void);
struct page_file page_file_svg_js(void);
struct page_file page_file_page_css(void);
struct page_file page_file_page_html(void); /* <body> and what is in it, not its end */
struct page_file page_file_page_js(void);

#endif
