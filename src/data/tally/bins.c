// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/bins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static uint32_t sum(uint32_t one, uint64_t other)
{
	return other >= UINT32_MAX - one ? UINT32_MAX : one + (uint32_t)other;
}

static void join_pairs(struct bins *bins)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < bins->n; i += 2)
		bins->counts[n++] = sum(bins->counts[i], i + 1 < bins->n ? bins->counts[i + 1] : 0);
	bins->n = n;
	bins->width_ns *= 2;
}

int bins_add(struct bins *bins, uint64_t at_ns, uint64_t count)
{
	uint64_t at;
	int r;

	while (at_ns / bins->width_ns >= bins->most)
		join_pairs(bins);
	at = at_ns / bins->width_ns;
	if (at >= bins->n) {
		r = grow(&bins->counts, &bins->capacity, at + 1);
		if (r < 0)
			return r;
		memset(bins->counts + bins->n, 0, (at + 1 - bins->n) * sizeof(*bins->counts));
		bins->n = (uint32_t)at + 1;
	}
	bins->counts[at] = sum(bins->counts[at], count);
	return 0;
}

int bins_part(const struct bins *bins, uint64_t begin_ns, uint64_t end_ns, struct bins *ret_part)
{
	int r = 0;

	*ret_part = (struct bins){ .width_ns = bins->width_ns, .most = bins->most };
	for (uint32_t i = 0; r == 0 && i < bins->n; i++) {
		uint64_t at = i * bins->width_ns;

		if (at >= begin_ns && at < end_ns)
			r = bins_add(ret_part, at - begin_ns, bins->counts[i]);
	}
	return r;
}

/* The bins whose begin is in the span; none if they are hardly shorter than it. */
struct bins_within {
	uint64_t first, behind;
};

static struct bins_within within(const struct bins *bins, struct bins_span span)
{
	struct bins_within in = { 0 };

	if (bins->width_ns == 0 || (span.end_ns - span.begin_ns) / bins->width_ns < 4)
		return in;
	in.first = (span.begin_ns + bins->width_ns - 1) / bins->width_ns;
	in.behind = (span.end_ns + bins->width_ns - 1) / bins->width_ns;
	if (in.behind > bins->n)
		in.behind = bins->n;
	return in;
}

double bins_time(const struct bins *bins, struct bins_span span, double part)
{
	struct bins_within in = within(bins, span);
	double events = 0, wanted, most = (double)span.end_ns;

	for (uint64_t i = in.first; i < in.behind; i++)
		events += bins->counts[i];
	if (events < 1)
		return (double)span.begin_ns + part * (double)(span.end_ns - span.begin_ns);
	wanted = part * events;
	for (uint64_t i = in.first; i < in.behind; i++) {
		double at = ((double)i + wanted / bins->counts[i]) * (double)bins->width_ns;

		if (wanted <= bins->counts[i])
			return at < most ? at : most;
		wanted -= bins->counts[i];
	}
	return most;
}

void bins_clear(struct bins *bins)
{
	free(bins->counts);
	*bins = (struct bins){ 0 };
}
