// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/frame_options.h"

int frame_options_filter(const struct shared_options *options, struct frame_filter **ret_filter,
			 struct error *err)
{
	const struct frame_filter_asked asked = {
		.of = { [FRAME_FILTER_FOCUS] = { options->focus.strings, options->focus.n },
			[FRAME_FILTER_IGNORE] = { options->ignore.strings, options->ignore.n },
			[FRAME_FILTER_HIDE] = { options->hide.strings, options->hide.n },
			[FRAME_FILTER_SHOW_FROM] = { options->show_from.strings,
						     options->show_from.n } },
		.collapse_recursion = options->collapse_recursion,
		.names = options->simple_names ? FRAME_NAMES_SIMPLE
			 : options->raw_names  ? FRAME_NAMES_RAW
					       : FRAME_NAMES_FULL,
	};

	return frame_filter_new(&asked, ret_filter, err);
}
