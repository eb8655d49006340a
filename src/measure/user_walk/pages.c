// SPDX-License-Identifier: GPL-2.0-or-later
#include "user_walk/pages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE	4096u
#define N_PAGES 128u /* each has one place, by its number */

struct page {
	uint64_t address;
	bool is_set, is_there; /* asked about; readable */
	unsigned char bytes[PAGE];
};

struct pages {
	struct remote_memory *memory;
	pid_t tgid, tid;
	struct page list[N_PAGES];
};

int pages_new(struct remote_memory *memory, struct pages **ret_pages)
{
	struct pages *pages = calloc(1, sizeof(*pages));

	if (!pages)
		return -ENOMEM;
	pages->memory = memory;
	*ret_pages = pages;
	return 0;
}

void pages_free(struct pages *pages)
{
	free(pages);
}

void pages_begin(struct pages *pages, pid_t tgid, pid_t tid)
{
	pages->tgid = tgid;
	pages->tid = tid;
	for (uint32_t i = 0; i < N_PAGES; i++)
		pages->list[i].is_set = false;
}

/* The page that begins at the address; NULL: it cannot be read. */
static const struct page *page_at(struct pages *pages, uint64_t address)
{
	struct page *page = &pages->list[address / PAGE % N_PAGES];

	if (!page->is_set || page->address != address) {
		const struct remote_place from = { pages->tgid, pages->tid, address };

		page->address = address;
		page->is_set = true;
		page->is_there =
			remote_memory_read(pages->memory, &from, page->bytes, PAGE) == PAGE;
	}
	return page->is_there ? page : NULL;
}

int pages_read(struct pages *pages, void *to, size_t size, uint64_t address)
{
	unsigned char *bytes = to;

	while (size > 0) {
		size_t at = address % PAGE, n = size < PAGE - at ? size : PAGE - at;
		const struct page *page = page_at(pages, address - at);

		if (!page)
			return -1;
		memcpy(bytes, page->bytes + at, n);
		bytes += n;
		address += n;
		size -= n;
	}
	return 0;
}
