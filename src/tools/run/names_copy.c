// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/names_copy.h"

#include <errno.h>

const char *names_copy_string(struct names *names, const char *string, bool *failed)
{
	const char *copy = string ? names_string(names, string) : NULL;

	*failed |= string && !copy;
	return copy;
}

int names_copy_objects(const struct names *from, struct names *names)
{
	bool failed = false;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < names_n_objects(from); i++) {
		struct names_object object = names_objects(from)[i];
		uint32_t index;

		object.path = names_copy_string(names, object.path, &failed);
		r = failed ? -ENOMEM : names_add_object(names, &object, &index);
	}
	for (uint32_t i = 0; r == 0 && i < names_n_cgroups(from); i++)
		r = names_add_cgroup(names, &names_cgroups(from)[i]);
	for (uint32_t i = 0; r == 0 && i < names_n_processes(from); i++)
		r = names_add_process(names, &names_processes(from)[i]);
	return r;
}
