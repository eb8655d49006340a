// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/lockdown.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"

/* The file lists all modes, the one in force in brackets: "none [integrity] confidentiality". */
bool lockdown_mode(char ret_mode[LOCKDOWN_MODE_SIZE])
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
	if (strcmp(from + 1, "none") == 0)
		return false;
	snprintf(ret_mode, LOCKDOWN_MODE_SIZE, "%s", from + 1);
	return true;
}
