/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file format of a recording (docs/recording.md), for its writer and its reader. */
#ifndef STACKTALLY_RECORDING_FORMAT_H
#define STACKTALLY_RECORDING_FORMAT_H

#include <stdint.h>

#define RECORDING_MAGIC	     "\x8bSTALLY\n"
#define RECORDING_MAGIC_SIZE 8
#define RECORDING_VERSION    7u
#define RECORDING_UNITS	     8u	 /* of what other programs counted in units of their own */
#define RECORDING_SUMS	     9u	 /* of sums, with the number of events in each */
#define RECORDING_TIMES	     10u /* tells when */
#define RECORDING_LABELS     11u /* with labels of cgroups */
#define RECORDING_CALLS	     12u /* the largest value of each sum, and calls not seen whole */
#define RECORDING_NAMED	     13u /* with what processes are called, not only their threads */
#define RECORDING_BLOCKS     14u /* blocks allocated twice, and pages that no mapping is known for */
#define RECORDING_NEWEST     RECORDING_BLOCKS
#define RECORDING_OLDEST     3u /* that can be loaded */

/* Magic and version; then sections, each with a header: kind, payload size, checksum. */
#define RECORDING_HEADER_SIZE  (RECORDING_MAGIC_SIZE + 4)
#define RECORDING_SECTION_SIZE 12 /* of that header: 4 bytes each */

/* What the CRC-32 of a section is continued from, so that no file passes for another version. */
#define RECORDING_CHECKSUM_OF(version) ((version) < 5 ? 0 : (version))

/* Bytes of payload at which the writer begins a new section. The item that passes it may be long.
 */
#define RECORDING_SECTION_FULL (1u << 20)
#define RECORDING_SECTION_MAX  (4u << 20) /* of any payload */
#define RECORDING_STRING_MAX   (1u << 20)
#define RECORDING_FILE_MAX     ((uint64_t)1 << 36)

#define RECORDING_KIND(a, b, c, d)                                                                 \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* In the order of the file; sections of one kind are adjacent. */
#define RECORDING_KINDS(KIND)                                                                      \
	KIND(STRINGS, RECORDING_KIND('S', 'T', 'R', 'S'))                                          \
	KIND(META, RECORDING_KIND('M', 'E', 'T', 'A'))                                             \
	KIND(UNWINDING, RECORDING_KIND('U', 'N', 'W', 'D'))                                        \
	KIND(OBJECTS, RECORDING_KIND('O', 'B', 'J', 'S'))                                          \
	KIND(CGROUPS, RECORDING_KIND('C', 'G', 'R', 'P'))                                          \
	KIND(PROCESSES, RECORDING_KIND('P', 'R', 'O', 'C'))                                        \
	KIND(ADDRESSES, RECORDING_KIND('A', 'D', 'D', 'R'))                                        \
	KIND(STACKS, RECORDING_KIND('S', 'T', 'K', 'S'))                                           \
	KIND(ENTRIES, RECORDING_KIND('E', 'N', 'T', 'S'))                                          \
	KIND(SLICES, RECORDING_KIND('S', 'L', 'I', 'C'))                                           \
	KIND(BINS, RECORDING_KIND('B', 'I', 'N', 'S'))                                             \
	KIND(LOSSES, RECORDING_KIND('L', 'O', 'S', 'S'))                                           \
	KIND(END, RECORDING_KIND('E', 'N', 'D', '.'))

#define RECORDING_SECTION_NAME(name, kind) RECORDING_##name,
enum recording_section { RECORDING_KINDS(RECORDING_SECTION_NAME) RECORDING_N_SECTIONS };

/*
 * Payloads that begin with a number: 0, and what follows is the items; or their size, and what
 * follows is them, deflated.
 */
#define RECORDING_IS_DEFLATED(section)                                                             \
	((section) == RECORDING_SLICES || (section) == RECORDING_BINS)

/* Flags of META. */
enum recording_meta_flags {
	RECORDING_META_USER = 1 << 0,
	RECORDING_META_KERNEL = 1 << 1,
	RECORDING_META_PROCESSES = 1 << 2, /* these are struct profile_details, since version 4 */
	RECORDING_META_THREADS = 1 << 3,
	RECORDING_META_CGROUPS = 1 << 4,
	RECORDING_META_IDLE = 1 << 5,
	RECORDING_META_INLINES = 1 << 6,
	RECORDING_META_LINES = 1 << 7,
	RECORDING_META_TIMED = 1 << 8,	 /* since version 6 */
	RECORDING_META_WALL = 1 << 9,	 /* since version 6 */
	RECORDING_META_SUMMED = 1 << 10, /* since version 9 */
};

#define RECORDING_META_FLAGS(version)                                                              \
	((version) < 4 ? 3u : (version) < 6 ? 0xffu : (version) < 9 ? 0x3ffu : 0x7ffu)

/* A frame's language, above its flags. */
#define RECORDING_FRAME_LANGUAGE(language) ((uint64_t)(language) << 16)

/*
 * Flags of a frame that said its language before version 7: a function of a program is of Python,
 * unless another flag says which.
 */
enum recording_language_flags {
	RECORDING_FRAME_PROGRAM = 1 << 6, /* since version 5 */
	RECORDING_FRAME_PHP = 1 << 7,	  /* these are since version 6 */
	RECORDING_FRAME_PERL = 1 << 10,
	RECORDING_FRAME_RUBY = 1 << 11,
	RECORDING_FRAME_JAVASCRIPT = 1 << 12,
};

/* An entry's reference to a stack: 0 none, 1 missed, else its position + 2. */
#define RECORDING_STACK_NONE   0
#define RECORDING_STACK_MISSED 1
#define RECORDING_STACK_FIRST  2

/* Signed differences as unsigned numbers that are small if the difference is (zigzag). */
static inline uint64_t recording_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t recording_unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

#endif
