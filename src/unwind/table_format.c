// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of a file of the cache, in the byte order of the machine: a header; rules; the rows'
 * addresses; the rows' rules.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <zlib.h>

#include "unwind/table_cache.h"

#define MAGIC "sttable\n"

struct header {
	char magic[8];
	uint32_t version;
	uint32_t checksum; /* CRC-32 of the whole file, this being 0 */
	struct table_identity identity;
	uint32_t n_rules, n_rows;
	struct unwind_counts counts;
};

_Static_assert(sizeof(struct table_identity) == 56, "no padding");
_Static_assert(sizeof(struct header) == 80 + sizeof(struct unwind_counts), "no padding");

struct parts {
	const struct wire_rule *rules;
	const uint32_t *addresses;
	const uint16_t *numbers;
};

static bool is_rule(const struct wire_rule *rule)
{
	return rule->cfa <= WIRE_CFA_UNSUPPORTED && rule->fp <= WIRE_FP_UNSUPPORTED &&
	       WIRE_RULE_RA(rule) <= WIRE_RA_UNSUPPORTED &&
	       (rule->ra & ~0xf & ~WIRE_RULE_FLAGS) == 0 && rule->reg < WIRE_N_REGISTERS &&
	       (rule->fp != WIRE_FP_REG ||
		(rule->fp_offset >= 0 && rule->fp_offset < WIRE_N_REGISTERS));
}

/* Checks all sizes, so that what the parts point to is there. */
static bool divide(const void *bytes, size_t size, struct parts *ret_parts)
{
	const struct header *header = bytes;
	const uint8_t *at = (const uint8_t *)bytes + sizeof(*header);
	uint64_t wanted = sizeof(*header);

	if (size < sizeof(*header) || memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0 ||
	    header->version != TABLE_CACHE_VERSION)
		return false;
	if (header->n_rules > WIRE_MAX_RULES || header->n_rows > UNWIND_MAX_ROWS)
		return false;
	wanted += (uint64_t)header->n_rules * sizeof(struct wire_rule) +
		  (uint64_t)header->n_rows * (sizeof(uint32_t) + sizeof(uint16_t));
	if (wanted != size)
		return false;
	ret_parts->rules = (const void *)at;
	at += (size_t)header->n_rules * sizeof(struct wire_rule);
	ret_parts->addresses = (const void *)at;
	at += (size_t)header->n_rows * sizeof(uint32_t);
	ret_parts->numbers = (const void *)at;
	return true;
}

static bool is_whole(const void *bytes, size_t size)
{
	struct header header;
	uLong crc;

	memcpy(&header, bytes, sizeof(header));
	header.checksum = 0;
	crc = crc32_z(0, (const Bytef *)&header, sizeof(header));
	crc = crc32_z(crc, (const Bytef *)bytes + sizeof(header), size - sizeof(header));
	return crc == ((const struct header *)bytes)->checksum;
}

static bool take_rules(const struct header *header, const struct wire_rule *rules,
		       struct rule_book *book, uint16_t *numbers)
{
	for (uint32_t i = 0; i < header->n_rules; i++) {
		if (!is_rule(&rules[i]))
			return false;
		numbers[i] = rule_book_add(book, &rules[i]);
	}
	return true;
}

static bool take_rows(const struct header *header, const struct parts *parts,
		      const uint16_t *numbers, struct unwind_row *rows)
{
	for (uint32_t i = 0; i < header->n_rows; i++) {
		if (parts->numbers[i] >= header->n_rules ||
		    (i && parts->addresses[i] <= parts->addresses[i - 1]))
			return false;
		rows[i] = (struct unwind_row){ parts->addresses[i], numbers[parts->numbers[i]] };
	}
	return true;
}

int table_cache_parse(const void *bytes, size_t size, const struct table_identity *identity,
		      struct rule_book *book, struct unwind_rows *ret_rows)
{
	const struct header *header = bytes;
	own(own_free) uint16_t *numbers = NULL;
	own(own_free) struct unwind_row *rows = NULL;
	struct parts parts;

	if (!divide(bytes, size, &parts) || !is_whole(bytes, size) ||
	    memcmp(&header->identity, identity, sizeof(*identity)) != 0)
		return -EBADMSG;
	numbers = calloc(header->n_rules + 1, sizeof(*numbers));
	rows = malloc((header->n_rows + (size_t)1) * sizeof(*rows));
	if (!numbers || !rows)
		return -ENOMEM;
	if (!take_rules(header, parts.rules, book, numbers) ||
	    !take_rows(header, &parts, numbers, rows))
		return -EBADMSG;
	*ret_rows = (struct unwind_rows){ .n = header->n_rows, .counts = header->counts };
	ret_rows->rows = take_ptr(rows);
	return 0;
}

int table_cache_format(const struct table_identity *identity, const struct rule_book *book,
		       const struct unwind_rows *rows, void **ret_bytes, size_t *ret_size)
{
	struct header header = { .version = TABLE_CACHE_VERSION,
				 .identity = *identity,
				 .n_rows = rows->n,
				 .counts = rows->counts };
	const struct wire_rule *rules = rule_book_rules(book, &header.n_rules);
	uint8_t *bytes, *at;
	size_t size;

	memcpy(header.magic, MAGIC, sizeof(header.magic));
	size = sizeof(header) + (size_t)header.n_rules * sizeof(*rules) +
	       (size_t)rows->n * (sizeof(uint32_t) + sizeof(uint16_t));
	bytes = calloc(1, size);
	if (!bytes)
		return -ENOMEM;
	at = bytes + sizeof(header);
	memcpy(at, rules, header.n_rules * sizeof(*rules));
	at += header.n_rules * sizeof(*rules);
	for (uint32_t i = 0; i < rows->n; i++, at += sizeof(uint32_t))
		memcpy(at, &rows->rows[i].address, sizeof(uint32_t));
	for (uint32_t i = 0; i < rows->n; i++, at += sizeof(uint16_t))
		memcpy(at, &rows->rows[i].rule, sizeof(uint16_t));
	memcpy(bytes, &header, sizeof(header));
	header.checksum = (uint32_t)crc32_z(0, bytes, size);
	memcpy(bytes, &header, sizeof(header));
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}
