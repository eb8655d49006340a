/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of flame/page/, embedded in the program. Not NUL-terminated.
 */
#ifndef STACKTALLY_FLAME_PAGE_FILES_H
#define STACKTALLY_FLAME_PAGE_FILES_H

#include <stddef.h>

struct page_file {
	const char *start;
	size_t size;
};

struct page_file page_file_svg_css(void);
struct page_file page_file_svg_js(void); /* after label_js */
struct page_file page_file_label_js(void);
struct page_file page_file_page_css(void);
struct page_file page_file_page_html(void); /* from <body> on, without </body> */
struct page_file page_file_page_js(void);

#endif
