// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts and stacks from the kernel into the tally, one epoch at a time. */
#include "base/clock.h"
#include "session/session_internal.h"

/* Adds what was counted to the tally. */
static int flush(struct session *session, uint32_t epoch, struct error *err)
{
	uint64_t count = 0, unwanted = 0;
	int r = drain_flush(session->drain, epoch, &count, &unwanted, err);

	session->accounting.drained += count;
	session->accounting.unwanted += unwanted;
	return r;
}

int session_drain(struct session *session, uint32_t epoch, struct unwind_limit limit,
		  struct error *err)
{
	bool final = session->stopped;
	int r = drain_take_epoch(session->drain, epoch, limit, err);

	if (r < 0)
		return r;
	r = gauge_drain(session->gauge,
			&(struct gauge_epoch){ .number = epoch,
					       .now = final ? session->stopped : session->switched,
					       .report = final || session->reports,
					       .final = final },
			session->tally, err);
	return r < 0 ? r : flush(session, epoch, err);
}

int session_watch_jit(struct session *session, struct error *err)
{
	uint32_t n;
	int r;

	images_lock(session->images);
	r = images_watch_jit(session->images, monotonic_ns(), &n);
	images_unlock(session->images);
	if (r < 0)
		return error_set(err, r, "out of memory");
	return n ? session_switch_and_drain(session, (struct unwind_limit){ 0 }, err) : 0;
}

int session_forget(struct session *session, struct tally *tally, struct error *err)
{
	return drain_forget(session->drain, tally, err);
}

int session_switch_and_drain(struct session *session, struct unwind_limit limit, struct error *err)
{
	int ended;

	session->switched = monotonic_ns();
	ended = epochs_switch(session->side.epochs, err);
	return ended < 0 ? ended : session_drain(session, (uint32_t)ended, limit, err);
}
