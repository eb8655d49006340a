/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells the service manager that started this process, as systemd does with Type=notify, that it is
 * ready, alive, reloading or about to end: sd_notify(3)'s protocol, which is one datagram of
 * assignments to the unix socket that NOTIFY_SOCKET names. The same is written to the file that
 * STACKTALLY_STATE_FILE names (state_file.h). Without either, nothing is told: all functions take
 * NULL for that.
 *
 * It must not know what this process does. Functions that return int return 0 or a negative errno
 * with `err` set. To be used by one thread.
 */
#ifndef STACKTALLY_NOTIFY_NOTIFY_H
#define STACKTALLY_NOTIFY_NOTIFY_H

#include "base/error.h"

#define NOTIFY_FILE	  "STACKTALLY_STATE_FILE"
#define NOTIFY_FILE_EVERY 10.0 /* seconds, at most, between two signs of life in it */

struct notify;

/*
 * Reads NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID and STACKTALLY_STATE_FILE, and removes them from
 * the environment: the programs that we start are not the service. Call it before there are other
 * threads. *ret_notify is NULL if nobody asked.
 */
int notify_open(struct notify **ret_notify, struct error *err);
void notify_close(struct notify *notify);

/* At most so many seconds may lie between two calls of notify_alive(); 0: there is no watchdog. */
double notify_alive_every(const struct notify *notify);

/* The service does its work; also after notify_reloading(). */
int notify_ready(struct notify *notify, struct error *err);

/* A reload begins; notify_ready() ends it. */
int notify_reloading(struct notify *notify, struct error *err);

/* For the watchdog. What cannot be sent is not sent again: the manager then acts as if we hung. */
void notify_alive(struct notify *notify);

/* The service begins to end. That it was not told harms nothing. */
void notify_stopping(struct notify *notify);

#endif
