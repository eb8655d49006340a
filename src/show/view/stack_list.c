// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/stack_list.h"

#include <string.h>

#include "view/frame_text.h"

uint32_t stack_list(const struct profile *profile, const struct tally_entry *of,
		    uint32_t ret_list[STACK_LIST_MAX])
{
	uint32_t n = 0, mark = profile->n_frames;
	struct profile_entry entry;

	profile_read(profile, of, &entry);
	if (entry.kernel_missed)
		ret_list[n++] = mark + STACK_MARK_MISSED_KERNEL;
	for (uint32_t i = 0; i < entry.n_kernel; i++)
		ret_list[n++] = entry.kernel[i];
	if (entry.kernel_cut)
		ret_list[n++] = mark + STACK_MARK_TRUNCATED;
	if (entry.user_missed)
		ret_list[n++] = mark + STACK_MARK_MISSED_USER;
	for (uint32_t i = 0; i < entry.n_user; i++)
		ret_list[n++] = entry.user[i];
	if (entry.user_cut)
		ret_list[n++] = mark + STACK_MARK_TRUNCATED;
	if (n == 0)
		ret_list[n++] = mark + STACK_MARK_NONE;
	return n;
}

const char *stack_mark_text(enum stack_mark mark)
{
	switch (mark) {
	case STACK_MARK_TRUNCATED:
		return FRAME_TRUNCATED;
	case STACK_MARK_MISSED_USER:
		return FRAME_MISSED_USER;
	case STACK_MARK_MISSED_KERNEL:
		return FRAME_MISSED_KERNEL;
	default:
		return FRAME_NO_STACK;
	}
}

enum stack_mark stack_mark_of(const char *text, size_t size)
{
	enum stack_mark mark = 0;

	while (mark < STACK_N_MARKS && (strlen(stack_mark_text(mark)) != size ||
					memcmp(stack_mark_text(mark), text, size) != 0))
		mark++;
	return mark;
}
