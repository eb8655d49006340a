// SPDX-License-Identifier: GPL-2.0-or-later
#include "push/push.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "push/account.h"
#include "push/backoff.h"
#include "push/sender.h"
#include "push/spool.h"

/* Of a whole request, the answer included. */
#define REQUEST_MS 30000u
/* Intervals that the thread has not taken over yet; it does within milliseconds. */
#define MAX_HANDED 64

struct handed {
	char *body;
	size_t size;
	uint64_t start_ns;
};

struct push {
	struct push_options options;
	struct sender *sender;
	pthread_t thread;
	bool started;
	int wake; /* an eventfd */

	/* Of the thread: */
	struct spool *spool;
	struct account account;
	struct backoff backoff;
	bool sending;
	uint64_t sending_size;
	uint64_t next_ms; /* not before this, by monotonic_ms() */
	uint64_t end_ms;  /* when to give up; 0: not closing */

	pthread_mutex_t lock; /* of what follows */
	struct handed handed[MAX_HANDED];
	uint32_t n_handed;
	uint64_t not_handed;
	bool closing;
};

/* ---- credentials ---- */

/* The first line of the file, which may change at any time. 0 or a negative errno. */
static int read_credentials(const char *path, char text[SENDER_CREDENTIALS_MAX])
{
	own(own_fd) int fd = -1;
	struct stat is;
	ssize_t n;

	*text = '\0';
	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &is) < 0)
		return -errno;
	if (!S_ISREG(is.st_mode))
		return -EINVAL;
	n = read(fd, text, SENDER_CREDENTIALS_MAX - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	n = (ssize_t)strcspn(text, "\r\n");
	text[n] = '\0';
	if (n == 0)
		return -ENODATA;
	/* It goes into a line of HTTP. */
	for (ssize_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return -EINVAL;
	return 0;
}

static int check_credentials(const struct push_options *options, struct error *err)
{
	char text[SENDER_CREDENTIALS_MAX];
	int r = read_credentials(options->auth, text);

	explicit_bzero(text, sizeof(text));
	if (r < 0)
		return error_set(err, r, "cannot read credentials from '%s': %s", options->auth,
				 r == -EINVAL ? "it is not a text file" : strerror(-r));
	if (options->auth && !options->target.tls && !target_is_local(&options->target))
		options->warn("WARNING: push: without https, anybody on the way can read the "
			      "credentials");
	return 0;
}

/* ---- the thread ---- */

static void take_handed(struct push *push)
{
	struct handed handed[MAX_HANDED];
	uint32_t n;

	pthread_mutex_lock(&push->lock);
	n = push->n_handed;
	memcpy(handed, push->handed, n * sizeof(*handed));
	push->n_handed = 0;
	push->account.not_kept += push->not_handed;
	push->not_handed = 0;
	if (push->closing && !push->end_ms) {
		push->end_ms = monotonic_ms() + PUSH_FLUSH_MS;
		push->next_ms = 0;
	}
	pthread_mutex_unlock(&push->lock);
	for (uint32_t i = 0; i < n; i++) {
		if (spool_add(push->spool, handed[i].start_ns, handed[i].body, handed[i].size) < 0)
			push->account.not_kept++;
		free(handed[i].body);
	}
}

static uint32_t random_number(void)
{
	uint32_t number = 0;

	return getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number) ? number : 0;
}

static void wait_longer(struct push *push, uint64_t asked_s)
{
	push->next_ms =
		monotonic_ms() + backoff_failed(&push->backoff, asked_s * 1000, random_number());
}

static void settle(struct push *push, const struct exchange_result *result)
{
	push->sending = false;
	if (result->outcome == OUTCOME_LATER)
		spool_return(push->spool);
	else
		spool_done(push->spool);
	account_result(&push->account, result, push->sending_size, push->spool);
	if (result->outcome == OUTCOME_LATER || result->outcome == OUTCOME_UNANSWERED) {
		wait_longer(push, result->retry_after_s);
	} else {
		backoff_succeeded(&push->backoff);
		push->next_ms = 0;
	}
	/* What waits for longer than a request belongs on disk. */
	if (push->next_ms)
		spool_store(push->spool);
}

static void begin(struct push *push)
{
	char credentials[SENDER_CREDENTIALS_MAX];
	struct exchange_result result = { .outcome = OUTCOME_LATER };
	uint64_t now = monotonic_ms(), limit = REQUEST_MS;
	bool unreadable;
	int body, r;

	if (push->end_ms)
		limit = push->end_ms > now ? push->end_ms - now : 1;
	body = spool_take(push->spool, &push->sending_size);
	if (body < 0)
		return;
	r = read_credentials(push->options.auth, credentials);
	unreadable = r < 0;
	if (r == 0)
		r = sender_begin(push->sender, body, push->sending_size, credentials,
				 (uint32_t)limit);
	explicit_bzero(credentials, sizeof(credentials));
	if (r == 0) {
		push->sending = true;
		return;
	}
	if (r == -EPIPE)
		snprintf(result.text, sizeof(result.text), "the process that sends died");
	else
		snprintf(result.text, sizeof(result.text), "%s: %s",
			 unreadable ? "cannot read credentials" : "cannot start to send",
			 strerror(-r));
	settle(push, &result);
}

/* How long to sleep. */
static int timeout_ms(const struct push *push)
{
	uint64_t now = monotonic_ms(), due = account_due_ms(&push->account);

	if (push->end_ms && push->end_ms < now + due)
		due = push->end_ms > now ? push->end_ms - now : 0;
	if (!push->sending && spool_n(push->spool) > 0 && push->next_ms < now + due)
		due = push->next_ms > now ? push->next_ms - now : 0;
	return (int)due + 1;
}

static bool is_over(const struct push *push)
{
	if (!push->end_ms)
		return false;
	return (spool_n(push->spool) == 0 && !push->sending) || monotonic_ms() >= push->end_ms;
}

static void give_up(struct push *push)
{
	struct exchange_result result = { .outcome = OUTCOME_UNANSWERED,
					  .text = "there was no answer before the end" };

	if (push->sending)
		settle(push, &result);
	spool_store(push->spool);
}

static void *work(void *context)
{
	struct push *push = context;
	struct exchange_result result;
	uint64_t count;

	prctl(PR_SET_NAME, "push", 0, 0, 0);
	for (;;) {
		struct pollfd each[] = { { .fd = push->wake, .events = POLLIN },
					 { .fd = push->sending ? sender_fd(push->sender) : -1,
					   .events = POLLIN } };

		poll(each, 2, timeout_ms(push));
		if (each[0].revents && read(push->wake, &count, sizeof(count)) < 0)
			count = 0; /* another wake-up had taken it */
		take_handed(push);
		if (each[1].revents) {
			sender_finish(push->sender, &result);
			settle(push, &result);
		}
		if (is_over(push))
			break;
		if (!push->sending && monotonic_ms() >= push->next_ms)
			begin(push);
		else if (push->next_ms)
			spool_store(push->spool);
		account_tell(&push->account, push->spool, false);
	}
	give_up(push);
	account_tell(&push->account, push->spool, true);
	return NULL;
}

/* ---- the caller's side ---- */

static void push_free(struct push *push)
{
	sender_close(push->sender);
	spool_close(push->spool);
	if (push->wake >= 0)
		close(push->wake);
	pthread_mutex_destroy(&push->lock);
	free(push);
}

static void tell_found(const struct push *push)
{
	const struct spool_losses *losses = spool_losses(push->spool);
	char line[400];

	if (losses->foreign) {
		snprintf(line, sizeof(line),
			 "push: %llu files in the spool are not intervals for this protocol, and "
			 "stay there",
			 (unsigned long long)losses->foreign);
		push->options.warn(line);
	}
	if (spool_n(push->spool)) {
		snprintf(line, sizeof(line),
			 "push: %u intervals of an earlier run are in the spool",
			 spool_n(push->spool));
		push->options.note(line);
	}
}

int push_open(const struct push_options *options, struct push **ret_push, struct error *err)
{
	own(own_push_close) struct push *push = calloc(1, sizeof(*push));
	int r;

	if (!push)
		return error_set(err, -ENOMEM, "out of memory");
	push->options = *options;
	pthread_mutex_init(&push->lock, NULL);
	push->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (push->wake < 0)
		return error_set(err, -errno, "cannot make an eventfd: %s", strerror(errno));
	account_start(&push->account, &push->options);
	r = check_credentials(options, err);
	if (r == 0)
		r = sender_open(&push->options.target, options->ca, &push->sender, err);
	if (r == 0)
		r = spool_open(options->spool, options->spool_bytes,
			       target_protocol_name(options->target.protocol), &push->spool, err);
	if (r < 0)
		return r;
	*ret_push = take_ptr(push);
	return 0;
}

int push_start(struct push *push, struct error *err)
{
	int r = sender_start(push->sender, err);

	if (r < 0)
		return r;
	tell_found(push);
	r = thread_start(&push->thread, work, push);
	if (r < 0)
		return error_set(err, r, "cannot start a thread: %s", strerror(-r));
	push->started = true;
	return 0;
}

static void wake(struct push *push)
{
	uint64_t one = 1;

	if (write(push->wake, &one, sizeof(one)) < 0)
		return; /* it is awake */
}

void push_add(struct push *push, uint64_t start_ns, const void *body, size_t size)
{
	struct handed handed = { .body = malloc(size + 1), .size = size, .start_ns = start_ns };

	if (handed.body)
		memcpy(handed.body, body, size);
	pthread_mutex_lock(&push->lock);
	if (handed.body && push->n_handed < MAX_HANDED) {
		push->handed[push->n_handed++] = handed;
	} else {
		push->not_handed++;
		free(handed.body);
	}
	pthread_mutex_unlock(&push->lock);
	wake(push);
}

void push_close(struct push *push)
{
	if (!push)
		return;
	if (push->started) {
		pthread_mutex_lock(&push->lock);
		push->closing = true;
		pthread_mutex_unlock(&push->lock);
		wake(push);
		pthread_join(push->thread, NULL);
	}
	push_free(push);
}
