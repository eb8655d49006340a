// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "symbolize/inlines_internal.h"

#define MAX_BYTES  (1ull << 28) /* of strings, for all files together */
#define END_NUMBER UINT32_MAX	/* in place of a query: the end */
#define NO_STRING  UINT32_MAX	/* in place of a size: NULL */

/* One frame; the bytes of the strings follow. */
struct sent_frame {
	uint32_t sizes[3]; /* of name, linkage name, file */
	uint32_t line;
};

struct sent_chain {
	uint32_t query;
	uint32_t n; /* of the frames that follow; 0: the previous chain again */
};

static void send_frame(const struct byte_sink *sink, const struct inline_frame *frame)
{
	const char *strings[] = { frame->name, frame->linkage_name, frame->file };
	struct sent_frame sent = { .line = frame->line };

	for (int i = 0; i < 3; i++) {
		size_t size = strings[i] ? strnlen(strings[i], DEMANGLE_SIZE) : 0;

		sent.sizes[i] = strings[i] ? (uint32_t)size : NO_STRING;
	}
	sink_write(sink, &sent, sizeof(sent));
	for (int i = 0; i < 3; i++) {
		if (strings[i])
			sink_write(sink, strings[i], sent.sizes[i]);
	}
}

void inlines_send(const struct byte_sink *sink, const struct inlines *inlines, uint32_t query,
		  uint32_t chain, bool again)
{
	const struct inline_chain *from = inlines_chain(inlines, chain);
	const struct sent_chain sent = { query, again ? 0 : from->n };

	sink_write(sink, &sent, sizeof(sent));
	for (uint32_t i = 0; i < sent.n; i++)
		send_frame(sink, &inlines_frames(inlines, from)[i]);
}

void inlines_send_end(const struct byte_sink *sink, const struct inlines *inlines)
{
	const struct sent_chain sent = { END_NUMBER, inlines->n_missing };
	const struct inline_frame missing = { .file = inlines->missing };

	sink_write(sink, &sent, sizeof(sent));
	if (inlines->n_missing)
		send_frame(sink, &missing);
}

static int receive_string(struct inlines *inlines, const struct byte_source *source, uint32_t size,
			  const char **ret_string)
{
	int r;

	if (size > DEMANGLE_SIZE || size > MAX_BYTES - inlines->received)
		return -EPROTO;
	inlines->received += size;
	r = source_read(source, inlines->text, size);
	if (r < 0)
		return r;
	if (memchr(inlines->text, '\0', size))
		return -EPROTO;
	*ret_string = pool_string_n(inlines->pool, inlines->text, size);
	return *ret_string ? 0 : -ENOMEM;
}

static int receive_frame(struct inlines *inlines, const struct byte_source *source,
			 struct inline_frame *frame)
{
	const char **strings[] = { &frame->name, &frame->linkage_name, &frame->file };
	struct sent_frame sent;
	int r = source_read(source, &sent, sizeof(sent));

	if (r < 0)
		return r;
	for (int i = 0; i < 3; i++) {
		if (sent.sizes[i] == NO_STRING)
			continue;
		r = receive_string(inlines, source, sent.sizes[i], strings[i]);
		if (r < 0)
			return r;
	}
	frame->line = sent.line;
	return 0;
}

/* Replaces `*last`, the previous chain, unless `n` is 0. */
static int receive_chain(struct inlines *inlines, const struct byte_source *source, uint32_t n,
			 uint32_t *last)
{
	struct inline_frame frames[INLINES_MAX_DEPTH] = { 0 };

	if (n > INLINES_MAX_DEPTH || (n == 0 && *last == QUERY_NO_CHAIN))
		return -EPROTO;
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		int r = receive_frame(inlines, source, &frames[i]);

		if (r < 0)
			return r;
	}
	return inlines_add_chain(inlines, frames, n, last);
}

static int receive_missing(struct inlines *inlines, const struct byte_source *source, uint32_t n)
{
	struct inline_frame missing = { 0 };
	int r = n ? receive_frame(inlines, source, &missing) : 0;

	if (r < 0 || !n)
		return r;
	inlines->n_missing =
		n < UINT32_MAX - inlines->n_missing ? inlines->n_missing + n : UINT32_MAX;
	if (!inlines->missing)
		inlines->missing = missing.file;
	return 0;
}

int inlines_receive(struct inlines *inlines, const struct byte_source *source,
		    struct symbol_query *queries, size_t n)
{
	uint32_t last = QUERY_NO_CHAIN;

	for (;;) {
		struct sent_chain sent;
		int r = source_read(source, &sent, sizeof(sent));

		if (r < 0)
			return r;
		if (sent.query == END_NUMBER)
			return receive_missing(inlines, source, sent.n);
		/* One chain for each query at most, which bounds their number. */
		if (sent.query >= n || queries[sent.query].chain != QUERY_NO_CHAIN)
			return -EPROTO;
		r = receive_chain(inlines, source, sent.n, &last);
		if (r < 0)
			return r;
		queries[sent.query].chain = last;
	}
}
