// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/hang.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct level {
	unsigned int major, minor, patch;
};

static bool parse(const char *text, struct level *ret_level)
{
	struct level level = { 0 };

	/* The patch level may be missing: "6.1-rc3". */
	if (sscanf(text, "%3u.%3u.%4u", &level.major, &level.minor, &level.patch) < 2)
		return false;
	*ret_level = level;
	return true;
}

static bool affected(const struct level *level)
{
	if (level->major == 5)
		return level->minor >= 19;
	if (level->major != 6)
		return false;
	switch (level->minor) {
	case 0:
	case 2:
		return true;
	case 1:
		return level->patch < 36;
	case 3:
		return level->patch < 10;
	default:
		return false;
	}
}

/* Enterprise and cloud kernels keep a version for years and backport fixes. */
static bool is_backported(const char *release)
{
	static const char *const marks[] = { ".el",    ".amzn", "-default", ".oe",  ".fc",
					     "-azure", "-gcp",	"-aws",	    "-lts", "-cloud" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strstr(release, marks[i]))
			return true;
	return false;
}

enum hang_risk hang_risk(const char *release, const char *version, const char *signature,
			 char ret_level[HANG_LEVEL_SIZE])
{
	const char *debian = strstr(version, "Debian ");
	const char *ubuntu = signature ? strrchr(signature, ' ') : NULL;
	struct level level;
	bool exact = false;

	if (debian && parse(debian + strlen("Debian "), &level))
		exact = true;
	else if (ubuntu && strncmp(signature, "Ubuntu ", 7) == 0 && parse(ubuntu + 1, &level))
		exact = true;
	else if (!parse(release, &level))
		return HANG_SAFE;
	if (ret_level)
		snprintf(ret_level, HANG_LEVEL_SIZE, "%u.%u.%u", level.major, level.minor,
			 level.patch);
	if (!affected(&level))
		return HANG_SAFE;
	/* Ubuntu's signature names the stable release it is based on, not its own backports. */
	if (!debian && (exact || is_backported(release)))
		return HANG_DOUBT;
	return HANG_AFFECTED;
}
