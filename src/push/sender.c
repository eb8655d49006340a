// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "confined/rights.h"
#include "push/sender_internal.h"

struct sender {
	int socket;
	pid_t pid;
};

/* Where systems have the certificates that they trust: Debian and its kin, Red Hat's, SUSE. */
static const char *const system_authorities[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
};

#define MAX_AUTHORITIES (4u << 20) /* bytes of a file */

/* The whole file. 0 or a negative errno. */
static int read_file(const char *path, char **ret_text, size_t *ret_size)
{
	own(own_file) FILE *in = fopen(path, "re");
	own(own_free) char *text = malloc(MAX_AUTHORITIES);
	size_t n;

	if (!in || !text)
		return in ? -ENOMEM : -errno;
	n = fread(text, 1, MAX_AUTHORITIES, in);
	if (ferror(in) || n == MAX_AUTHORITIES)
		return n == MAX_AUTHORITIES ? -EFBIG : -EIO;
	*ret_text = take_ptr(text);
	*ret_size = n;
	return 0;
}

static int read_authorities(const char *ca, char **ret_text, size_t *ret_size, struct error *err)
{
	int r = -ENOENT;

	if (ca) {
		r = read_file(ca, ret_text, ret_size);
		return r < 0 ? error_set(err, r, "cannot read '%s': %s", ca, strerror(-r)) : 0;
	}
	for (size_t i = 0; i < sizeof(system_authorities) / sizeof(system_authorities[0]); i++) {
		r = read_file(system_authorities[i], ret_text, ret_size);
		if (r == 0)
			return 0;
	}
	return error_set(err, r,
			 "this system has no list of certificate authorities (package "
			 "ca-certificates): use --push-ca FILE");
}

int sender_open(const struct target *target, const char *ca, struct sender **ret_sender,
		struct error *err)
{
	own(own_sender_close) struct sender *sender = calloc(1, sizeof(*sender));
	own(own_tls_trust_free) struct tls_trust *trust = NULL;
	own(own_free) char *authorities = NULL;
	size_t size = 0;
	int pair[2], r;

	if (!sender)
		return error_set(err, -ENOMEM, "out of memory");
	sender->socket = -1;
	if (target->tls) {
		r = read_authorities(ca, &authorities, &size, err);
		if (r < 0)
			return r;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	sender->socket = pair[0];
	sender->pid = fork();
	if (sender->pid == 0)
		sender_serve(pair[1], target, authorities, size);
	close(pair[1]);
	if (sender->pid < 0)
		return error_set(err, -errno, "cannot fork: %s", strerror(errno));
	*ret_sender = take_ptr(sender);
	return 0;
}

int sender_start(struct sender *sender, struct error *err)
{
	int r = sender_ready(sender->socket);

	if (r == -EINVAL)
		return error_set(err, r, "the list of certificate authorities holds none");
	return r < 0 ? error_set(err, r, "cannot start the process that sends: %s", strerror(-r))
		     : 0;
}

void sender_close(struct sender *sender)
{
	if (!sender)
		return;
	if (sender->socket >= 0)
		close(sender->socket);
	if (sender->pid > 0) {
		kill(sender->pid, SIGKILL);
		while (waitpid(sender->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(sender);
}

int sender_begin(struct sender *sender, int body, uint64_t size, const char *credentials,
		 uint32_t limit_ms)
{
	struct sender_order order = { .size = size, .limit_ms = limit_ms };

	if (strlen(credentials) >= sizeof(order.credentials))
		return -E2BIG;
	strcpy(order.credentials, credentials);
	return sender_send_order(sender->socket, &order, body);
}

int sender_fd(const struct sender *sender)
{
	return sender->socket;
}

void sender_finish(struct sender *sender, struct exchange_result *ret_result)
{
	ssize_t n;

	do {
		n = recv(sender->socket, ret_result, sizeof(*ret_result), 0);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*ret_result)) {
		*ret_result = (struct exchange_result){ .outcome = OUTCOME_UNANSWERED,
							.text = "the process that sends died" };
		return;
	}
	/* The process may have been taken over: nothing of it is taken on trust. */
	ret_result->text[sizeof(ret_result->text) - 1] = '\0';
	if ((unsigned int)ret_result->outcome > OUTCOME_UNANSWERED)
		ret_result->outcome = OUTCOME_UNANSWERED;
}
