/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that says what a measurement does and when it last gave a sign of life, for what has no
 * service manager's socket: probes in a container, which run as processes beside it. The file is
 * written in place, one line of fixed length.
 */
#ifndef STACKTALLY_NOTIFY_STATE_FILE_H
#define STACKTALLY_NOTIFY_STATE_FILE_H

#include <stdint.h>

enum measurement_state {
	STATE_STARTING,
	STATE_READY, /* it measures */
	STATE_ENDING,
	N_STATES
};

/* "starting", "ready", "ending". */
const char *state_name(enum measurement_state state);

/* Opens the file for writing, makes it if it is missing. A descriptor or a negative errno. */
int state_file_open(const char *path);

/* Writes the state, as of now. 0 or a negative errno. */
int state_file_write(int fd, enum measurement_state state);

/*
 * Reads the state and how long ago it was written, in ns. 0; -EINVAL: the file says something else;
 * or another negative errno.
 */
int state_file_read(const char *path, enum measurement_state *ret_state, uint64_t *ret_age_ns);

#endif
