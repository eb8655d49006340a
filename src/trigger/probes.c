// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/probes.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/thread.h"
#include "trigger/refused.h"

#define DEFAULT_LIMIT	 1000 /* bcc's */
#define SPARE_FILES	 256  /* for everything else the process opens */
#define DETACH_THREADS	 8
#define HOPELESS_REFUSED 64

/* Attaching, under way. */
struct effort {
	struct probes *probes;
	const struct probes_source *source;
	struct error *err;
	uint32_t done, refused;
};

/* Errors about the one probe; all others would hit the next one as well. */
static bool is_about_one(int code)
{
	switch (code) {
	case -EINVAL:
	case -ENOENT:
	case -ESRCH:
	case -EIO:
	case -EILSEQ:
	case -EBUSY:
	case -EEXIST:
	case -EOPNOTSUPP:
	case -EADDRNOTAVAIL:
	case -ENOTSUPP:
		return true;
	default:
		return false;
	}
}

static const char *errno_text(int code)
{
	return code == -ENOTSUPP ? "Operation not supported" : strerror(-code);
}

/* Takes over `fd`, which it closes when there is no memory. */
static int keep_fd(struct probes *probes, int fd)
{
	if (probes->n_fds == probes->fds_capacity) {
		uint32_t capacity = probes->fds_capacity ? probes->fds_capacity * 2 : 16;
		int *fds = reallocarray(probes->fds, capacity, sizeof(*fds));

		if (!fds) {
			close(fd);
			return -ENOMEM;
		}
		probes->fds = fds;
		probes->fds_capacity = capacity;
	}
	probes->fds[probes->n_fds++] = fd;
	return 0;
}

void probes_leave_out(struct probes *probes, const char *name, const char *why)
{
	size_t used = strlen(probes->left_out);
	size_t room = sizeof(probes->left_out) - used;

	if (snprintf(probes->left_out + used, room, "%s%.100s (%s)", used ? ", " : "", name, why) >=
	    (int)room)
		probes->left_out[used] = '\0';
	probes->n_left_out++;
}

static void show_progress(const struct probes *probes, bool detaching, uint32_t done,
			  uint32_t total)
{
	if (probes->progress)
		probes->progress(probes->progress_context, detaching, done, total);
}

static int attach_refused(struct effort *effort, uint32_t from, uint32_t n, int code)
{
	const struct probes_source *source = effort->source;

	if (n > 1)
		return refused(effort->err, code, "cannot attach to %.200s and %u others",
			       source->name(source->context, from), n - 1);
	return refused(effort->err, code, "cannot attach to %.200s (number %u of %u)",
		       source->name(source->context, from), from + 1, source->n);
}

/*
 * One refused member fails a whole multi link, so halves are tried until the member is alone.
 * The depth of the recursion is the logarithm of the number of probes.
 */
static int attach_range(struct effort *effort, uint32_t from, uint32_t n)
{
	const struct probes_source *source = effort->source;
	struct probes *probes = effort->probes;
	int fd = -ENOTSUPP, rc;

	if (n == 1 || source->at_once)
		fd = source->attach(source->context, from, n);
	if (fd >= 0) {
		rc = keep_fd(probes, fd);
		if (rc < 0)
			return attach_refused(effort, from, n, rc);
		probes->n_attached += n;
	} else if (!is_about_one(fd)) {
		return attach_refused(effort, from, n, fd);
	} else if (n > 1) {
		rc = attach_range(effort, from, n / 2);
		return rc < 0 ? rc : attach_range(effort, from + n / 2, n - n / 2);
	} else {
		/* When nothing at all is accepted, the fault is not with the members. */
		if (probes->n_attached == 0 && effort->refused++ == HOPELESS_REFUSED)
			return attach_refused(effort, from, n, fd);
		probes_leave_out(probes, source->name(source->context, from), errno_text(fd));
	}
	effort->done += n;
	if (effort->done < source->n || n < source->n)
		show_progress(probes, false, effort->done, source->n);
	return 0;
}

/* A descriptor for each probe: more than the soft limit that most shells start with. */
static void allow_files(uint64_t n)
{
	struct rlimit limit;

	n += SPARE_FILES;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= n)
		return;
	limit.rlim_cur = n;
	if (limit.rlim_max >= n) {
		setrlimit(RLIMIT_NOFILE, &limit);
		return;
	}
	/* Root may raise the hard limit as well; if all of it is not enough, the kernel will tell.
	 */
	if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){ n, n }) < 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Detaching, under way: the descriptors, shared by the threads that close them. */
struct detach {
	const int *fds;
	uint32_t n_fds;
	atomic_uint next, done;
	pthread_t threads[DETACH_THREADS];
	uint32_t n_threads;
};

/* With `probes`, it is told how far that is. */
static void close_some(struct detach *detach, const struct probes *probes)
{
	uint32_t i, done;

	while ((i = atomic_fetch_add(&detach->next, 1)) < detach->n_fds) {
		close(detach->fds[i]);
		done = atomic_fetch_add(&detach->done, 1) + 1;
		if (probes)
			show_progress(probes, true, done, detach->n_fds);
	}
}

static void *detach_thread(void *detach)
{
	close_some(detach, NULL);
	return NULL;
}

/*
 * Each close waits for all CPUs to have passed a quiet state. The waits of several threads
 * overlap in part: on Linux 6.1 they take two thirds of the time; where the kernel holds a lock
 * over them all (6.18) nothing is gained, nor by taking the program off through a link first.
 */
void probes_detach_begin(struct probes *probes)
{
	struct detach *detach;

	if (probes->detach || probes->n_fds == 0)
		return;
	detach = calloc(1, sizeof(*detach));
	if (!detach)
		return; /* probes_detach() does it all */
	detach->fds = probes->fds;
	detach->n_fds = probes->n_fds;
	while (detach->n_threads < DETACH_THREADS && detach->n_threads < detach->n_fds &&
	       pthread_create(&detach->threads[detach->n_threads], NULL, detach_thread, detach) ==
		       0)
		detach->n_threads++;
	probes->detach = detach;
}

void probes_detach(struct probes *probes)
{
	struct detach alone = { .fds = probes->fds, .n_fds = probes->n_fds };
	struct detach *detach;

	if (probes->n_fds > 1)
		probes_detach_begin(probes);
	detach = probes->detach ? probes->detach : &alone;
	close_some(detach, detach->n_fds > 1 ? probes : NULL);
	while (detach->n_threads > 0)
		pthread_join(detach->threads[--detach->n_threads], NULL);
	free(probes->detach);
	probes->detach = NULL;
	probes->n_fds = 0;
}

void probes_clear(struct probes *probes)
{
	probes_detach(probes);
	free(probes->fds);
	*probes = (struct probes){ .trigger = probes->trigger };
}

int probes_attach(struct probes *probes, const struct probes_source *source, struct error *err)
{
	struct effort effort = { .probes = probes, .source = source, .err = err };
	int rc;

	probes->n_attached = 0;
	if (!source->at_once)
		allow_files(source->n);
	rc = attach_range(&effort, 0, source->n);
	if (rc == 0 && probes->n_attached == 0)
		rc = error_set(err, -ENOENT, "none of the %u matches can be traced: %s", source->n,
			       probes->left_out);
	if (rc < 0)
		probes_detach(probes);
	return rc;
}

uint32_t probes_n_attached(const struct trigger *trigger)
{
	return ((const struct probes *)trigger)->n_attached;
}

int probes_check_limit(uint32_t n, bool at_once, struct error *err)
{
	unsigned long limit = at_once ? UINT32_MAX : DEFAULT_LIMIT;
	const char *text = getenv("BCC_PROBE_LIMIT");
	char *end;

	if (text && *text) {
		errno = 0;
		limit = strtoul(text, &end, 10);
		if (errno || *end || *text == '-')
			return error_set(err, -EINVAL,
					 "BCC_PROBE_LIMIT is not a number of probes: %.100s", text);
	}
	if (n <= limit)
		return 0;
	return error_set(err, -E2BIG,
			 "Number of open probes would exceed global quota: %u match, %lu are "
			 "allowed; set BCC_PROBE_LIMIT to allow more",
			 n, limit);
}
