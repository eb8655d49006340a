// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/grace_period.h"

#include <stdint.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/own.h"

static int make_map_of_maps(struct grace_period *period)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);

	if (period->outer >= 0)
		return 0;
	if (period->inner < 0)
		period->inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wait_inner", sizeof(uint32_t),
					       sizeof(uint32_t), 1, NULL);
	if (period->inner < 0)
		return period->inner;
	options.inner_map_fd = (uint32_t)period->inner;
	period->outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "wait", sizeof(uint32_t),
				       sizeof(uint32_t), 1, &options);
	return period->outer < 0 ? period->outer : 0;
}

int grace_period_wait(struct grace_period *period, struct error *err)
{
	uint32_t zero = 0;
	int r = make_map_of_maps(period);

	if (r >= 0)
		r = bpf_map_update_elem(period->outer, &zero, &period->inner, BPF_ANY);
	if (r < 0)
		return error_set(err, r, "cannot wait for the programs in the kernel: %s",
				 strerror(-r));
	return 0;
}

void grace_period_close(struct grace_period *period)
{
	own_fd(&period->inner);
	own_fd(&period->outer);
	*period = GRACE_PERIOD_NONE;
}
