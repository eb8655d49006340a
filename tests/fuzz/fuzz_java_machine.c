// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a process says of its Java virtual machine. The input is its memory: pieces, each with its
 * address and size, and 0 elsewhere. Exports are at fixed addresses, as in
 * tests/unit/test_java_machine.c.
 */
#include <stdlib.h>
#include <string.h>

#include "interpreters/java_machine.h"

#define MEMORY 0x40000

struct piece {
	uint32_t address;
	uint16_t size;
} __attribute__((packed));

static uint8_t bytes[MEMORY];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_bytes(void *data, void *to, size_t size, uint64_t address)
{
	(void)data;
	if (address >= MEMORY || size > MEMORY - address)
		return -1;
	memcpy(to, bytes + address, size);
	return 0;
}

static void fill(const uint8_t *data, size_t size)
{
	struct piece piece;

	memset(bytes, 0, sizeof(bytes));
	while (size >= sizeof(piece)) {
		memcpy(&piece, data, sizeof(piece));
		data += sizeof(piece);
		size -= sizeof(piece);
		if (piece.size > size || piece.address >= MEMORY ||
		    piece.size > MEMORY - piece.address)
			return;
		memcpy(bytes + piece.address, data, piece.size);
		data += piece.size;
		size -= piece.size;
	}
}

/* What the BPF programs rely on. */
static void check(const struct wire_java_process *is)
{
	if (!is->n_heaps || is->n_heaps > JAVA_HEAPS || is->low >= is->high ||
	    is->interpreter_low < is->low || is->interpreter_high > is->high ||
	    is->entry_low < is->interpreter_low || is->entry_high > is->interpreter_high ||
	    is->header_size * 8u + is->block_header > JAVA_HEADER_ROOM ||
	    (is->chunk_stack && is->oop_size != 4 && is->oop_size != 8))
		abort();
	for (uint32_t i = 0; i < is->n_heaps; i++)
		if (is->heaps[i].low < is->low || is->heaps[i].high > is->high)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct wire_java exports = {
		.exports = { 0x100, 0x108, 0x110, 0x118, 0x120, 0x128, 0x130, 0x138, 0x140, 0x148,
			     0x150 },
		.variables = { 0x200, 0x210, 0x220, 0x230, 0x240, 0x250, 0x260 },
	};
	const struct java_memory memory = { read_bytes, NULL };
	struct wire_java_process process;
	const char *why;

	fill(data, size);
	if (java_machine_read(&memory, &exports, 0, &process, &why))
		return 0;
	if (process.refused)
		return 0;
	check(&process);
	return 0;
}
