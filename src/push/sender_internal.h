/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What crosses between this process and the one that sends. */
#ifndef STACKTALLY_PUSH_SENDER_INTERNAL_H
#define STACKTALLY_PUSH_SENDER_INTERNAL_H

#include "push/sender.h"

/* Sent with the descriptor of the body; answered with a struct exchange_result. */
struct sender_order {
	uint64_t size;
	uint32_t limit_ms;
	char credentials[SENDER_CREDENTIALS_MAX];
};

/* The child's life. `authorities` is a PEM file, or NULL without TLS. */
_Noreturn void sender_serve(int socket, const struct target *target, const char *authorities,
			    size_t size);
/* Waits until the child is ready. 0, or what it failed with. */
int sender_ready(int socket);
int sender_send_order(int socket, const struct sender_order *order, int body);

#endif
