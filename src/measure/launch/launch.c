// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/launch.h"

int launch_begin(bool reloads, struct launch *launch, struct error *err)
{
	launch->reloads = reloads;
	return signals_block(&launch->signals, err);
}

int launch_fork(struct launch *launch, char *const argv[], int nice, struct error *err)
{
	return argv ? command_new(argv, nice, &launch->command, err) : 0;
}

int launch_signals_fd(const struct launch *launch)
{
	return launch->signals.fd;
}

int launch_command_fd(const struct launch *launch)
{
	return launch->command ? command_pidfd(launch->command) : -1;
}

bool launch_is_interrupted(struct launch *launch)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (signals_take(&launch->signals, &info)) {
		if (info.ssi_signo == SIGHUP && launch->reloads) {
			launch->reload = true;
			continue;
		}
		if (!launch->command || launch->passed_on)
			stop = true;
		else if (info.ssi_code != SI_KERNEL)
			command_signal(launch->command, (int)info.ssi_signo);
		launch->passed_on = true;
	}
	return stop;
}

bool launch_take_reload(struct launch *launch)
{
	bool reload = launch->reload;

	launch->reload = false;
	return reload;
}

bool launch_has_ended(struct launch *launch)
{
	return launch->command && command_ended(launch->command, false);
}

int launch_status(struct launch *launch)
{
	if (!launch->command)
		return -1;
	command_ended(launch->command, true);
	return command_status(launch->command);
}

void launch_end(struct launch *launch)
{
	signals_restore(&launch->signals);
}

void launch_close(struct launch *launch)
{
	signals_close(&launch->signals);
	command_free(launch->command);
	launch->command = NULL;
}
