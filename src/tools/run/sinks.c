// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/sinks.h"

#define SINK_ADDRESS(id) &id##_sink,
static const struct sink_ops *const all[] = { SINKS(SINK_ADDRESS) };

/* Calls a hook of each sink that has it, until one fails; defines `r`. */
#define CALL_EACH(hook, ...)                                                                       \
	int r = 0;                                                                                 \
                                                                                                   \
	for (uint32_t i = 0; r == 0 && i < sinks->n; i++)                                          \
		if (sinks->list[i].ops->hook)                                                      \
			r = sinks->list[i].ops->hook(sinks->list[i].self, __VA_ARGS__);            \
	return r

int sinks_open(struct sinks *sinks, const struct sink_source *source, struct plan *plan,
	       struct error *err)
{
	for (uint32_t i = 0; i < SINKS_MAX; i++) {
		void *self = NULL;
		int r = all[i]->open(source, plan, &self, err);

		if (r < 0)
			return r;
		if (!self)
			continue;
		sinks->list[sinks->n].ops = all[i];
		sinks->list[sinks->n++].self = self;
	}
	return 0;
}

int sinks_loaded(const struct sinks *sinks, struct error *err)
{
	CALL_EACH(loaded, err);
}

/* A sink that draws on the terminal would be disturbed there. */
int sinks_announce(const struct sinks *sinks, struct error *err)
{
	if (sinks_take_terminal(sinks))
		return 0;
	CALL_EACH(announce, err);
}

int sinks_begin(const struct sinks *sinks, const struct sink_source *source, struct error *err)
{
	CALL_EACH(begin, source, err);
}

int sinks_launched(const struct sinks *sinks, struct error *err)
{
	CALL_EACH(launched, err);
}

int sinks_slice(const struct sinks *sinks, enum session_event event, struct error *err)
{
	CALL_EACH(slice, event, err);
}

int sinks_back(const struct sinks *sinks, enum session_event event, struct error *err)
{
	CALL_EACH(back, event, err);
}

int sinks_show(const struct sinks *sinks, enum session_event event, struct error *err)
{
	CALL_EACH(show, event, err);
}

int sinks_report(const struct sinks *sinks, struct error *err)
{
	CALL_EACH(report, err);
}

int sinks_done(const struct sinks *sinks, enum session_event event, struct error *err)
{
	CALL_EACH(done, event, err);
}

void sinks_end(const struct sinks *sinks)
{
	for (uint32_t i = 0; i < sinks->n; i++)
		if (sinks->list[i].ops->end)
			sinks->list[i].ops->end(sinks->list[i].self);
}

int sinks_finish(const struct sinks *sinks, struct error *err)
{
	CALL_EACH(finish, err);
}

void sinks_close(struct sinks *sinks)
{
	for (uint32_t i = 0; i < sinks->n; i++)
		if (sinks->list[i].ops->close)
			sinks->list[i].ops->close(sinks->list[i].self);
	sinks->n = 0;
}

bool sinks_want_names(const struct sinks *sinks)
{
	bool wanted = false;

	for (uint32_t i = 0; i < sinks->n; i++)
		if (sinks->list[i].ops->wants_names)
			wanted |= sinks->list[i].ops->wants_names(sinks->list[i].self);
	return wanted;
}

bool sinks_are_cumulative(const struct sinks *sinks)
{
	bool cumulative = false;

	for (uint32_t i = 0; i < sinks->n; i++)
		cumulative |= sinks->list[i].ops->cumulative;
	return cumulative;
}

bool sinks_take_terminal(const struct sinks *sinks)
{
	bool taken = false;

	for (uint32_t i = 0; i < sinks->n; i++)
		taken |= sinks->list[i].ops->takes_terminal;
	return taken;
}
