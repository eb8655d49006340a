/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells the service manager that started this process, as systemd does with Type=notify, that it is
 * ready, alive, reloading or about to end: sd_notify(3)'s protocol, which is one datagram of
 * assignments to the unix socket that NOTIFY_SOCKET names. Without a manager that asks, nothing is
 * told: all functions take NULL for that.
 *
 * It must not know what the service does. Functions that return int return 0 or a negative errno
 * with `err` set. To be used by one thread.
 */
#ifndef STACKTALLY_SERVICE_SERVICE_H
#define STACKTALLY_SERVICE_SERVICE_H

#include "base/error.h"

struct service;

/*
 * Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment: the
 * programs that we start are not the service. Call it before there are other threads.
 * *ret_service is NULL if no manager asked.
 */
int service_open(struct service **ret_service, struct error *err);
void service_close(struct service *service);

/* At most so many seconds may lie between two calls of service_alive(); 0: nobody watches. */
double service_alive_every(const struct service *service);

/* The service does its work; also after service_reloading(). */
int service_ready(struct service *service, struct error *err);

/* A reload begins; service_ready() ends it. */
int service_reloading(struct service *service, struct error *err);

/* For the watchdog. What cannot be sent is not sent again: the manager then acts as if we hung. */
void service_alive(struct service *service);

/* The service begins to end. That it was not told harms nothing. */
void service_stopping(struct service *service);

#endif
