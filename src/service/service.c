// SPDX-License-Identifier: GPL-2.0-or-later
#include "service/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/own.h"

DEFINE_OWN(struct service, service_close)

struct service {
	int socket;
	struct sockaddr_un address; /* not connected: a manager that starts anew has a new socket */
	socklen_t address_size;
	double alive_every; /* seconds; 0: no watchdog */
};

/* "/path", or "@name" for a name in the abstract namespace. */
static int address_of(const char *name, struct sockaddr_un *ret_address, socklen_t *ret_size,
		      struct error *err)
{
	size_t length = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || length < 2)
		return error_set(err, -EAFNOSUPPORT,
				 "cannot notify the service manager at %s: not a unix socket",
				 name);
	if (length >= sizeof(ret_address->sun_path))
		return error_set(err, -ENAMETOOLONG,
				 "cannot notify the service manager: NOTIFY_SOCKET is too long");
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret_address->sun_path, name, length);
	if (name[0] == '@')
		ret_address->sun_path[0] = '\0';
	*ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	return 0;
}

/* Half of the manager's patience, as sd_watchdog_enabled(3) advises. */
static double alive_every(const char *usec, const char *pid)
{
	char *end;
	unsigned long long value;

	if (!usec || (pid && strtoull(pid, NULL, 10) != (unsigned long long)getpid()))
		return 0;
	errno = 0;
	value = strtoull(usec, &end, 10);
	return errno || *end ? 0 : (double)value / 2e6;
}

int service_open(struct service **ret_service, struct error *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	own(own_service_close) struct service *service = NULL;
	int r;

	if (!name)
		return 0;
	service = calloc(1, sizeof(*service));
	if (!service)
		return error_set(err, -ENOMEM, "out of memory");
	service->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (service->socket < 0)
		return error_set(err, -errno, "cannot notify the service manager: %s",
				 strerror(errno));
	r = address_of(name, &service->address, &service->address_size, err);
	if (r < 0)
		return r;
	service->alive_every = alive_every(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	*ret_service = take_ptr(service);
	return 0;
}

void service_close(struct service *service)
{
	if (!service)
		return;
	own_fd(&service->socket);
	free(service);
}

double service_alive_every(const struct service *service)
{
	return service ? service->alive_every : 0;
}

/* The measurement must not wait for a manager that does not read. */
static int tell(const struct service *service, const char *assignments)
{
	if (!service)
		return 0;
	if (sendto(service->socket, assignments, strlen(assignments), MSG_DONTWAIT | MSG_NOSIGNAL,
		   (const struct sockaddr *)&service->address, service->address_size) < 0)
		return -errno;
	return 0;
}

static int must_tell(const struct service *service, const char *assignments, struct error *err)
{
	int r = tell(service, assignments);

	return r < 0 ? error_set(err, r, "cannot notify the service manager: %s", strerror(-r)) : 0;
}

int service_ready(struct service *service, struct error *err)
{
	return must_tell(service, "READY=1\nSTATUS=Measuring", err);
}

/* The time tells the manager whether READY=1 came before the reload or after it. */
int service_reloading(struct service *service, struct error *err)
{
	char text[128];

	snprintf(text, sizeof(text), "RELOADING=1\nSTATUS=Reloading\nMONOTONIC_USEC=%" PRIu64,
		 monotonic_ns() / 1000);
	return must_tell(service, text, err);
}

void service_alive(struct service *service)
{
	tell(service, "WATCHDOG=1");
}

void service_stopping(struct service *service)
{
	tell(service, "STOPPING=1\nSTATUS=Ending");
}
