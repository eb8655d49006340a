/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the reports of intervals to an engine (docs/fleet.md). What is handed over waits in a spool
 * until the engine has answered; a thread looks after that, and a child without privileges speaks
 * to the engine. Only push_close() waits for the network, for a few seconds.
 *
 * Each interval is sent until the engine says that it has it, or that it will not take it. If an
 * answer is missing after all was sent, the interval is not sent again: what is stored twice could
 * not be told from what was measured. All of this is counted and told.
 *
 * Must not know: what a report holds.
 */
#ifndef STACKTALLY_PUSH_PUSH_H
#define STACKTALLY_PUSH_PUSH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/own.h"
#include "push/target.h"

/* How long push_close() waits for what is still to be sent. */
#define PUSH_FLUSH_MS 4000u

struct push_options {
	struct target target;
	const char *auth;     /* a file with a token, or USER:PASSWORD; NULL: none */
	const char *ca;	      /* a file of certificate authorities; NULL: the system's */
	const char *spool;    /* a directory; NULL: memory only */
	uint64_t spool_bytes; /* its bound */
	/* Writes a line for the user, from another thread too: a warning, or an account. */
	void (*warn)(const char *line);
	void (*note)(const char *line);
};

struct push;

/*
 * Opens spool and credentials, and forks the child: call it before the process has threads and much
 * memory. Strings must outlive `push`. 0 or a negative errno with `err` set.
 */
int push_open(const struct push_options *options, struct push **ret_push, struct error *err);
/* Starts the thread, once the child is ready, which may take 20 ms. The same. */
int push_start(struct push *push, struct error *err);

/* Takes the report of an interval that began at `start_ns` of CLOCK_REALTIME; copies it. */
void push_add(struct push *push, uint64_t start_ns, const void *body, size_t size);

/* Sends what waits, for up to PUSH_FLUSH_MS, tells what could not be sent, and frees `push`. */
void push_close(struct push *push);
DEFINE_OWN(struct push, push_close)

#endif
