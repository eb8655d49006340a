// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/users.h"

#include <errno.h>
#include <pwd.h>
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
