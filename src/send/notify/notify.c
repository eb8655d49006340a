// SPDX-License-Identifier: GPL-2.0-or-later
#include "notify/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/own.h"
#include "notify/state_file.h"

DEFINE_OWN(struct notify, notify_close)

struct notify {
	int state_file; /* -1: none */
	enum measurement_state state;
	int socket;		    /* -1: no manager */
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

static int open_socket(struct notify *notify, const char *name, struct error *err)
{
	int r;

	notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (notify->socket < 0)
		return error_set(err, -errno, "cannot notify the service manager: %s",
				 strerror(errno));
	r = address_of(name, &notify->address, &notify->address_size, err);
	if (r < 0)
		return r;
	notify->alive_every = alive_every(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
	return 0;
}

static int open_state_file(struct notify *notify, const char *path, struct error *err)
{
	int r;

	notify->state_file = state_file_open(path);
	r = notify->state_file < 0 ? notify->state_file
				   : state_file_write(notify->state_file, STATE_STARTING);
	if (r < 0)
		return error_set(err, r, "cannot write the state to %s: %s", path, strerror(-r));
	if (notify->alive_every <= 0 || notify->alive_every > NOTIFY_FILE_EVERY)
		notify->alive_every = NOTIFY_FILE_EVERY;
	return 0;
}

int notify_open(struct notify **ret_notify, struct error *err)
{
	const char *name = getenv("NOTIFY_SOCKET"), *path = getenv(NOTIFY_FILE);
	own(own_notify_close) struct notify *notify = NULL;
	int r = 0;

	if (!name && !path)
		return 0;
	notify = calloc(1, sizeof(*notify));
	if (!notify)
		return error_set(err, -ENOMEM, "out of memory");
	notify->socket = notify->state_file = -1;
	if (name)
		r = open_socket(notify, name, err);
	if (r == 0 && path)
		r = open_state_file(notify, path, err);
	if (r < 0)
		return r;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	unsetenv(NOTIFY_FILE);
	*ret_notify = take_ptr(notify);
	return 0;
}

void notify_close(struct notify *notify)
{
	if (!notify)
		return;
	own_fd(&notify->socket);
	own_fd(&notify->state_file);
	free(notify);
}

double notify_alive_every(const struct notify *notify)
{
	return notify ? notify->alive_every : 0;
}

/* The measurement must not wait for a manager that does not read. */
static int tell(const struct notify *notify, const char *assignments)
{
	if (!notify)
		return 0;
	if (notify->state_file >= 0)
		state_file_write(notify->state_file, notify->state);
	if (notify->socket < 0)
		return 0;
	if (sendto(notify->socket, assignments, strlen(assignments), MSG_DONTWAIT | MSG_NOSIGNAL,
		   (const struct sockaddr *)&notify->address, notify->address_size) < 0)
		return -errno;
	return 0;
}

static int must_tell(const struct notify *notify, const char *assignments, struct error *err)
{
	int r = tell(notify, assignments);

	return r < 0 ? error_set(err, r, "cannot notify the service manager: %s", strerror(-r)) : 0;
}

/* What follows from it is told with the next message. */
static void set_state(struct notify *notify, enum measurement_state state)
{
	if (notify)
		notify->state = state;
}

int notify_ready(struct notify *notify, struct error *err)
{
	set_state(notify, STATE_READY);
	return must_tell(notify, "READY=1\nSTATUS=Measuring", err);
}

/* The time tells the manager whether READY=1 came before the reload or after it. */
int notify_reloading(struct notify *notify, struct error *err)
{
	char text[128];

	snprintf(text, sizeof(text), "RELOADING=1\nSTATUS=Reloading\nMONOTONIC_USEC=%" PRIu64,
		 monotonic_ns() / 1000);
	return must_tell(notify, text, err);
}

void notify_alive(struct notify *notify)
{
	tell(notify, "WATCHDOG=1");
}

void notify_stopping(struct notify *notify)
{
	set_state(notify, STATE_ENDING);
	tell(notify, "STOPPING=1\nSTATUS=Ending");
}
