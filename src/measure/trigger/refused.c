// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/refused.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/seccomp.h"
#include "kernel/lockdown.h"

static int explain(struct error *err, int code, const char *what, const char *privilege)
{
	char mode[LOCKDOWN_MODE_SIZE], text[SECCOMP_REMEDY_SIZE];
	const char *filter = seccomp_remedy("bpf and perf_event_open", code, text, sizeof(text));

	if (filter)
		return error_privilege(err, code, "%s: %s; %s", what, strerror(-code), filter);
	switch (code) {
	case -EPERM:
	case -EACCES:
		if (geteuid() == 0 && lockdown_mode(mode))
			return error_privilege(err, code, "%s: kernel lockdown (%s) forbids it",
					       what, mode);
		return error_privilege(err, code, "%s: %s; it takes root, or %s", what,
				       strerror(-code), privilege);
	case -EMFILE:
		return error_set(err, code, "%s: %s; raise the limit (ulimit -n) or match fewer",
				 what, strerror(-code));
	case -ENFILE:
		return error_set(err, code, "%s: %s; raise fs.file-max or match fewer", what,
				 strerror(-code));
	case -ENOTSUPP:
		return error_set(err, code, "%s: the kernel cannot probe it", what);
	default:
		return error_set(err, code, "%s: %s", what, strerror(-code));
	}
}

int refused(struct error *err, int code, const char *format, ...)
{
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return explain(err, code, what,
		       "CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN where kernel.perf_event_paranoid is "
		       "above 2)");
}

int refused_file(struct error *err, int code, const char *format, ...)
{
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return explain(err, code, what, "CAP_DAC_READ_SEARCH");
}
