/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs this program as one of its commands, to see what it says.
 */
#ifndef STACKTALLY_CHECK_SELF_RUN_H
#define STACKTALLY_CHECK_SELF_RUN_H

struct self_run {
	int status; /* as a shell shows it; -1: it did not end in time, or could not be run */
	char *out;  /* stdout, as far as 8 MB of it; NULL: out of memory */
	char *said; /* stderr, the same */
};

static inline const char *self_run_out(const struct self_run *run)
{
	return run->out ? run->out : "";
}

static inline const char *self_run_said(const struct self_run *run)
{
	return run->said ? run->said : "";
}

/* `arguments` ends with NULL; the first is the command: "profile". Clear the result. */
void self_run(const char *const *arguments, struct self_run *ret_run);
void self_run_clear(struct self_run *run);

#endif
