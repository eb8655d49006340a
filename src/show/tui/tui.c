// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/tui.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/thread.h"
#include "tui/browser.h"
#include "tui/draw.h"
#include "tui/keys.h"
#include "tui/terminal.h"

#define ESCAPE_MS  50	/* after which a single escape character is the Escape key */
#define RESUMED_MS 1000 /* between two checks whether the process was stopped */
#define STUCK_MS   100	/* between two checks whether to end, while the terminal takes nothing */
#define TITLE_SIZE 256

/* What the measuring thread hands to the drawing thread. */
struct mailbox {
	bool any;
	struct flame_tree tree;
	struct flame_frame *frames; /* only grow, as does the drawing thread's copy */
	uint32_t n_frames, capacity;
	struct tui_counts counts;
	bool ended, close;
};

struct tui {
	int terminal, wake, resized;
	char title[TITLE_SIZE];
	const char *unit, *events; /* constants: of struct draw_status */
	pthread_t thread;
	bool running;
	sigset_t before;

	pthread_mutex_t lock; /* of what follows */
	struct mailbox mailbox;
	bool quit; /* by the user */
	pthread_cond_t quit_changed;

	/* The drawing thread's own. */
	struct screen *screen;
	struct browser browser;
	struct flame_tree tree, next; /* shown; kept for the end of a freeze */
	bool has_next;
	struct flame_frame *frames;
	uint32_t n_frames, capacity;
	struct tui_counts counts;
	bool ended;
	char bytes[256];
	size_t n_bytes;
};

/* ---- the drawing thread */

static bool is_closing(struct tui *tui)
{
	bool close;

	pthread_mutex_lock(&tui->lock);
	close = tui->mailbox.close;
	pthread_mutex_unlock(&tui->lock);
	return close;
}

/* Returns 1 when it is time to end but the terminal takes nothing, as when its connection hangs. */
static int put(struct tui *tui, const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size) {
		ssize_t n = write(tui->terminal, bytes + at, size - at);

		if (n > 0)
			at += (size_t)n;
		else if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		else if (!terminal_is_writable(tui->terminal, STUCK_MS) && is_closing(tui))
			return 1;
	}
	return 0;
}

static int show(struct tui *tui)
{
	const struct draw_status status = {
		.title = tui->title,
		.unit = tui->unit,
		.events = tui->events,
		.seconds = (double)tui->counts.duration_ns / 1e9,
		.samples = tui->counts.samples,
		.lost = tui->counts.lost,
		.ended = tui->ended,
	};
	own(own_free) char *bytes = NULL;
	size_t size = 0;
	FILE *out;

	draw(tui->screen, &tui->browser, &status);
	out = open_memstream(&bytes, &size);
	if (!out)
		return -ENOMEM;
	screen_flush(tui->screen, out);
	if (fclose(out) != 0)
		return -ENOMEM;
	if (terminal_is_suspended()) {
		screen_invalidate(tui->screen);
		return 0;
	}
	return put(tui, bytes, size);
}

static int resize(struct tui *tui)
{
	uint32_t rows, columns;
	int r;

	terminal_size(tui->terminal, &rows, &columns);
	r = screen_resize(tui->screen, rows, columns);
	rows = screen_rows(tui->screen);
	if (r < 0)
		return r;
	return browser_resize(&tui->browser, rows > DRAW_OTHER_ROWS ? rows - DRAW_OTHER_ROWS : 0,
			      screen_columns(tui->screen));
}

/* Shows the newest tree, unless the picture is frozen. */
static int show_next(struct tui *tui)
{
	struct flame_tree old = tui->tree;
	int r;

	if (!tui->has_next || (tui->browser.frozen && tui->browser.tree))
		return 0;
	tui->tree = tui->next;
	tui->next = (struct flame_tree){ 0 };
	tui->has_next = false;
	r = browser_update(&tui->browser, &tui->tree, tui->frames, tui->n_frames);
	flame_tree_clear(&old);
	return r;
}

/* Copies the new frames, as the measuring thread may move its array. */
static int take_frames(struct tui *tui)
{
	struct mailbox *mailbox = &tui->mailbox;

	int r = grow(&tui->frames, &tui->capacity, mailbox->n_frames);

	if (r < 0)
		return r;
	tui->browser.frames = tui->frames;
	if (mailbox->n_frames > tui->n_frames)
		memcpy(tui->frames + tui->n_frames, mailbox->frames + tui->n_frames,
		       (mailbox->n_frames - tui->n_frames) * sizeof(*tui->frames));
	tui->n_frames = mailbox->n_frames;
	return 0;
}

/* Returns 1 when it is time to end. */
static int take_mail(struct tui *tui)
{
	struct mailbox *mailbox = &tui->mailbox;
	int r;

	pthread_mutex_lock(&tui->lock);
	r = mailbox->close;
	tui->ended = mailbox->ended;
	if (!r && mailbox->any) {
		r = take_frames(tui);
		flame_tree_clear(&tui->next);
		tui->next = mailbox->tree;
		tui->has_next = true;
		mailbox->tree = (struct flame_tree){ 0 };
		mailbox->any = false;
		tui->counts = mailbox->counts;
	}
	pthread_mutex_unlock(&tui->lock);
	return r ? r : show_next(tui);
}

static void request_quit(struct tui *tui)
{
	bool ended;

	pthread_mutex_lock(&tui->lock);
	tui->quit = true;
	ended = tui->mailbox.ended;
	pthread_cond_broadcast(&tui->quit_changed);
	pthread_mutex_unlock(&tui->lock);
	/* Ends the measurement, as Ctrl-C would. */
	if (!ended)
		kill(getpid(), SIGINT);
}

static int take_keys(struct tui *tui, bool last)
{
	uint32_t key;
	size_t used, at = 0;
	int r = 0;

	while (r >= 0 && (used = keys_decode(tui->bytes + at, tui->n_bytes - at, last, &key)) > 0) {
		at += used;
		if (key == KEY_REDRAW)
			screen_invalidate(tui->screen);
		else if (key == KEY_SUSPEND)
			terminal_suspend();
		else if (key != KEY_NONE)
			r = browser_key(&tui->browser, key);
		if (r == BROWSER_QUIT)
			request_quit(tui);
	}
	tui->n_bytes -= at;
	memmove(tui->bytes, tui->bytes + at, tui->n_bytes);
	return r < 0 ? r : show_next(tui);
}

/* Returns 1 when the terminal is gone. */
static int read_keys(struct tui *tui)
{
	ssize_t n =
		read(tui->terminal, tui->bytes + tui->n_bytes, sizeof(tui->bytes) - tui->n_bytes);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return 1;
	tui->n_bytes += (size_t)n;
	return take_keys(tui, false);
}

static int handle_events(struct tui *tui)
{
	struct pollfd fds[] = {
		{ .fd = tui->terminal, .events = POLLIN },
		{ .fd = tui->wake, .events = POLLIN },
		{ .fd = tui->resized, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	eventfd_t woken;
	int r = 0, n = poll(fds, 3, tui->n_bytes ? ESCAPE_MS : RESUMED_MS);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (terminal_was_resumed())
		r = resize(tui);
	if (n == 0 && tui->n_bytes)
		r = take_keys(tui, true);
	if (r == 0 && fds[2].revents && read(tui->resized, &info, sizeof(info)) > 0)
		r = resize(tui);
	if (r == 0 && fds[1].revents && eventfd_read(tui->wake, &woken) == 0)
		r = take_mail(tui);
	if (r == 0 && fds[0].revents)
		r = read_keys(tui);
	return r ? r : show(tui);
}

static void *browse(void *context)
{
	struct tui *tui = context;
	int r = resize(tui);

	if (r == 0)
		r = show(tui);
	while (r == 0)
		r = handle_events(tui);
	/* Without a terminal or memory nothing can be shown any more. */
	if (!is_closing(tui))
		request_quit(tui);
	return NULL;
}

/* ---- the other threads */

static int make_parts(struct tui *tui)
{
	struct terminal_capabilities capabilities = terminal_capabilities();
	sigset_t resized;

	sigemptyset(&resized);
	sigaddset(&resized, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &resized, &tui->before);
	tui->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	tui->resized = signalfd(-1, &resized, SFD_CLOEXEC | SFD_NONBLOCK);
	if (tui->wake < 0 || tui->resized < 0)
		return -errno;
	return screen_new(capabilities.colours, capabilities.utf8, &tui->screen);
}

int tui_open(const char *title, const char *unit, const char *events, struct tui **ret_tui,
	     struct error *err)
{
	own(own_tui_close) struct tui *tui = NULL;
	int r;

	if (!terminal_capabilities().cursor_addressing)
		return error_usage(err, "argument --tui: the terminal (TERM=%s) cannot be drawn on",
				   getenv("TERM") ? getenv("TERM") : "");
	tui = calloc(1, sizeof(*tui));
	if (!tui)
		return error_set(err, -ENOMEM, "out of memory");
	tui->terminal = tui->wake = tui->resized = -1;
	snprintf(tui->title, sizeof(tui->title), "%s", title);
	tui->unit = unit;
	tui->events = events;
	pthread_mutex_init(&tui->lock, NULL);
	pthread_cond_init(&tui->quit_changed, NULL);
	r = make_parts(tui);
	if (r < 0)
		return error_set(err, r, "cannot draw: %s", strerror(-r));
	tui->terminal = terminal_open(err);
	if (tui->terminal < 0)
		return tui->terminal;
	r = thread_start(&tui->thread, browse, tui);
	if (r < 0)
		return error_set(err, r, "cannot start a thread: %s", strerror(-r));
	tui->running = true;
	*ret_tui = take_ptr(tui);
	return 0;
}

static void wake(struct tui *tui)
{
	eventfd_write(tui->wake, 1);
}

void tui_close(struct tui *tui)
{
	if (!tui)
		return;
	if (tui->running) {
		pthread_mutex_lock(&tui->lock);
		tui->mailbox.close = true;
		pthread_mutex_unlock(&tui->lock);
		wake(tui);
		pthread_join(tui->thread, NULL);
	}
	terminal_close();
	pthread_sigmask(SIG_SETMASK, &tui->before, NULL);
	own_fd(&tui->wake);
	own_fd(&tui->resized);
	browser_clear(&tui->browser);
	screen_free(tui->screen);
	flame_tree_clear(&tui->tree);
	flame_tree_clear(&tui->next);
	flame_tree_clear(&tui->mailbox.tree);
	free(tui->frames);
	free(tui->mailbox.frames);
	pthread_cond_destroy(&tui->quit_changed);
	pthread_mutex_destroy(&tui->lock);
	free(tui);
}

static int add_frames(struct mailbox *mailbox, const struct flame_frames *frames)
{
	uint32_t n = flame_frames_n(frames);
	int r = grow(&mailbox->frames, &mailbox->capacity, n);

	if (r < 0)
		return r;
	for (; mailbox->n_frames < n; mailbox->n_frames++)
		mailbox->frames[mailbox->n_frames] = *flame_frames_get(frames, mailbox->n_frames);
	return 0;
}

int tui_show(struct tui *tui, const struct flame_frames *frames, struct flame_tree *tree,
	     const struct tui_counts *counts)
{
	int r;

	pthread_mutex_lock(&tui->lock);
	r = add_frames(&tui->mailbox, frames);
	if (r == 0) {
		flame_tree_clear(&tui->mailbox.tree);
		tui->mailbox.tree = *tree;
		*tree = (struct flame_tree){ 0 };
		tui->mailbox.counts = *counts;
		tui->mailbox.any = true;
	}
	pthread_mutex_unlock(&tui->lock);
	wake(tui);
	return r;
}

void tui_wait(struct tui *tui)
{
	pthread_mutex_lock(&tui->lock);
	tui->mailbox.ended = true;
	wake(tui);
	while (!tui->quit)
		pthread_cond_wait(&tui->quit_changed, &tui->lock);
	pthread_mutex_unlock(&tui->lock);
}
