// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/page_files.h"

#include <page_hashes.h> /* made by the Makefile */

/* The assembler looks from where make runs: the top directory. The Makefile knows what to watch. */
#define PAGE_FILE(name, file)                                                                      \
	extern const char name##_start[], name##_end[];                                            \
	__asm__(".pushsection .rodata\n" #name "_start:\n\t.incbin \"" file "\"\n" #name           \
		"_end:\n\t.byte 0\n\t.popsection\n");                                              \
	struct page_file page_file_##name(void)                                                    \
	{                                                                                          \
		return (struct page_file){ name##_start, (size_t)(name##_end - name##_start) };    \
	}

PAGE_FILE(svg_css, "src/show/flame/page/svg.css")
PAGE_FILE(label_js, "src/show/flame/page/label.js")
PAGE_FILE(svg_js, "src/show/flame/page/svg.js")
PAGE_FILE(page_css, "src/show/flame/page/page.css")
PAGE_FILE(page_html, "src/show/flame/page/page.html")
PAGE_FILE(page_js, PAGE_JS_PATH)
