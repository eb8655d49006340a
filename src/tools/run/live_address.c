// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/live_address.h"

#include "cli/message.h"

int live_open_and_tell(const struct plan *plan, struct live **ret_live, struct error *err)
{
	struct live *live;
	int r = live_open(plan->live, plan->live_token, &live, err);

	if (r < 0)
		return r;
	/* Also with -q: the user needs the URL. */
	message_line("Live at %s", live_url(live));
	if (live_is_public(live))
		message_line("WARNING: nothing is encrypted: anybody who can reach that address "
			     "and sees this line, or the traffic, can watch");
	*ret_live = live;
	return 0;
}
