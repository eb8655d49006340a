// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "push/sender_internal.h"

struct sender {
	const struct target *target;
	const char *ca;
	volatile bool *last_piece; /* shared with the child and the processes of its requests */
	int socket;		   /* -1: the child has died */
	pid_t pid;
};

/* How long a child that is started again may take to be ready. */
#define READY_MS 5000

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

/* Forks. 0 or a negative errno with `err` set. */
static int start_child(struct sender *sender, struct error *err)
{
	own(own_free) char *authorities = NULL;
	size_t size = 0;
	int pair[2], r;

	if (sender->target->tls) {
		r = read_authorities(sender->ca, &authorities, &size, err);
		if (r < 0)
			return r;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	sender->pid = fork();
	if (sender->pid == 0)
		sender_serve(&(struct sender_service){ .socket = pair[1],
						       .target = sender->target,
						       .last_piece = sender->last_piece,
						       .authorities = authorities,
						       .authorities_size = size });
	close(pair[1]);
	sender->socket = pair[0];
	return sender->pid < 0 ? error_set(err, -errno, "cannot fork: %s", strerror(errno)) : 0;
}

static void end_child(struct sender *sender)
{
	if (sender->socket >= 0)
		close(sender->socket);
	sender->socket = -1;
	if (sender->pid > 0) {
		kill(sender->pid, SIGKILL);
		while (waitpid(sender->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	sender->pid = 0;
}

int sender_open(const struct target *target, const char *ca, struct sender **ret_sender,
		struct error *err)
{
	own(own_sender_close) struct sender *sender = calloc(1, sizeof(*sender));
	void *shared =
		mmap(NULL, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (sender)
		*sender = (struct sender){ .target = target, .ca = ca, .socket = -1 };
	if (sender && shared != MAP_FAILED)
		sender->last_piece = shared;
	else
		return error_set(err, -ENOMEM, "out of memory");
	r = start_child(sender, err);
	if (r < 0)
		return r;
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

/* After its death. 0 or a negative errno. */
static int start_again(struct sender *sender)
{
	struct pollfd ready = { .events = POLLIN };
	int r = start_child(sender, NULL);

	ready.fd = sender->socket;
	if (r == 0 && poll(&ready, 1, READY_MS) <= 0)
		r = -ETIMEDOUT;
	if (r == 0)
		r = sender_ready(sender->socket);
	if (r < 0)
		end_child(sender);
	return r;
}

void sender_close(struct sender *sender)
{
	if (!sender)
		return;
	end_child(sender);
	if (sender->last_piece)
		munmap((void *)sender->last_piece, sizeof(bool));
	free(sender);
}

int sender_begin(struct sender *sender, int body, uint64_t size, const char *credentials,
		 uint32_t limit_ms)
{
	struct sender_order order = { .size = size, .limit_ms = limit_ms };
	int r = sender->socket < 0 ? start_again(sender) : 0;

	if (r < 0)
		return r;
	if (strlen(credentials) >= sizeof(order.credentials))
		return -E2BIG;
	strcpy(order.credentials, credentials);
	*sender->last_piece = false;
	r = sender_send_order(sender->socket, &order, body);
	explicit_bzero(&order, sizeof(order));
	/* It has died since the last request. */
	if (r < 0)
		end_child(sender);
	return r;
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
		/* All that had the socket are dead: nothing more is sent. */
		*ret_result = (struct exchange_result){
			.outcome = *sender->last_piece ? OUTCOME_UNANSWERED : OUTCOME_LATER,
			.text = "the process that sends died",
		};
		end_child(sender);
		return;
	}
	/* The process may have been taken over: nothing of it is taken on trust. */
	ret_result->text[sizeof(ret_result->text) - 1] = '\0';
	if ((unsigned int)ret_result->outcome > OUTCOME_UNANSWERED)
		ret_result->outcome = OUTCOME_UNANSWERED;
}
