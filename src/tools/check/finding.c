// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/finding.h"

#include <stdarg.h>
#include <stdio.h>

struct finding *findings_add(struct findings *findings, const char *name,
			     enum finding_status status, const char *format, ...)
{
	struct finding *finding =
		&findings->list[findings->n < FINDINGS_MAX ? findings->n++ : FINDINGS_MAX - 1];
	va_list args;

	*finding = (struct finding){ .name = name, .status = status };
	va_start(args, format);
	vsnprintf(finding->says, sizeof(finding->says), format, args);
	va_end(args);
	return finding;
}

const char *finding_status_name(enum finding_status status)
{
	static const char *const names[] = { [FINDING_OK] = "ok",
					     [FINDING_LIMITED] = "limited",
					     [FINDING_MISSING] = "missing",
					     [FINDING_UNTRIED] = "not tried" };

	return names[status];
}
