// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "symbolize/inlines_internal.h"

#define MAX_BYTES  (1ull << 28) /* of strings, for all files together */
#define END_NUMBER UINT32_MAX	/* instead of a query: all was sent */
#define NO_STRING  UINT32_MAX	/* instead of a size: NULL */

/* One frame; the bytes of the strings follow. */
struct sent_frame {
	uint32_t sizes[3]; /* of name, linkage name, file */
	uint32_t line;
};

struct sent_chain {
	uint32_t query; /* ascending */
	uint32_t n;	/* frames, which follow; 0: the chain is the one before */
};

static void send_frame(FILE *output, const struct inline_frame *frame)
{
	const char *strings[] = { frame->name, frame->linkage_name, frame->file };
	struct sent_frame sent = { .line = frame->line };

	for (int i = 0; i < 3; i++) {
		size_t size = strings[i] ? strnlen(strings[i], DEMANGLE_SIZE) : 0;

		sent.sizes[i] = strings[i] ? (uint32_t)size : NO_STRING;
	}
	fwrite(&sent, sizeof(sent), 1, output);
	for (int i = 0; i < 3; i++) {
		if (strings[i])
			fwrite(strings[i], sent.sizes[i], 1, output);
	}
}

void inlines_send(FILE *output, const struct inlines *inlines, uint32_t query, uint32_t chain,
		  bool again)
{
	const struct inline_chain *from = inlines_chain(inlines, chain);
	const struct sent_chain sent = { query, again ? 0 : from->n };

	fwrite(&sent, sizeof(sent), 1, output);
	for (uint32_t i = 0; i < sent.n; i++)
		send_frame(output, &inlines_frames(inlines, from)[i]);
}

void inlines_send_end(FILE *output)
{
	const struct sent_chain sent = { END_NUMBER, 0 };

	fwrite(&sent, sizeof(sent), 1, output);
}

static int receive_string(struct inlines *inlines, struct confined *child, uint32_t size,
			  uint64_t end_ns, const char **ret_string)
{
	int r;

	if (size > DEMANGLE_SIZE || size > MAX_BYTES - inlines->received)
		return -EPROTO;
	inlines->received += size;
	r = confined_read(child, inlines->text, size, end_ns);
	if (r < 0)
		return r;
	if (memchr(inlines->text, '\0', size))
		return -EPROTO;
	*ret_string = pool_string_n(inlines->pool, inlines->text, size);
	return *ret_string ? 0 : -ENOMEM;
}

static int receive_frame(struct inlines *inlines, struct confined *child, uint64_t end_ns,
			 struct inline_frame *frame)
{
	const char **strings[] = { &frame->name, &frame->linkage_name, &frame->file };
	struct sent_frame sent;
	int r = confined_read(child, &sent, sizeof(sent), end_ns);

	if (r < 0)
		return r;
	for (int i = 0; i < 3; i++) {
		if (sent.sizes[i] == NO_STRING)
			continue;
		r = receive_string(inlines, child, sent.sizes[i], end_ns, strings[i]);
		if (r < 0)
			return r;
	}
	frame->line = sent.line;
	return 0;
}

/* `last`: the chain received last, which this one replaces. */
static int receive_chain(struct inlines *inlines, struct confined *child, uint32_t n,
			 uint64_t end_ns, uint32_t *last)
{
	struct inline_frame frames[INLINES_MAX_DEPTH] = { 0 };

	if (n > INLINES_MAX_DEPTH || (n == 0 && *last == QUERY_NO_CHAIN))
		return -EPROTO;
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		int r = receive_frame(inlines, child, end_ns, &frames[i]);

		if (r < 0)
			return r;
	}
	return inlines_add_chain(inlines, frames, n, last);
}

int inlines_receive(struct inlines *inlines, struct confined *child, struct symbol_query *queries,
		    size_t n, uint64_t end_ns)
{
	uint32_t last = QUERY_NO_CHAIN, next = 0;

	for (;;) {
		struct sent_chain sent;
		int r = confined_read(child, &sent, sizeof(sent), end_ns);

		if (r < 0)
			return r;
		if (sent.query == END_NUMBER)
			return 0;
		/* Numbers must ascend, which bounds how many there are. */
		if (sent.query < next || sent.query >= n)
			return -EPROTO;
		r = receive_chain(inlines, child, sent.n, end_ns, &last);
		if (r < 0)
			return r;
		queries[sent.query].chain = last;
		next = sent.query + 1;
	}
}
