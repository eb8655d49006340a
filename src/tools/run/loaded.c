// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/loaded.h"

#include "base/own.h"
#include "run/spooled.h"

void loaded_clear(struct loaded *loaded)
{
	imported_clear(&loaded->imported);
}

static struct measurement measurement_of(const struct recording *recording)
{
	return recording ? (struct measurement){ &recording->meta, recording->tally,
						 recording->names }
			 : (struct measurement){ 0 };
}

int loaded_load(const char *path, struct loaded *loaded, struct error *err)
{
	struct imported *imported = &loaded->imported;
	own(own_fd) int fd = -1;
	int r;

	if (!path)
		return 0;
	r = spooled_open(path, &fd, err);
	if (r == 0)
		r = imported_load(fd, spooled_name(path), imported, err);
	if (r < 0)
		return r;
	if (imported->of_others)
		imported->recording->meta.title = spooled_name(path);
	loaded->measurement = measurement_of(imported->recording);
	loaded->before = measurement_of(imported->before);
	return 0;
}
