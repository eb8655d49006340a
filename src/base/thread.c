// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context)
{
	static const int own_signals[] = { SIGSEGV, SIGBUS,  SIGILL,  SIGFPE, SIGABRT,
					   SIGSYS,  SIGTRAP, SIGTTIN, SIGTTOU };
	sigset_t blocked, before;
	int r;

	sigfillset(&blocked);
	for (unsigned int i = 0; i < sizeof(own_signals) / sizeof(own_signals[0]); i++)
		sigdelset(&blocked, own_signals[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	r = -pthread_create(ret_thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}
