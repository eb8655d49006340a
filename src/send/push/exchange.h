/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTTP request to an engine and its response, with TLS if the target asks for it. Runs in a
 * child without privileges (sender.h): names are looked up here, and the server's bytes are parsed.
 */
#ifndef STACKTALLY_PUSH_EXCHANGE_H
#define STACKTALLY_PUSH_EXCHANGE_H

#include "push/stream.h"
#include "push/target.h"

enum outcome {
	OUTCOME_TAKEN,	    /* the engine has it: 2xx */
	OUTCOME_LATER,	    /* it does not have it, and may take it later */
	OUTCOME_REFUSED,    /* it will never take this one: 4xx */
	OUTCOME_UNANSWERED, /* all was sent, and no answer came: it may have it or not */
};

struct exchange_result {
	enum outcome outcome;
	int status;		/* of HTTP; 0: there was no response */
	uint64_t retry_after_s; /* 0: not given */
	char text[256];		/* what went wrong, printable, without the target's name; or "" */
};

struct exchange_request {
	const struct target *target;
	const struct tls_trust *trust; /* with TLS */
	const char *credentials;       /* a token, or USER:PASSWORD; "": none */
	int body;		       /* a descriptor, read from its beginning */
	uint64_t size;		       /* of the body */
	uint64_t deadline_ms;	       /* by monotonic_ms(); of the whole exchange */
	uint64_t answer_ms;	       /* of it, kept for the response */
	volatile bool *last_piece;     /* set before the last piece of the body is sent */
};

void exchange(const struct exchange_request *request, struct exchange_result *ret_result);

#endif
