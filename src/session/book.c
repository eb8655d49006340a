// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/book.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/own.h"
#include "bpf/stack_hash.h"
#include "kernel/tracepoint_frames.h"

_Static_assert((int)WIRE_N_ENDS == (int)TALLY_N_ENDS && (int)WIRE_END_JIT == (int)TALLY_END_JIT &&
		       (int)WIRE_END_NO_ROW == (int)TALLY_END_NO_ROW,
	       "the tally's ends are the kernel side's");

struct page {
	struct wire_hash hash;
	uint64_t cgroup;
	uint64_t first; /* into frames, of n_user */
	uint64_t first_kernel;
	uint64_t count;
	uint32_t tgid, tid;
	uint16_t n_kernel, n_user;
	uint16_t flags; /* enum wire_stack_flags */
	uint8_t end;	/* enum wire_end */
	bool wanted;
	char comm[WIRE_COMM_SIZE];
};

/* Processes, more or less, whose last page is remembered. */
#define LAST_PAGES 64u

struct book {
	struct book_options options;
	struct page *pages;
	uint32_t n_pages, pages_room;
	uint32_t *frames; /* of users, as address ids */
	uint64_t n_frames, frames_room;
	uint64_t *kernel; /* addresses */
	uint64_t n_kernel, kernel_room;
	struct index index;
	uint32_t last[LAST_PAGES]; /* pages; of processes by their ids */
};

int book_new(const struct book_options *options, struct book **ret_book)
{
	struct book *book = calloc(1, sizeof(*book));

	if (!book)
		return -ENOMEM;
	book->options = *options;
	*ret_book = book;
	return 0;
}

void book_free(struct book *book)
{
	if (!book)
		return;
	free(book->pages);
	free(book->frames);
	free(book->kernel);
	index_free(&book->index);
	free(book);
}

void book_clear(struct book *book)
{
	book->n_pages = 0;
	book->n_frames = 0;
	book->n_kernel = 0;
	index_free(&book->index);
}

void book_mark_images(const struct book *book, const struct tally *tally, uint32_t *images)
{
	for (uint64_t i = 0; i < book->n_frames; i++)
		images[tally_addresses(tally)[book->frames[i]].image] = 1;
}

int book_rebase(struct book *book, struct tally *tally, const struct tally_address *before,
		const uint32_t *images)
{
	for (uint64_t i = 0; i < book->n_frames; i++) {
		struct tally_address address = before[book->frames[i]];
		int r;

		address.image = images[address.image];
		r = tally_address(tally, &address, &book->frames[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

uint32_t book_n_stacks(const struct book *book)
{
	return book->n_pages;
}

static struct page *find(const struct book *book, const struct wire_hash *hash)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&book->index, hash->low, &cursor); at != INDEX_NONE;
	     at = index_next(&book->index, &cursor)) {
		struct page *page = &book->pages[at];

		if (page->hash.low == hash->low && page->hash.high == hash->high)
			return page;
	}
	return NULL;
}

/* What crossed must be what was hashed: a record that was mangled or forged is refused. */
static bool hash_is_true(const struct book *book, const struct wire_stack *stack, size_t size)
{
	struct wire_hash hash = { book->options.seed[0], book->options.seed[1] };
	const unsigned char *at = (const unsigned char *)stack + WIRE_HASH_FROM;

	for (size_t i = 0; i < (size - WIRE_HASH_FROM) / sizeof(uint64_t); i++) {
		uint64_t word;

		memcpy(&word, at + i * sizeof(word), sizeof(word));
		stack_hash_word(&hash, word);
	}
	stack_hash_finish(&hash);
	return hash.low == stack->hash.low && hash.high == stack->hash.high;
}

static int make_room(struct book *book, const struct wire_stack *stack)
{
	if (book->n_pages == book->pages_room) {
		uint32_t room = book->pages_room ? book->pages_room * 2 : 256;
		struct page *grown = reallocarray(book->pages, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		book->pages = grown;
		book->pages_room = room;
	}
	if (book->n_frames + stack->n_user > book->frames_room) {
		uint64_t room = (book->n_frames + stack->n_user) * 2;
		uint32_t *grown = reallocarray(book->frames, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		book->frames = grown;
		book->frames_room = room;
	}
	if (book->n_kernel + stack->n_kernel > book->kernel_room) {
		uint64_t room = (book->n_kernel + stack->n_kernel) * 2;
		uint64_t *grown = reallocarray(book->kernel, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		book->kernel = grown;
		book->kernel_room = room;
	}
	return 0;
}

/*
 * The frames of the process's page before: a stack mostly has its outer frames in common with the
 * one before, and those need not be looked for.
 */
struct known_frames {
	const uint32_t *end; /* behind the root */
	uint32_t n;
};

static struct known_frames known_frames(const struct book *book, uint32_t tgid)
{
	uint32_t last = book->last[tgid % LAST_PAGES];
	const struct page *page = last < book->n_pages ? &book->pages[last] : NULL;

	if (!page || !page->wanted)
		return (struct known_frames){ 0 };
	return (struct known_frames){ book->frames + page->first + page->n_user, page->n_user };
}

static bool is_known(const struct tally *tally, const struct known_frames *known,
		     uint32_t from_root, const struct tally_address *address, uint32_t *ret_id)
{
	const struct tally_address *there;

	if (from_root >= known->n)
		return false;
	*ret_id = *(known->end - 1 - from_root);
	there = &tally_addresses(tally)[*ret_id];
	return there->address == address->address && there->image == address->image &&
	       there->flags == address->flags;
}

/* User addresses into the tally. Leaves are instructions, all others return addresses. */
static int add_addresses(struct book *book, struct tally *tally, uint32_t image,
			 const uint64_t *addresses, uint32_t n, uint32_t tgid)
{
	const struct known_frames known = known_frames(book, tgid);

	for (uint32_t i = 0; i < n; i++) {
		struct tally_address address = {
			.address = addresses[i] & WIRE_FRAME_ADDRESS,
			.image = image,
			.flags = i == 0 ? TALLY_ADDRESS_EXACT : 0,
		};

		if (addresses[i] & WIRE_FRAME_EXACT)
			address.flags |= TALLY_ADDRESS_EXACT;
		if (addresses[i] & WIRE_FRAME_POINTER)
			address.flags |= TALLY_ADDRESS_CHAINED;
		uint32_t *id = &book->frames[book->n_frames];
		int r = is_known(tally, &known, n - 1 - i, &address, id)
				? 0
				: tally_address(tally, &address, id);

		if (r < 0)
			return r;
		book->n_frames++;
	}
	return 0;
}

static bool is_wanted(const struct book *book, const struct wire_stack *stack)
{
	char comm[WIRE_COMM_SIZE + 1] = "";

	memcpy(comm, stack->comm, WIRE_COMM_SIZE);
	return !book->options.name || fnmatch(book->options.name, comm, 0) == 0;
}

/* Lays down a page, to be found by its hash unless it has a count of its own. */
static int add_page(struct book *book, struct tally *tally, const struct wire_stack *stack,
		    const uint64_t *frames, uint64_t count)
{
	const uint64_t *user = frames + stack->n_kernel;
	bool wanted = is_wanted(book, stack);
	uint64_t addresses[WIRE_MAX_DEPTH];
	uint64_t first = book->n_frames;
	uint32_t image = IMAGE_NONE;
	struct page *page;
	int r = 0;

	for (uint32_t i = 0; i < stack->n_user; i++)
		addresses[i] = user[i] & WIRE_FRAME_ADDRESS;
	if (wanted && stack->n_user > 0)
		r = images_learn(book->options.images, (pid_t)stack->tgid, stack->image,
				 stack->time, addresses, stack->n_user, &image);
	if (r == 0 && wanted && stack->cgroup)
		r = images_learn_cgroup(book->options.images, stack->cgroup);
	if (r == 0 && wanted)
		r = add_addresses(book, tally, image, user, stack->n_user, stack->tgid);
	if (r == 0 && !count)
		r = index_add(&book->index, stack->hash.low, book->n_pages);
	if (r < 0) {
		book->n_frames = first;
		return r;
	}
	book->last[stack->tgid % LAST_PAGES] = book->n_pages;
	page = &book->pages[book->n_pages++];
	*page = (struct page){
		.hash = stack->hash,
		.cgroup = stack->cgroup,
		.first = first,
		.first_kernel = book->n_kernel,
		.count = count,
		.tgid = stack->tgid,
		.tid = stack->tid,
		.n_kernel = stack->n_kernel,
		.n_user = stack->n_user,
		.flags = stack->flags,
		.end = stack->end,
		.wanted = wanted,
	};
	memcpy(page->comm, stack->comm, sizeof(page->comm));
	if (wanted && stack->n_kernel) {
		memcpy(book->kernel + book->n_kernel, frames, stack->n_kernel * sizeof(*frames));
		book->n_kernel += stack->n_kernel;
	}
	return 0;
}

int book_record(struct book *book, struct tally *tally, const void *data, size_t size)
{
	const struct wire_stack *stack = data;
	const uint64_t *frames = (const uint64_t *)(stack + 1);
	int r;

	if (size < sizeof(*stack) || stack->n_kernel > WIRE_MAX_DEPTH ||
	    stack->n_user > WIRE_MAX_DEPTH || stack->end >= WIRE_N_ENDS ||
	    size != sizeof(*stack) + ((size_t)stack->n_kernel + stack->n_user) * sizeof(uint64_t))
		return -EPROTO;
	if (find(book, &stack->hash))
		return 0;
	if (!hash_is_true(book, stack, size))
		return -EPROTO;
	r = make_room(book, stack);
	return r < 0 ? r : add_page(book, tally, stack, frames, 0);
}

int book_add(struct book *book, struct tally *tally, const struct wire_stack *stack,
	     const uint64_t *frames, uint64_t count)
{
	int r = make_room(book, stack);

	return r < 0 || !count ? r : add_page(book, tally, stack, frames, count);
}

static uint32_t user_flags(const struct page *page)
{
	uint32_t flags = TALLY_STACK_ENDED(page->end);

	if (page->flags & WIRE_STACK_USER_CUT || page->end == WIRE_END_DEPTH)
		flags |= TALLY_STACK_CUT;
	if (page->flags & WIRE_STACK_ASSUMED)
		flags |= TALLY_STACK_ASSUMED;
	return flags;
}

/* The kernel stack, without what delivered the event, into the tally. */
static int add_kernel(const struct book *book, struct tally *tally, const struct page *page,
		      uint32_t *ret_stack)
{
	const uint64_t *frames = book->kernel + page->first_kernel;
	uint32_t flags = page->flags & WIRE_STACK_KERNEL_CUT ? TALLY_STACK_CUT : 0;
	uint32_t ids[WIRE_MAX_DEPTH], n = page->n_kernel, skipped = 0;

	if (book->options.tracepoint_frames)
		skipped = tracepoint_frames_count(book->options.tracepoint_frames, frames, n);
	n -= skipped;
	if (book->options.tracepoint_frames && n >= book->options.kernel_depth) {
		n = book->options.kernel_depth;
		flags = TALLY_STACK_CUT;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct tally_address address = {
			.address = frames[skipped + i],
			.image = TALLY_WORLD_KERNEL,
			/* Behind what delivers, also the leaf is where a call returns to. */
			.flags = skipped + i == 0 ? TALLY_ADDRESS_EXACT : 0,
		};
		int r = tally_address(tally, &address, &ids[i]);

		if (r < 0)
			return r;
	}
	return tally_stack(tally, ids, n, flags, ret_stack);
}

static int add_entry(const struct book *book, struct tally *tally, const struct page *page)
{
	struct tally_entry entry = {
		.count = page->count, .cgroup = page->cgroup, .tgid = page->tgid, .tid = page->tid
	};
	int r;

	memcpy(entry.comm, page->comm, sizeof(entry.comm));
	r = add_kernel(book, tally, page, &entry.kernel);
	if (r == 0)
		r = tally_stack(tally, book->frames + page->first, page->n_user, user_flags(page),
				&entry.user);
	if (r == 0)
		r = tally_add(tally, &entry);
	/* The tally counted what it had no room for. */
	return r == -ENOSPC ? 0 : r;
}

int book_count(struct book *book, const struct wire_hash *hash, uint64_t count)
{
	struct page *page = find(book, hash);

	if (!page)
		return -ENOENT;
	page->count += count;
	return 0;
}

int book_flush(struct book *book, struct tally *tally, uint64_t *ret_count, uint64_t *ret_unwanted)
{
	uint64_t count = 0, unwanted = 0;

	for (uint32_t i = 0; i < book->n_pages; i++) {
		const struct page *page = &book->pages[i];
		int r = page->count && page->wanted ? add_entry(book, tally, page) : 0;

		if (r < 0)
			return r;
		count += page->count;
		unwanted += page->wanted ? 0 : page->count;
	}
	*ret_count = count;
	*ret_unwanted = unwanted;
	return 0;
}
