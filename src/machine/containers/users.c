// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/users.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

#define LINE_SIZE 4096

int users_home(uid_t user, char *ret_home, size_t size)
{
	own(own_file) FILE *file = fopen("/etc/passwd", "re");
	struct passwd entry, *found;
	char line[LINE_SIZE];

	while (file && fgetpwent_r(file, &entry, line, sizeof(line), &found) == 0) {
		if (entry.pw_uid != user || entry.pw_dir[0] != '/' || strlen(entry.pw_dir) >= size)
			continue;
		strcpy(ret_home, entry.pw_dir);
		return 0;
	}
	return -ENOENT;
}

int users_id(const char *name, uid_t *ret_user)
{
	own(own_file) FILE *file = NULL;
	struct passwd entry, *found;
	char line[LINE_SIZE], *end;
	unsigned long number = strtoul(name, &end, 10);

	if (*name >= '0' && *name <= '9' && !*end && number < (uid_t)-1) {
		*ret_user = (uid_t)number;
		return 0;
	}
	file = fopen("/etc/passwd", "re");
	while (file && fgetpwent_r(file, &entry, line, sizeof(line), &found) == 0) {
		if (strcmp(entry.pw_name, name) != 0)
			continue;
		*ret_user = entry.pw_uid;
		return 0;
	}
	return -ENOENT;
}
