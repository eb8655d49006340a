// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "trigger/probes.h"

/* Whether the kernel is locked down: "none [integrity] confidentiality". */
static bool locked_down(char *ret_mode, size_t size)
{
	own(own_fd) int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);
	char text[128], *from, *to;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to)
		return false;
	*to = '\0';
	snprintf(ret_mode, size, "%s", from + 1);
	return strcmp(from + 1, "none") != 0;
}

int refused(struct error *err, int code, const char *format, ...)
{
	char what[400], mode[32];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	switch (code) {
	case -EPERM:
	case -EACCES:
		if (geteuid() == 0 && locked_down(mode, sizeof(mode)))
			return error_privilege(err, code, "%s: kernel lockdown (%s) forbids it",
					       what, mode);
		return error_privilege(err, code,
				       "%s: %s; it takes root, or CAP_BPF, CAP_PERFMON and (for "
				       "user functions and tracefs) CAP_SYS_ADMIN",
				       what, strerror(-code));
	case -EMFILE:
		return error_set(err, code, "%s: %s; raise the limit (ulimit -n) or match fewer",
				 what, strerror(-code));
	case -ENFILE:
		return error_set(err, code, "%s: %s; raise fs.file-max or match fewer", what,
				 strerror(-code));
	case -524: /* ENOTSUPP of the kernel */
		return error_set(err, code, "%s: the kernel cannot probe it", what);
	default:
		return error_set(err, code, "%s: %s", what, strerror(-code));
	}
}
