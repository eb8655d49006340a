// SPDX-License-Identifier: GPL-2.0-or-later
#include "gauge/gauge.h"

#include <stddef.h>

static const struct gauge_ops *const GAUGES[] = { &gauge_counts, &gauge_times, &gauge_calls,
						  &gauge_values, &gauge_blocks };

void gauge_configure(const struct plan *plan, struct stacktally *skeleton,
		     struct wire_config *config, uint32_t sets)
{
	const struct gauge_ops *chosen = gauge_of(plan);

	for (size_t i = 0; i < sizeof(GAUGES) / sizeof(GAUGES[0]); i++)
		if (GAUGES[i]->use_maps)
			GAUGES[i]->use_maps(skeleton, GAUGES[i] == chosen);
	chosen->configure(plan, skeleton, config, sets);
}
