// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static int set(struct error *err, enum exit_class exit_class, int code, const char *format,
	       va_list args)
{
	if (err) {
		err->exit_class = exit_class;
		vsnprintf(err->text, sizeof(err->text), format, args);
	}
	return code;
}

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	code = set(err, EXIT_CLASS_RUNTIME, code, format, args);
	va_end(args);
	return code;
}

int error_privilege(struct error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	code = set(err, EXIT_CLASS_PRIVILEGE, code, format, args);
	va_end(args);
	return code;
}

int error_usage(struct error *err, const char *format, ...)
{
	va_list args;
	int code;

	va_start(args, format);
	code = set(err, EXIT_CLASS_USAGE, -EINVAL, format, args);
	va_end(args);
	return code;
}

const char *error_remedy(int code)
{
	if (code == -EMFILE)
		return "; raise the limit (ulimit -n)";
	return code == -EFBIG ? "; raise the limit (ulimit -f)" : "";
}
