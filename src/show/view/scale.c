// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/scale.h"

#include "view/profile.h"

/* What a sample stands for: ns of CPU time, or events. */
static uint64_t worth(const struct profile_meta *meta)
{
	uint64_t ns = profile_sample_ns(meta);

	return ns ? ns : meta->period;
}

bool scale_has_rates(const struct profile_meta *now, const struct profile_meta *base)
{
	return now->duration_ns && base->duration_ns && worth(now) && worth(base) &&
	       !profile_sample_ns(now) == !profile_sample_ns(base);
}

/* Halves both until they fit; then the ratio is right to 64 bits. */
static struct scale ratio(unsigned __int128 now, unsigned __int128 base)
{
	while (now > UINT64_MAX || base > UINT64_MAX) {
		now >>= 1;
		base >>= 1;
	}
	return (struct scale){ SCALE_RATES, now ? (uint64_t)now : 1, base ? (uint64_t)base : 1 };
}

struct scale scale_make(enum scale_how how, const struct profile_meta *now, uint64_t total,
			const struct profile_meta *base, uint64_t base_total)
{
	if (how == SCALE_RATES && scale_has_rates(now, base) && now->frequency && base->frequency)
		return ratio((unsigned __int128)now->duration_ns * now->frequency,
			     (unsigned __int128)base->duration_ns * base->frequency);
	if (how == SCALE_RATES && scale_has_rates(now, base))
		return ratio((unsigned __int128)now->duration_ns * worth(base),
			     (unsigned __int128)base->duration_ns * worth(now));
	if (how != SCALE_COUNTS && total && base_total)
		return (struct scale){ SCALE_SHARES, total, base_total };
	return (struct scale){ how == SCALE_COUNTS ? SCALE_COUNTS : SCALE_SHARES, 1, 1 };
}

uint64_t scale_count(const struct scale *scale, uint64_t count)
{
	unsigned __int128 scaled =
		((unsigned __int128)count * scale->now + scale->base / 2) / scale->base;

	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}
