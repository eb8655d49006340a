// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/loaded.h"

#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "cli/message.h"
#include "run/ranged.h"
#include "run/spooled.h"

void loaded_clear(struct loaded *loaded)
{
	imported_clear(&loaded->imported);
	free(loaded->path);
	loaded->path = NULL;
}

static struct measurement measurement_of(const struct recording *recording)
{
	return recording ? (struct measurement){ &recording->meta, recording->tally,
						 recording->names, &recording->timeline }
			 : (struct measurement){ 0 };
}

int loaded_load(const char *path, const char *value, struct loaded *loaded, struct error *err)
{
	struct imported *imported = &loaded->imported;
	own(own_fd) int fd = -1;
	int r;

	if (!path)
		return 0;
	loaded->path = ranged_path(path, &loaded->range);
	if (!loaded->path)
		return error_set(err, -ENOMEM, "out of memory");
	r = spooled_open(loaded->path, &fd, err);
	if (r == 0)
		r = imported_load(&(struct imported_file){ fd, spooled_name(loaded->path), value },
				  imported, err);
	if (r < 0)
		return r;
	if (*imported->losses)
		message_line("WARNING: %s: %s", spooled_name(loaded->path), imported->losses);
	if (*imported->notes)
		message_note("%s: %s", spooled_name(loaded->path), imported->notes);
	if (imported->of_others)
		imported->recording->meta.title = spooled_name(loaded->path);
	loaded->measurement = measurement_of(imported->recording);
	loaded->before = measurement_of(imported->before);
	return 0;
}
