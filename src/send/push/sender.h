/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that speaks to the engine: DNS, TLS and HTTP. It runs as nobody, without capabilities
 * and with few system calls; it is handed the body of each request as a descriptor, and the
 * credentials with it. Each request has a process of its own, which ends with it: what a server
 * spoils or takes over is gone with the request, and nothing leaks.
 */
#ifndef STACKTALLY_PUSH_SENDER_H
#define STACKTALLY_PUSH_SENDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/own.h"
#include "push/exchange.h"

#define SENDER_CREDENTIALS_MAX 4096

struct sender;

/*
 * Forks; call it before the process has threads and much memory. `ca` is a file of certificates, or
 * NULL for the system's. Both must outlive the sender. 0 or a negative errno with `err` set.
 */
int sender_open(const struct target *target, const char *ca, struct sender **ret_sender,
		struct error *err);
/*
 * Waits until the child has given up its rights and read the certificates; before the first
 * sender_begin(). 0 or a negative errno with `err` set.
 */
int sender_start(struct sender *sender, struct error *err);
void sender_close(struct sender *sender);
DEFINE_OWN(struct sender, sender_close)

/*
 * Begins to send, one at a time. A child that has died is started again first, which may take 20
 * ms. 0; or a negative errno: nothing was sent, and after a pause it may be tried again.
 */
int sender_begin(struct sender *sender, int body, uint64_t size, const char *credentials,
		 uint32_t limit_ms);
/* Becomes readable with the result. */
int sender_fd(const struct sender *sender);
/* Reads the result. If the child died: OUTCOME_LATER, or if all was sent, OUTCOME_UNANSWERED. */
void sender_finish(struct sender *sender, struct exchange_result *ret_result);

#endif
