/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queries of a lookup on their way to a confined child, and their answers on the way back.
 * Names are demangled in the child.
 */
#ifndef STACKTALLY_SYMBOLIZE_ANSWERS_H
#define STACKTALLY_SYMBOLIZE_ANSWERS_H

#include "base/byte_stream.h"
#include "base/pool.h"
#include "elf/symbol_query.h"

/*
 * Our end: the addresses of queries, as the bytes of a request, which the caller frees; NULL if
 * memory is short.
 */
uint64_t *answers_addresses(const struct symbol_query *queries, size_t n);
/* The child's end: queries for addresses. NULL if memory is short. */
struct symbol_query *answers_queries(const uint64_t *addresses, size_t n);

/* The child's end: sends the queries that have a name. 0 or -ENOMEM. */
int answers_send(const struct byte_sink *sink, const struct symbol_query *queries, size_t n);

/*
 * Our end, which does not trust the child. Sets `start`, `name` and `linkage_name` of the queries
 * that have an answer. 0; -EPROTO: the child sent something else than answers_send() does; -ENOMEM;
 * or an error of the source. On failure, answers received before stand.
 */
int answers_receive(const struct byte_source *source, struct pool *pool,
		    struct symbol_query *queries, size_t n);

#endif
