// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_deep_kernel N: sends a byte of a file over the loopback N times to a thread that waits in
 * nested epolls. The wakeup is some 50 calls deep in the kernel.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#define EPOLLS 5 /* the deepest nesting that the kernel allows */

struct ends {
	int sender, receiver, outermost;
};

static void must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
}

static struct ends connect_ends(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);
	struct ends ends;

	must(bind(listener, (struct sockaddr *)&address, size), "bind");
	must(listen(listener, 1), "listen");
	must(getsockname(listener, (struct sockaddr *)&address, &size), "getsockname");
	ends.sender = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(ends.sender, (struct sockaddr *)&address, size), "connect");
	ends.receiver = accept(listener, NULL, NULL);
	must(ends.receiver, "accept");
	ends.outermost = ends.receiver;
	for (int i = 0; i < EPOLLS; i++) {
		struct epoll_event event = { .events = EPOLLIN };
		int epoll = epoll_create1(0);

		must(epoll_ctl(epoll, EPOLL_CTL_ADD, ends.outermost, &event), "epoll_ctl");
		ends.outermost = epoll;
	}
	return ends;
}

static void *wait_and_read(void *data)
{
	const struct ends *ends = data;
	struct epoll_event event;
	char byte;

	while (epoll_wait(ends->outermost, &event, 1, -1) > 0 && read(ends->receiver, &byte, 1) > 0)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	int file = open(argv[0], O_RDONLY | O_CLOEXEC);
	struct ends ends = connect_ends();
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_and_read, &ends) != 0)
		return 1;
	for (long i = 0; i < times; i++) {
		off_t from = 0;

		usleep(2000); /* until the thread waits again */
		must((int)sendfile(ends.sender, file, &from, 1), "sendfile");
	}
	return 0;
}
