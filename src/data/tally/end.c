// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/end.h"

#include <stddef.h>

#define ENDS(_)                                                                                    \
	_(NONE, "none")                                                                            \
	_(COMPLETE, "complete")                                                                    \
	_(ENTRY, "entry")                                                                          \
	_(FRAME_POINTER, "frame pointers")                                                         \
	_(DEPTH, "depth")                                                                          \
	_(NO_PROCESS, "no process")                                                                \
	_(NO_MAPPING, "no mapping")                                                                \
	_(SPECIAL, "special mapping")                                                              \
	_(PENDING, "table pending")                                                                \
	_(NO_CFI, "no CFI")                                                                        \
	_(EVICTED, "table evicted")                                                                \
	_(BROKEN, "broken CFI")                                                                    \
	_(NO_ROW, "no row")                                                                        \
	_(CFA, "CFA rule")                                                                         \
	_(FP, "frame pointer rule")                                                                \
	_(RA, "return address rule")                                                               \
	_(REGISTER, "register unknown")                                                            \
	_(READ, "stack unreadable")                                                                \
	_(SP, "stack pointer")                                                                     \
	_(PC, "bad return address")                                                                \
	_(REGISTERS, "no registers")                                                               \
	_(COMPAT, "32-bit")                                                                        \
	_(STALE, "stale table")                                                                    \
	_(JIT, "generated code")                                                                   \
	_(TIME_USED_UP, "time used up")                                                            \
	_(NOT_OPENED, "file not opened")                                                           \
	_(FIBER, "a fiber began")

#define NAME(end, name)	 [TALLY_END_##end] = name,
#define FRAME(end, name) [TALLY_END_##end] = "[unwind: " name "]",

static const char *const end_names[] = { ENDS(NAME) };
static const char *const end_frames[] = { ENDS(FRAME) };

_Static_assert(sizeof(end_names) / sizeof(end_names[0]) == TALLY_N_ENDS, "each end has a name");

const char *tally_end_name(enum tally_end end)
{
	return end < TALLY_N_ENDS ? end_names[end] : "unknown";
}

bool tally_end_is_complete(enum tally_end end)
{
	return end == TALLY_END_COMPLETE || end == TALLY_END_ENTRY;
}

const char *tally_end_frame(enum tally_end end)
{
	/* Deep stacks end in [truncated]; frame pointers cannot tell whether a stack is complete.
	 */
	if (end == TALLY_END_NONE || end == TALLY_END_DEPTH || end == TALLY_END_FRAME_POINTER ||
	    tally_end_is_complete(end) || end >= TALLY_N_ENDS)
		return NULL;
	return end_frames[end];
}
