// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/probes.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/thread.h"
#include "trigger/refused.h"

#define DEFAULT_LIMIT  1000 /* bcc's */
#define SPARE_FILES    256  /* for everything else the process opens */
#define DETACH_THREADS 8
/* So many probes refused and none accepted: the fault is not with the single probe. */
#define REFUSED_MAX 64

/* The state of probes_attach(). */
struct attaching {
	struct probes *probes;
	const struct probes_source *source;
	struct error *err;
	uint32_t done, refused;
};

/* Errors that concern a single probe; all others would hit the next one as well. */
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

/* Takes over `fd`; closes it when out of memory. */
static int keep_fd(struct probes *probes, int fd)
{
	int r = grow(&probes->fds, &probes->fds_capacity, probes->n_fds + 1);

	if (r < 0) {
		close(fd);
		return r;
	}
	probes->fds[probes->n_fds++] = fd;
	return 0;
}

void probes_leave_out(struct probes *probes, const char *name, const char *why)
{
	size_t used = strlen(probes->left_out);
	size_t capacity = sizeof(probes->left_out) - used;

	if (snprintf(probes->left_out + used, capacity, "%s%.100s (%s)", used ? ", " : "", name,
		     why) >= (int)capacity)
		probes->left_out[used] = '\0';
	probes->n_left_out++;
}

static void show_progress(const struct probes *probes, bool detaching, uint32_t done,
			  uint32_t total)
{
	if (probes->progress)
		probes->progress(probes->progress_context, detaching, done, total);
}

static int attach_refused(struct attaching *attaching, uint32_t from, uint32_t n, int code)
{
	const struct probes_source *source = attaching->source;

	if (n > 1)
		return refused(attaching->err, code, "cannot attach to %.200s and %u others",
			       source->name(source->context, from), n - 1);
	return refused(attaching->err, code, "cannot attach to %.200s (number %u of %u)",
		       source->name(source->context, from), from + 1, source->n);
}

/*
 * One probe that the kernel refuses fails a whole multi link, so halves are tried until it is
 * alone: a recursion as deep as the logarithm of the number of probes.
 */
static int attach_range(struct attaching *attaching, uint32_t from, uint32_t n)
{
	const struct probes_source *source = attaching->source;
	struct probes *probes = attaching->probes;
	int fd = -ENOTSUPP, r;

	if (n == 1 || source->at_once)
		fd = source->attach(source->context, from, n);
	if (fd >= 0) {
		r = keep_fd(probes, fd);
		if (r < 0)
			return attach_refused(attaching, from, n, r);
		probes->n_attached += n;
	} else if (!is_about_one(fd)) {
		return attach_refused(attaching, from, n, fd);
	} else if (n > 1) {
		r = attach_range(attaching, from, n / 2);
		return r < 0 ? r : attach_range(attaching, from + n / 2, n - n / 2);
	} else {
		if (probes->n_attached == 0 && attaching->refused++ == REFUSED_MAX)
			return attach_refused(attaching, from, n, fd);
		probes_leave_out(probes, source->name(source->context, from), errno_text(fd));
	}
	attaching->done += n;
	if (attaching->done < source->n || n < source->n)
		show_progress(probes, false, attaching->done, source->n);
	return 0;
}

/* Raises the limit of open files for a descriptor for each probe. */
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
	/* Root may raise the hard limit, too. If that fails, opening tells when it is used up. */
	if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){ n, n }) < 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The descriptors to close, shared by the threads that close them. */
struct detach {
	const int *fds;
	uint32_t n_fds;
	atomic_uint next, done;
	pthread_t threads[DETACH_THREADS];
	uint32_t n_threads;
};

/* Closes until none is left; shows progress if `probes` is given. */
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
 * Each close waits for an RCU grace period. Waits of several threads overlap in part: on Linux 6.1
 * they take two thirds of the time. Where the kernel holds a lock while it waits (6.18) threads
 * gain nothing; detaching the program through a link first does not help there either.
 */
void probes_detach_begin(struct probes *probes)
{
	struct detach *detach;

	if (probes->detach || probes->n_fds == 0)
		return;
	detach = calloc(1, sizeof(*detach));
	if (!detach)
		return; /* probes_detach() then closes all */
	detach->fds = probes->fds;
	detach->n_fds = probes->n_fds;
	while (detach->n_threads < DETACH_THREADS && detach->n_threads < detach->n_fds &&
	       thread_start(&detach->threads[detach->n_threads], detach_thread, detach) == 0)
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

void probes_note(struct probes *probes, const char *format, ...)
{
	va_list arguments;
	char *note = NULL;
	int n;

	if (probes->n_notes == PROBES_NOTES_MAX)
		return;
	va_start(arguments, format);
	n = vasprintf(&note, format, arguments);
	va_end(arguments);
	if (n >= 0)
		probes->notes[probes->n_notes++] = note;
}

void probes_clear(struct probes *probes)
{
	probes_detach(probes);
	while (probes->n_notes > 0)
		free(probes->notes[--probes->n_notes]);
	free(probes->fds);
	*probes = (struct probes){ .trigger = probes->trigger };
}

int probes_attach(struct probes *probes, const struct probes_source *source, struct error *err)
{
	struct attaching attaching = { .probes = probes, .source = source, .err = err };
	int r;

	probes->n_attached = 0;
	if (!source->at_once)
		allow_files(source->n);
	r = attach_range(&attaching, 0, source->n);
	if (r == 0 && probes->n_attached == 0)
		r = error_set(err, -ENOENT, "none of the %u matches can be traced: %s", source->n,
			      probes->left_out);
	if (r < 0)
		probes_detach(probes);
	return r;
}

int probes_attach_more(struct probes *probes, const struct probes_source *source, struct error *err)
{
	uint32_t n_attached = probes->n_attached;
	int r;

	if (!source->at_once)
		allow_files((uint64_t)probes->n_fds + source->n);
	r = probes_attach(probes, source, err);
	if (r == 0)
		probes->n_attached = n_attached;
	return r;
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
