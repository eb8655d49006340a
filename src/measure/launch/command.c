// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"

#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND	  127

struct command {
	pid_t pid;
	int pidfd;
	int go;	    /* pipe: one byte releases it */
	int failed; /* pipe: the errno of a failed exec, or end of file */
	bool running, ended;
	int status;
	const char *name;
};

/* In the child: waits to be released, then execs; reports a failure. Never returns. */
static void wait_and_exec(char *const argv[], int nice, int go, int failed)
{
	sigset_t none;
	char byte;
	int code;

	/* If our process dies first, the command must not be left waiting. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_NOT_RUNNABLE);
	prctl(PR_SET_PDEATHSIG, 0);
	setpriority(PRIO_PROCESS, 0, nice);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	code = errno;
	if (write(failed, &code, sizeof(code)) < 0)
		_exit(EXIT_NOT_RUNNABLE);
	_exit(code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE);
}

int command_new(char *const argv[], int nice, struct command **ret_command, struct error *err)
{
	own(own_free) struct command *command = calloc(1, sizeof(*command));
	int go[2], failed[2];

	if (!command)
		return error_set(err, -ENOMEM, "out of memory");
	if (pipe2(go, O_CLOEXEC) < 0)
		return error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(failed, O_CLOEXEC) < 0) {
		int code = -errno;

		close(go[0]);
		close(go[1]);
		return error_set(err, code, "cannot make a pipe: %s", strerror(-code));
	}
	*command =
		(struct command){ .pidfd = -1, .go = go[1], .failed = failed[0], .name = argv[0] };
	command->pid = fork();
	if (command->pid == 0)
		wait_and_exec(argv, nice, go[0], failed[1]);
	close(go[0]);
	close(failed[1]);
	if (command->pid > 0)
		command->pidfd = (int)syscall(SYS_pidfd_open, command->pid, 0);
	if (command->pid < 0 || command->pidfd < 0) {
		int code = -errno;

		command_free(take_ptr(command));
		return error_set(err, code, "cannot start '%s': %s", argv[0], strerror(-code));
	}
	*ret_command = take_ptr(command);
	return 0;
}

void command_free(struct command *command)
{
	if (!command)
		return;
	if (command->pid > 0 && !command->running && !command->ended) {
		kill(command->pid, SIGKILL);
		waitpid(command->pid, NULL, 0);
	}
	if (command->go >= 0)
		close(command->go);
	close(command->failed);
	if (command->pidfd >= 0)
		close(command->pidfd);
	free(command);
}

pid_t command_pid(const struct command *command)
{
	return command->pid;
}

int command_pidfd(const struct command *command)
{
	return command->pidfd;
}

int command_go(struct command *command, struct error *err)
{
	int code = 0;
	ssize_t n;

	command->running = true;
	if (write(command->go, "", 1) != 1)
		return error_set(err, -EPIPE, "'%s' died before it began", command->name);
	close(command->go);
	command->go = -1;
	/* A successful exec closes the other end. */
	do {
		n = read(command->failed, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(code))
		return 0;
	command_ended(command, true);
	error_set(err, -code, "cannot run '%s': %s", command->name, strerror(code));
	if (err)
		err->exit_class = code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
	return -code;
}

void command_signal(const struct command *command, int signal)
{
	if (command->running && !command->ended)
		syscall(SYS_pidfd_send_signal, command->pidfd, signal, NULL, 0);
}

bool command_ended(struct command *command, bool wait)
{
	int status;

	while (!command->ended) {
		pid_t pid = waitpid(command->pid, &status, wait ? 0 : WNOHANG);

		if (pid == 0 || (pid < 0 && errno != EINTR))
			break;
		if (pid < 0)
			continue;
		command->ended = true;
		command->status =
			WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	return command->ended;
}

int command_status(const struct command *command)
{
	return command->status;
}
