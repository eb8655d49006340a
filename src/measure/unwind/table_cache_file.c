// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of a file of the cache, in the machine's byte order: struct header; rules; addresses
 * of the rows; indices of the rows' rules.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "unwind/table_cache_internal.h"

#define MAGIC "sttable\n"

struct header {
	char magic[8];
	uint32_t version;
	uint32_t checksum; /* CRC-32 of the whole file with this as 0 */
	struct table_identity identity;
	uint32_t n_rules, n_rows;
	struct unwind_counts counts;
};

_Static_assert(sizeof(struct table_identity) == 56, "no padding");
_Static_assert(sizeof(struct header) == 80 + sizeof(struct unwind_counts), "no padding");

/* Bytes that are read piece by piece, through one buffer. */
struct reading {
	const struct byte_source *source;
	uLong crc; /* of the bytes read so far */
	uint8_t piece[32768];
};

/* Reads the next bytes, at most a piece; valid until the next call. NULL: they cannot be read. */
static const void *next_bytes(struct reading *reading, size_t size)
{
	if (source_read(reading->source, reading->piece, size) < 0)
		return NULL;
	reading->crc = crc32_z(reading->crc, reading->piece, size);
	return reading->piece;
}

/* How many of `left` elements of `size` bytes the next piece has. */
static uint32_t in_piece(const struct reading *reading, uint32_t left, size_t size)
{
	uint32_t most = (uint32_t)(sizeof(reading->piece) / size);

	return left < most ? left : most;
}

static bool is_rule(const struct wire_rule *rule)
{
	return rule->cfa <= WIRE_CFA_UNSUPPORTED && WIRE_RULE_FP(rule) <= WIRE_FP_UNSUPPORTED &&
	       WIRE_RULE_RA(rule) <= WIRE_RA_UNSUPPORTED &&
	       (rule->ra & ~0xf & ~WIRE_RULE_FLAGS) == 0 && rule->reg < WIRE_N_REGISTERS &&
	       (WIRE_RULE_FP(rule) != WIRE_FP_REG ||
		(rule->fp_offset >= 0 && rule->fp_offset < WIRE_N_REGISTERS));
}

/* Reads the header; false when it is not of this identity or does not fit the file's size. */
static bool take_header(struct reading *reading, size_t size, const struct table_identity *identity,
			struct header *header, uint32_t *ret_checksum)
{
	const void *bytes = size < sizeof(*header) ? NULL : next_bytes(reading, sizeof(*header));
	uint64_t wanted = sizeof(*header);

	if (!bytes)
		return false;
	memcpy(header, bytes, sizeof(*header));
	if (memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0 ||
	    header->version != TABLE_CACHE_VERSION ||
	    memcmp(&header->identity, identity, sizeof(*identity)) != 0 ||
	    header->n_rules > WIRE_MAX_RULES || header->n_rows > UNWIND_MAX_ROWS)
		return false;
	wanted += (uint64_t)header->n_rules * sizeof(struct wire_rule) +
		  (uint64_t)header->n_rows * (sizeof(uint32_t) + sizeof(uint16_t));
	*ret_checksum = header->checksum;
	header->checksum = 0;
	reading->crc = crc32_z(0, (const Bytef *)header, sizeof(*header));
	return wanted == size;
}

static bool take_rules(struct reading *reading, uint32_t n, struct rule_table *rules,
		       uint16_t *numbers)
{
	for (uint32_t done = 0; done < n;) {
		uint32_t some = in_piece(reading, n - done, sizeof(struct wire_rule));
		const struct wire_rule *read = next_bytes(reading, some * sizeof(*read));

		for (uint32_t i = 0; i < some; i++) {
			if (!read || !is_rule(&read[i]))
				return false;
			numbers[done + i] = rule_table_add(rules, &read[i]);
		}
		done += some;
	}
	return true;
}

static bool take_addresses(struct reading *reading, uint32_t n, struct unwind_row *rows)
{
	for (uint32_t done = 0; done < n;) {
		uint32_t some = in_piece(reading, n - done, sizeof(uint32_t));
		const uint32_t *addresses = next_bytes(reading, some * sizeof(*addresses));

		for (uint32_t i = 0; i < some; i++, done++) {
			if (!addresses || (done && addresses[i] <= rows[done - 1].address))
				return false;
			rows[done].address = addresses[i];
		}
	}
	return true;
}

static bool take_numbers(struct reading *reading, const struct header *header,
			 const uint16_t *numbers, struct unwind_row *rows)
{
	for (uint32_t done = 0; done < header->n_rows;) {
		uint32_t some = in_piece(reading, header->n_rows - done, sizeof(uint16_t));
		const uint16_t *of_file = next_bytes(reading, some * sizeof(*of_file));

		for (uint32_t i = 0; i < some; i++, done++) {
			if (!of_file || of_file[i] >= header->n_rules)
				return false;
			rows[done].rule = numbers[of_file[i]];
		}
	}
	return true;
}

int table_cache_content_read(const struct byte_source *source, size_t size,
			     const struct table_identity *identity, struct rule_table *rules,
			     struct unwind_rows *ret_rows)
{
	own(own_free) struct reading *reading = malloc(sizeof(*reading));
	own(own_free) uint16_t *numbers = NULL;
	own(own_free) struct unwind_row *rows = NULL;
	struct header header;
	uint32_t checksum;

	if (!reading)
		return -ENOMEM;
	reading->source = source;
	if (!take_header(reading, size, identity, &header, &checksum))
		return -EBADMSG;
	numbers = calloc(header.n_rules + 1, sizeof(*numbers));
	rows = malloc((header.n_rows + (size_t)1) * sizeof(*rows));
	if (!numbers || !rows)
		return -ENOMEM;
	if (!take_rules(reading, header.n_rules, rules, numbers) ||
	    !take_addresses(reading, header.n_rows, rows) ||
	    !take_numbers(reading, &header, numbers, rows) || reading->crc != checksum)
		return -EBADMSG;
	*ret_rows = (struct unwind_rows){ .n = header.n_rows, .counts = header.counts };
	ret_rows->rows = take_ptr(rows);
	return 0;
}

static int read_fd(void *context, void *bytes, size_t size)
{
	const int *fd = context;
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(*fd, (char *)bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		done += (size_t)n;
	}
	return 0;
}

int table_cache_file_read(int fd, size_t size, const struct table_identity *identity,
			  struct rule_table *rules, struct unwind_rows *ret_rows)
{
	const struct byte_source source = { read_fd, &fd };

	return table_cache_content_read(&source, size, identity, rules, ret_rows);
}

int table_cache_file_format(const struct table_identity *identity, const struct rule_table *rules,
			    const struct unwind_rows *rows, void **ret_bytes, size_t *ret_size)
{
	struct header header = { .version = TABLE_CACHE_VERSION,
				 .identity = *identity,
				 .n_rows = rows->n,
				 .counts = rows->counts };
	const struct wire_rule *all = rule_table_rules(rules, &header.n_rules);
	uint8_t *bytes, *at;
	size_t size;

	memcpy(header.magic, MAGIC, sizeof(header.magic));
	size = sizeof(header) + (size_t)header.n_rules * sizeof(*all) +
	       (size_t)rows->n * (sizeof(uint32_t) + sizeof(uint16_t));
	bytes = calloc(1, size);
	if (!bytes)
		return -ENOMEM;
	at = bytes + sizeof(header);
	memcpy(at, all, header.n_rules * sizeof(*all));
	at += header.n_rules * sizeof(*all);
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
