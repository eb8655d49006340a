// SPDX-License-Identifier: GPL-2.0-or-later
#include "confined/confined.h"

int confined_ask(struct confined *confined, confined_work *work, int fd,
		 const struct iovec *request, void *answer, size_t size)
{
	const struct confined_call call = {
		.work = work,
		.owner = confined_owner(fd),
		.fds = &fd,
		.n_fds = 1,
		.request = request,
		.n_parts = 1,
	};
	struct confined_child *child;
	int r = confined_begin(confined, &call, &child), end;

	if (r < 0)
		return r;
	r = confined_read(child, answer, size);
	end = confined_finish(child);
	return r < 0 ? r : end;
}
