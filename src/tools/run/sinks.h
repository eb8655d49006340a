/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sinks of one measurement, and a function for each hook of sink.h that calls it for all of
 * them. The functions that return int stop at the first sink that fails, and return its negative
 * errno with `err` set.
 */
#ifndef STACKTALLY_RUN_SINKS_H
#define STACKTALLY_RUN_SINKS_H

#include "run/sink.h"

#define SINK_COUNT(id) +1
#define SINKS_MAX      (0 SINKS(SINK_COUNT))

struct sinks {
	struct {
		const struct sink_ops *ops;
		void *self;
	} list[SINKS_MAX]; /* those that the plan asks for */
	uint32_t n;
};

/* sinks_close() is due also after an error. */
int sinks_open(struct sinks *sinks, const struct sink_source *source, struct plan *plan,
	       struct error *err);
int sinks_loaded(const struct sinks *sinks, struct error *err);
int sinks_announce(const struct sinks *sinks, struct error *err);
int sinks_begin(const struct sinks *sinks, const struct sink_source *source, struct error *err);
int sinks_launched(const struct sinks *sinks, struct error *err);
int sinks_slice(const struct sinks *sinks, enum session_event event, struct error *err);
int sinks_back(const struct sinks *sinks, enum session_event event, struct error *err);
int sinks_show(const struct sinks *sinks, enum session_event event, struct error *err);
int sinks_report(const struct sinks *sinks, struct error *err);
int sinks_done(const struct sinks *sinks, enum session_event event, struct error *err);
void sinks_end(const struct sinks *sinks);
int sinks_finish(const struct sinks *sinks, struct error *err);
void sinks_close(struct sinks *sinks);

/* Whether any sink wants names, is cumulative, or takes the terminal. */
bool sinks_want_names(const struct sinks *sinks);
bool sinks_are_cumulative(const struct sinks *sinks);
bool sinks_take_terminal(const struct sinks *sinks);

#endif
