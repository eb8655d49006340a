// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "notify/notify.h"
#include "notify/state_file.h"

/* Naming a large report may take some time, as for the service's watchdog. */
#define PATIENCE_NS (180 * NS_PER_SECOND)

int probe(const char *what, struct error *err)
{
	bool ready = strcmp(what, "ready") == 0;
	const char *path = getenv(NOTIFY_FILE);
	enum measurement_state state;
	uint64_t age_ns;
	int r;

	if (!ready && strcmp(what, "alive") != 0)
		return error_usage(err, "probe takes 'ready' or 'alive', not '%s'", what);
	if (!path)
		return error_usage(err, "%s is not set: it names the file that a measurement keeps",
				   NOTIFY_FILE);
	r = state_file_read(path, &state, &age_ns);
	if (r < 0)
		return error_set(err, r, "%s does not tell how the measurement is: %s", path,
				 strerror(-r));
	if (age_ns > PATIENCE_NS)
		return error_set(err, -ETIMEDOUT,
				 "the measurement, which was %s, has given no sign of life for "
				 "%" PRIu64 " s",
				 state_name(state), age_ns / NS_PER_SECOND);
	if (ready && state != STATE_READY)
		return error_set(err, -EAGAIN, "the measurement is %s", state_name(state));
	return 0;
}
