// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/file_owner.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* The id in a variable of the environment; UINT32_MAX: there is none. */
static uint32_t id_of(const char *variable)
{
	const char *text = getenv(variable);
	char *end = NULL;
	unsigned long id;

	if (!text || *text < '0' || *text > '9')
		return UINT32_MAX;
	id = strtoul(text, &end, 10);
	return *end || id >= UINT32_MAX ? UINT32_MAX : (uint32_t)id;
}

uid_t file_owner(void)
{
	uint32_t user = geteuid() == 0 ? id_of("SUDO_UID") : UINT32_MAX;

	return user == UINT32_MAX ? geteuid() : user;
}

void file_owner_give(int fd)
{
	uid_t owner = file_owner();
	uint32_t group = id_of("SUDO_GID");

	/* The group is not known: it stays as it is. */
	if (owner != geteuid() && fchown(fd, owner, group == UINT32_MAX ? (gid_t)-1 : group) < 0)
		return;
}
