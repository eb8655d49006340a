// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/accounting.h"

#include <string.h>

uint64_t accounting_unseen(const struct kernel_side *side, const struct trigger *trigger)
{
	return kernel_side_misses(side) +
	       (trigger->ops->unseen ? trigger->ops->unseen(trigger) : 0);
}

int accounting_report(struct accounting *accounting, const struct kernel_side *side,
		      struct trigger *trigger, struct tally_losses *losses, bool final,
		      struct error *err)
{
	const struct wire_counters *before = &accounting->before;
	uint64_t ring, nested, unseen = accounting_unseen(side, trigger);
	struct wire_counters now;
	int r = kernel_side_counters(side, &now, due_fired(accounting->due));

	if (r < 0)
		return error_set(err, r, "cannot read the counters: %s", strerror(-r));
	ring = now.lost_ring - before->lost_ring;
	nested = now.lost_nested - before->lost_nested;
	losses->lost_ring += ring;
	losses->lost_nested += nested;
	losses->failed += now.failed - before->failed;
	losses->unread += now.unread - before->unread;
	if (!final)
		now.events = before->events + accounting->drained + ring + nested;
	losses->events += now.events - before->events - accounting->unwanted;
	accounting->before = now;
	accounting->drained = accounting->unwanted = 0;
	if (trigger->ops->throttled) {
		uint64_t throttled = trigger->ops->throttled(trigger);

		losses->throttled += throttled - accounting->throttled;
		accounting->throttled = throttled;
	}
	if (trigger->ops->unsampled) {
		uint64_t unsampled = trigger->ops->unsampled(trigger);

		losses->unsampled += unsampled - accounting->unsampled;
		accounting->unsampled = unsampled;
	}
	due_report(accounting->due, unseen - accounting->unseen, losses);
	losses->unseen += unseen - accounting->unseen;
	accounting->unseen = unseen;
	return 0;
}
