// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "confined/rights.h"
#include "push/sender_internal.h"

/* Of the time of a request, for the answer: half of it, and not more than this. */
#define ANSWER_MS 15000u
/* After the limit of a request, its process is killed. */
#define GRACE_S 2

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int sender_send_order(int socket, const struct sender_order *order, int body)
{
	union control control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct iovec part = { (void *)order, sizeof(*order) };
	const struct msghdr message = { .msg_iov = &part,
					.msg_iovlen = 1,
					.msg_control = &control,
					.msg_controllen = sizeof(control.bytes) };

	memcpy(CMSG_DATA(&control.header), &body, sizeof(body));
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Ends the process if the parent has ended. */
static int receive_order(int socket, struct sender_order *order)
{
	union control control = { 0 };
	struct iovec part = { order, sizeof(*order) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.bytes) };
	int body = -1;
	ssize_t n;

	do {
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*order) || message.msg_controllen < CMSG_LEN(sizeof(int)))
		_exit(0);
	memcpy(&body, CMSG_DATA(&control.header), sizeof(body));
	return body;
}

static void reply(int socket, const struct exchange_result *result)
{
	if (send(socket, result, sizeof(*result), MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* In a process of its own. */
static _Noreturn void send_one(const struct sender_service *service,
			       const struct sender_order *order, int body)
{
	uint32_t half = order->limit_ms / 2;
	const struct exchange_request request = {
		.target = service->target,
		.trust = service->trust,
		.last_piece = service->last_piece,
		.credentials = order->credentials,
		.body = body,
		.size = order->size,
		.deadline_ms = monotonic_ms() + order->limit_ms,
		.answer_ms = half < ANSWER_MS ? half : ANSWER_MS,
	};
	struct exchange_result result;

	/* Looking up a name takes as long as /etc/resolv.conf says. */
	alarm(order->limit_ms / 1000 + GRACE_S);
	if (rights_keep_sending() < 0)
		_exit(1);
	exchange(&request, &result);
	reply(service->socket, &result);
	_exit(0);
}

static void serve_one(const struct sender_service *service)
{
	struct exchange_result result = { .outcome = OUTCOME_LATER, .text = "cannot fork" };
	struct sender_order order;
	int body = receive_order(service->socket, &order), status;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		send_one(service, &order, body);
	explicit_bzero(&order, sizeof(order));
	close(body);
	if (pid < 0) {
		reply(service->socket, &result);
		return;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			_exit(1);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	if (*service->last_piece)
		result.outcome = OUTCOME_UNANSWERED;
	strcpy(result.text, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
				    ? "it took too long"
				    : "the process that sends died");
	reply(service->socket, &result);
}

/* Signals to the process group, such as Ctrl-C, are for the parent. */
static void ignore_signals(void)
{
	static const int for_parent[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	for (size_t i = 0; i < sizeof(for_parent) / sizeof(for_parent[0]); i++)
		signal(for_parent[i], SIG_IGN);
	/* A thread that starts it again has them blocked. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn void sender_serve(struct sender_service *service)
{
	struct tls_trust *trust = NULL;
	int r = rights_begin_sending(&service->socket);

	ignore_signals();
	prctl(PR_SET_NAME, "stacktally-send");
	/* The certificates are parsed without privileges, too. */
	if (r == 0 && service->authorities)
		r = tls_trust_new(service->authorities, service->authorities_size, &trust);
	if (send(service->socket, &r, sizeof(r), MSG_NOSIGNAL) < 0 || r < 0)
		_exit(1);
	service->trust = trust;
	for (;;)
		serve_one(service);
}

int sender_ready(int socket)
{
	int result = -EIO;
	ssize_t n;

	do {
		n = recv(socket, &result, sizeof(result), 0);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(result) ? result : -EIO;
}
