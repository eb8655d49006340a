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

struct sender_service {
	int socket;
	const struct target *target;
	volatile bool *last_piece; /* in shared memory: as in struct exchange_request */
	const char *authorities;   /* a PEM file; NULL without TLS */
	size_t authorities_size;
	const struct tls_trust *trust; /* made of it by the child */
};

/*
 * The child's life. When it is started again, it is forked from a process that has threads by then:
 * it must not need a lock that they may hold. The C library looks after its own.
 */
_Noreturn void sender_serve(struct sender_service *service);
/* Waits until the child is ready. 0, or what it failed with. */
int sender_ready(int socket);
int sender_send_order(int socket, const struct sender_order *order, int body);

#endif
