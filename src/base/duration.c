// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/duration.h"

#include <stdio.h>

const char *duration_text(uint64_t ns, char *text, size_t size)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "\xc2\xb5s" }, { 1, "ns" } };
	size_t i = 0;
	double n;
	int digits;

	while (i < 3 && (double)ns < units[i].ns)
		i++;
	n = (double)ns / units[i].ns;
	digits = i == 3 || n >= 1000 ? 0 : n >= 100 ? 1 : n >= 10 ? 2 : 3;
	snprintf(text, size, "%.*f %s", digits, n, units[i].unit);
	return text;
}
