// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/trigger.h"

#include <stddef.h>

void trigger_free(struct trigger *trigger)
{
	if (trigger)
		trigger->ops->free(trigger);
}
