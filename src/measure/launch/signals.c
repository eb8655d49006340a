// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/signals.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int signals_block(struct signals *signals, struct error *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &signals->before);
	signals->blocked = true;
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd < 0)
		return error_set(err, -errno, "cannot wait for signals: %s", strerror(errno));
	return 0;
}

void signals_restore(struct signals *signals)
{
	if (signals->blocked)
		sigprocmask(SIG_SETMASK, &signals->before, NULL);
	signals->blocked = false;
}

bool signals_take(struct signals *signals, struct signalfd_siginfo *ret_info)
{
	return read(signals->fd, ret_info, sizeof(*ret_info)) == sizeof(*ret_info);
}

void signals_close(struct signals *signals)
{
	signals_restore(signals);
	if (signals->fd >= 0)
		close(signals->fd);
	signals->fd = -1;
}
