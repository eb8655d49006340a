// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/remote_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/thread.h"

#define PATIENCE_SECONDS 1

#define STUCK_MAX 8

/* A thread that reads, and what it is asked. */
struct reader {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	enum { IDLE, ASKED, ANSWERED, ENDING } state;
	struct remote_place from;
	size_t size;
	ssize_t n;
	unsigned char bytes[REMOTE_MEMORY_MAX];
};

struct remote_memory {
	struct reader *reader;	/* NULL: too many did not come back */
	pid_t stuck[STUCK_MAX]; /* processes whose memory could not be read in time */
	uint32_t n_stuck;
};

static ssize_t do_read(struct reader *reader)
{
	struct iovec to = { reader->bytes, reader->size };
	struct iovec of = { (void *)(uintptr_t)reader->from.address, // NOLINT: another's
			    reader->size };

	return process_vm_readv(reader->from.tid, &to, 1, &of, 1, 0);
}

static void *read_for_others(void *context)
{
	struct reader *reader = context;

	pthread_mutex_lock(&reader->lock);
	while (reader->state != ENDING) {
		ssize_t n;

		if (reader->state != ASKED) {
			pthread_cond_wait(&reader->changed, &reader->lock);
			continue;
		}
		pthread_mutex_unlock(&reader->lock);
		n = do_read(reader);
		pthread_mutex_lock(&reader->lock);
		reader->n = n;
		reader->state = ANSWERED;
		pthread_cond_broadcast(&reader->changed);
	}
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

static void discard(struct reader *reader)
{
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

static int start_reader(struct reader **ret_reader)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	pthread_condattr_t monotonic;
	int r;

	if (!reader)
		return -ENOMEM;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&reader->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&reader->lock, NULL);
	r = thread_start(&reader->thread, read_for_others, reader);
	if (r < 0)
		discard(reader);
	else
		*ret_reader = reader;
	return r;
}

int remote_memory_new(struct remote_memory **ret_memory)
{
	struct remote_memory *memory = calloc(1, sizeof(*memory));
	int r = memory ? start_reader(&memory->reader) : -ENOMEM;

	if (r < 0)
		free(memory);
	else
		*ret_memory = memory;
	return r;
}

void remote_memory_free(struct remote_memory *memory)
{
	struct reader *reader = memory ? memory->reader : NULL;

	if (reader) {
		pthread_mutex_lock(&reader->lock);
		reader->state = ENDING;
		pthread_cond_broadcast(&reader->changed);
		pthread_mutex_unlock(&reader->lock);
		pthread_join(reader->thread, NULL);
		discard(reader);
	}
	free(memory);
}

static bool is_stuck(const struct remote_memory *memory, pid_t tgid)
{
	for (uint32_t i = 0; i < memory->n_stuck; i++)
		if (memory->stuck[i] == tgid)
			return true;
	return false;
}

/* Leaves the reader, which keeps its memory, to itself, and has another one take its place. */
static void give_up(struct remote_memory *memory, pid_t tgid)
{
	memory->reader = NULL;
	if (memory->n_stuck < STUCK_MAX)
		memory->stuck[memory->n_stuck++] = tgid;
	if (memory->n_stuck < STUCK_MAX)
		start_reader(&memory->reader);
}

size_t remote_memory_read(struct remote_memory *memory, const struct remote_place *from, void *to,
			  size_t size)
{
	struct reader *reader = memory->reader;
	struct timespec until;
	size_t n = 0;
	bool came;
	int r = 0;

	if (!reader || size > REMOTE_MEMORY_MAX || is_stuck(memory, from->tgid))
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_SECONDS;
	pthread_mutex_lock(&reader->lock);
	reader->from = *from;
	reader->size = size;
	reader->state = ASKED;
	pthread_cond_broadcast(&reader->changed);
	while (reader->state == ASKED && r == 0)
		r = pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
	came = reader->state == ANSWERED;
	if (came) {
		n = reader->n > 0 ? (size_t)reader->n : 0;
		memcpy(to, reader->bytes, n);
		reader->state = IDLE;
	}
	pthread_mutex_unlock(&reader->lock);
	if (!came)
		give_up(memory, from->tgid);
	return n;
}
