// SPDX-License-Identifier: GPL-2.0-or-later
#include "cfi/crt_code.h"

#include <string.h>

#include "cfi/code_bytes.h"
#include "cfi/unwind_rows.h"

/* crtstuff.c's functions fill one gap between functions that have CFI. Bytes: */
#define STUFF_MIN      96
#define STUFF_MAX      512
#define FUNCTION_ALIGN 16
#define GUARDED_MAX    96 /* between push and pop */

#define ENDBR "f3 0f 1e fa"

/*
 * Functions that leave the stack alone, whole. Linkers may have replaced a load from the GOT by a
 * constant.
 */
static const char *const leaves[] = {
	/* deregister_tm_clones */
	"48 8d 3d ?? ?? ?? ?? 48 8d 05 ?? ?? ?? ?? 48 39 f8 74 15 48 ?? ?? ?? ?? ?? ?? 48 85 c0 "
	"74 09 ff e0 0f 1f 80 00 00 00 00 c3",
	"b8 ?? ?? ?? ?? 48 3d ?? ?? ?? ?? 74 13 b8 ?? ?? ?? ?? 48 85 c0 74 09 bf ?? ?? ?? ?? "
	"ff e0 66 90 c3",
	/* register_tm_clones */
	"48 8d 3d ?? ?? ?? ?? 48 8d 35 ?? ?? ?? ?? 48 29 fe 48 89 f0 48 c1 ee 3f 48 c1 f8 03 "
	"48 01 c6 48 d1 fe 74 14 48 ?? ?? ?? ?? ?? ?? 48 85 c0 74 08 ff e0 66 0f 1f 44 00 00 c3",
	"be ?? ?? ?? ?? 48 81 ee ?? ?? ?? ?? 48 89 f0 48 c1 ee 3f 48 c1 f8 03 48 01 c6 48 d1 fe "
	"74 11 b8 ?? ?? ?? ?? 48 85 c0 74 07 bf ?? ?? ?? ?? ff e0 c3",
	/* frame_dummy */
	"e9 ?? ?? ?? ??",
	"eb ??",
};

/* Functions that push rbp at the end of `before` and pop it in `after`. */
static const struct {
	const char *before, *after;
} guarded[] = {
	/* __do_global_dtors_aux; another ret follows */
	{ "80 3d ?? ?? ?? ?? 00 75 ?? 55", "c6 05 ?? ?? ?? ?? 01 5d c3" },
	/* frame_dummy of static programs */
	{ "b8 ?? ?? ?? ?? 48 85 c0 74 ?? 55", "5d e9 ?? ?? ?? ??" },
	{ "48 8d 05 ?? ?? ?? ?? 48 85 c0 74 ?? 55", "5d e9 ?? ?? ?? ??" },
};

struct crt {
	const struct code_view *code;
	struct rule_table *rules;
	struct code_ranges *ranges;
	int result;
};

static uint16_t rule_of(struct crt *crt, enum wire_ra ra, int depth, bool fp_saved)
{
	const struct wire_rule rule = { .cfa = WIRE_CFA_SP,
					.cfa_offset = depth,
					.ra = ra,
					.fp = fp_saved ? WIRE_FP_CFA : WIRE_FP_SAME,
					.fp_offset = fp_saved ? -16 : 0 };

	return rule_table_add(crt->rules, &rule);
}

static void add(struct crt *crt, uint64_t begin, uint64_t end, uint16_t rule)
{
	struct code_range range = { .begin = (uint32_t)begin,
				    .end = (uint32_t)end,
				    .context = rule,
				    .source = UNWIND_CODE };

	if (!crt->result && begin < end)
		crt->result = code_ranges_add(crt->ranges, &range);
}

static size_t pattern_size(const char *pattern)
{
	return (strlen(pattern) + 1) / 3;
}

/* Adds the function at the address. Returns its size, 0 when it is not recognised. */
static size_t add_function(struct crt *crt, uint64_t address, const uint8_t *bytes, size_t left)
{
	size_t begin = code_matches(bytes, left, ENDBR) ? 4 : 0;

	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		size_t size = begin + pattern_size(leaves[i]);

		if (code_matches(bytes + begin, left - begin, leaves[i])) {
			add(crt, address, address + size, rule_of(crt, WIRE_RA_CFA, 8, false));
			return size;
		}
	}
	for (size_t i = 0; i < sizeof(guarded) / sizeof(guarded[0]); i++) {
		size_t pushed = begin + pattern_size(guarded[i].before), at;

		if (!code_matches(bytes + begin, left - begin, guarded[i].before))
			continue;
		for (at = pushed; at < left && at < pushed + GUARDED_MAX; at++) {
			size_t end = at + pattern_size(guarded[i].after);
			size_t popped = end - (i == 0 ? 1 : 5);

			if (!code_matches(bytes + at, left - at, guarded[i].after))
				continue;
			/* The first jump leads behind padding, to a ret or a jump. */
			while (end < left && (address + end) % FUNCTION_ALIGN != 0)
				end++;
			if (i > 0 && end + 5 <= left && bytes[end] == 0xe9)
				end += 5;
			add(crt, address, address + pushed, rule_of(crt, WIRE_RA_CFA, 8, false));
			add(crt, address + pushed, address + popped,
			    rule_of(crt, WIRE_RA_CFA, 16, true));
			add(crt, address + popped, address + end,
			    rule_of(crt, WIRE_RA_CFA, 8, false));
			return end;
		}
	}
	return 0;
}

static void find_stuff(struct crt *crt, uint32_t begin, uint32_t end)
{
	uint32_t at = (begin + FUNCTION_ALIGN - 1) & -FUNCTION_ALIGN;
	uint8_t bytes[STUFF_MAX];
	bool found = false;

	if (code_view_read(crt->code, begin, bytes, end - begin) != end - begin)
		return;
	while (at < end) {
		const uint8_t *code = bytes + (at - begin);
		const uint8_t *first = code_matches(code, end - at, ENDBR) ? code + 4 : code;
		/* frame_dummy may be a single jump; it is the last, so others come before it. */
		bool jump = first < bytes + (end - begin) && (*first == 0xe9 || *first == 0xeb);
		size_t size = jump && !found ? 0 : add_function(crt, at, code, end - at);

		if (jump && found)
			return;
		found = found || size;
		at += size ? (uint32_t)size : FUNCTION_ALIGN;
		at = (at + FUNCTION_ALIGN - 1) & -FUNCTION_ALIGN;
	}
}

/*
 * glibc's clone() and clone3(): the system call and the return of the parent lie between the FDE of
 * the code before and the one of the new thread's beginning.
 */
#define CLONE_RETURNS	   "0f 05 48 85 c0 7c ?? 74 01 c3"
#define CLONE_RETURNS_SIZE 10

static void find_clone(struct crt *crt, uint32_t begin)
{
	uint8_t bytes[CLONE_RETURNS_SIZE];

	if (code_view_read(crt->code, begin, bytes, sizeof(bytes)) == sizeof(bytes) &&
	    code_matches(bytes, sizeof(bytes), CLONE_RETURNS))
		add(crt, begin, begin + CLONE_RETURNS_SIZE, rule_of(crt, WIRE_RA_CLONE, 8, false));
}

/*
 * glibc's __start_context, to which functions of makecontext() return: its FDE is that of a
 * function that was called. Its first byte is the return address, and walks look up the byte before
 * it.
 */
#define START_CONTEXT                                                                              \
	"48 89 dc 48 8b 3c 24 48 85 ff 74 08 e8 ?? ?? ?? ?? 48 89 c7 e8 ?? ?? ?? ?? f4"
#define START_CONTEXT_SIZE 26

static void find_context(struct crt *crt, struct code_range *range, uint32_t end_before)
{
	uint8_t bytes[START_CONTEXT_SIZE];

	if (code_view_read(crt->code, range->begin, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    !code_matches(bytes, sizeof(bytes), START_CONTEXT))
		return;
	range->source = UNWIND_CODE;
	range->context = rule_of(crt, WIRE_RA_ENTRY, 0, false);
	if (end_before < range->begin)
		add(crt, range->begin - 1, range->begin, (uint16_t)range->context);
}

int crt_code_find(const struct code_view *code, struct code_ranges *known, struct rule_table *rules,
		  struct code_ranges *ranges)
{
	struct crt crt = { .code = code, .rules = rules, .ranges = ranges };
	uint32_t covered = 0;

	for (uint32_t i = 0; i < known->n && !crt.result; i++) {
		struct code_range *range = &known->ranges[i];
		uint32_t gap = range->begin - covered;

		if (gap >= STUFF_MIN && gap <= STUFF_MAX)
			find_stuff(&crt, covered, range->begin);
		else if (gap == CLONE_RETURNS_SIZE && range->begin % FUNCTION_ALIGN != 0)
			find_clone(&crt, covered);
		if (range->end - range->begin == START_CONTEXT_SIZE)
			find_context(&crt, range, covered);
		covered = range->end;
	}
	return crt.result;
}
