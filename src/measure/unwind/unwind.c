// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/unwind.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu_wait.h"
#include "base/own.h"
#include "unwind/finish.h"
#include "unwind/process_tables.h"

/* If more slots of mappings than this are retired, a thread waits for a grace period. */
#define MAX_RETIRED_SLOTS 2048u

struct unwind {
	struct images *images;
	struct unwind_maps *maps;
	struct blocks *blocks;
	struct table_cache *cache;
	struct tables *tables;
	struct layouts layouts;
	struct process_tables *processes;
	const struct id_list *only; /* or NULL */
};

/* ---- changes of process images ---- */

static bool is_walked(const struct unwind *unwind, pid_t tgid)
{
	for (uint32_t i = 0; unwind->only && i < unwind->only->n; i++)
		if (unwind->only->ids[i] == tgid)
			return true;
	return !unwind->only;
}

static void on_changed(void *context, pid_t tgid)
{
	struct unwind *unwind = context;

	if (is_walked(unwind, tgid))
		process_tables_changed(unwind->processes, tgid);
}

static void on_forked(void *context, pid_t child, pid_t parent)
{
	struct unwind *unwind = context;

	if (is_walked(unwind, child))
		process_tables_forked(unwind->processes, child, parent);
}

static void on_ended(void *context, pid_t tgid)
{
	struct unwind *unwind = context;

	process_tables_ended(unwind->processes, tgid);
}

/* ---- opening and closing ---- */

/* Goes on without a cache that cannot be opened: a cache only saves time. */
static void open_cache(struct unwind *unwind, const char *directory)
{
	if (directory && directory[0])
		table_cache_open(directory, 0, &unwind->cache);
}

static int build(struct unwind *unwind, const struct unwind_options *options)
{
	int r = blocks_new(unwind->maps,
			   options && options->memory ? options->memory : UNWIND_MEMORY_DEFAULT,
			   &unwind->blocks);

	if (r < 0)
		return r;
	open_cache(unwind, options ? options->cache : NULL);
	r = tables_new(unwind->images, unwind->maps, unwind->blocks, unwind->cache,
		       &unwind->tables);
	if (r < 0)
		return r;
	if (options)
		tables_set_interpreter(unwind->tables, options->interpreter,
				       options->interpreter_context);
	r = layouts_init(&unwind->layouts, unwind->tables, unwind->blocks);
	if (r < 0)
		return r;
	if (options) {
		unwind->layouts.interprets = options->interprets;
		unwind->layouts.interpreter_context = options->interpreter_context;
	}
	return process_tables_new(unwind->images, &unwind->layouts, unwind->maps,
				  &unwind->processes);
}

int unwind_new(struct images *images, struct unwind_maps *maps,
	       const struct unwind_options *options, struct unwind **ret_unwind, struct error *err)
{
	struct unwind *unwind = calloc(1, sizeof(*unwind));
	struct images_watch watch = {
		.changed = on_changed,
		.forked = on_forked,
		.ended = on_ended,
		.context = unwind,
	};
	int r;

	if (!unwind) {
		unwind_maps_close(maps);
		return error_set(err, -ENOMEM, "out of memory");
	}
	unwind->maps = maps;
	unwind->images = images;
	unwind->only = options ? options->only : NULL;
	r = build(unwind, options);
	if (r < 0) {
		unwind_free(unwind);
		return error_set(err, r, "cannot set up unwinding tables: %s%s", strerror(-r),
				 error_remedy(r));
	}
	images_set_watch(images, &watch);
	images_each(images, on_changed, unwind);
	*ret_unwind = unwind;
	return 0;
}

void unwind_free(struct unwind *unwind)
{
	if (!unwind)
		return;
	images_set_watch(unwind->images, NULL);
	process_tables_free(unwind->processes);
	layouts_clear(&unwind->layouts);
	tables_free(unwind->tables);
	table_cache_close(unwind->cache);
	blocks_free(unwind->blocks);
	unwind_maps_close(unwind->maps);
	free(unwind);
}

int unwind_fd(const struct unwind *unwind)
{
	return tables_fd(unwind->tables);
}

/* ---- updating ---- */

static void refresh(void *context)
{
	struct unwind *unwind = context;

	layouts_refresh(&unwind->layouts);
}

int unwind_update(struct unwind *unwind, struct error *err)
{
	uint64_t now = monotonic_ns();
	int r;

	blocks_settle(unwind->blocks);
	r = process_tables_flush(unwind->processes, now, err);
	if (r == 0)
		r = tables_update(unwind->tables, now, refresh, unwind, err);
	layouts_refresh(&unwind->layouts);
	tables_prepare_blocks(unwind->tables,
			      chunk_slots_retired(unwind->layouts.slots) > MAX_RETIRED_SLOTS);
	return r;
}

int unwind_expect_file(struct unwind *unwind, uint32_t file)
{
	uint32_t table;
	int r = tables_of_file(unwind->tables, file, &table);

	if (r < 0)
		return r;
	tables_use(unwind->tables, table);
	tables_hit(unwind->tables, table, monotonic_ns());
	return 0;
}

bool unwind_is_pending(const struct unwind *unwind)
{
	return tables_are_pending(unwind->tables);
}

/* When the limit is reached, as far as is known now. */
static uint64_t extended(uint64_t begin, struct unwind_limit limit, uint64_t waited_before)
{
	uint64_t waited = cpu_wait_ns();

	/* Children that have ended meanwhile are missing. */
	waited = waited > waited_before ? waited - waited_before : 0;
	waited += limit.work_ns;
	return begin + (waited < limit.elapsed_ns ? waited : limit.elapsed_ns);
}

static int wait_for(struct unwind *unwind, bool (*is_awaited)(const struct unwind *unwind),
		    struct unwind_limit limit, struct error *err)
{
	bool may_extend = limit.elapsed_ns > limit.work_ns;
	uint64_t begin = monotonic_ns(), end = begin + limit.work_ns;
	uint64_t waited = may_extend ? cpu_wait_ns() : 0;

	for (;;) {
		struct pollfd done = { .fd = unwind_fd(unwind), .events = POLLIN };
		int r = unwind_update(unwind, err);
		uint64_t now;

		if (r < 0)
			return r;
		now = monotonic_ns();
		if (may_extend && now >= end && is_awaited(unwind))
			end = extended(begin, limit, waited);
		if (!is_awaited(unwind) || now >= end)
			return 0;
		if (!tables_compile_one(unwind->tables))
			poll(&done, 1, (int)((end - now) / 1000000u) + 1);
	}
}

int unwind_wait(struct unwind *unwind, uint64_t budget_ns, struct error *err)
{
	return wait_for(unwind, unwind_is_pending, (struct unwind_limit){ budget_ns, budget_ns },
			err);
}

bool unwind_is_awaited(const struct unwind *unwind)
{
	return tables_are_awaited(unwind->tables);
}

int unwind_wait_for_walks(struct unwind *unwind, struct unwind_limit limit, struct error *err)
{
	return wait_for(unwind, unwind_is_awaited, limit, err);
}

void unwind_missed(struct unwind *unwind, pid_t tgid)
{
	process_tables_missed(unwind->processes, tgid);
}

void unwind_count_hits(struct unwind *unwind, pid_t tgid, const uint64_t *frames, uint32_t n)
{
	const struct layout *layout = process_tables_find(unwind->processes, tgid);
	const struct layout_range *range = NULL;
	uint64_t now;

	if (!layout)
		return;
	now = monotonic_ns();
	for (uint32_t i = 0; i < n; i++) {
		uint64_t address =
			(frames[i] & WIRE_FRAME_ADDRESS) - (frames[i] & WIRE_FRAME_EXACT ? 0 : 1);

		if (range && address >= range->start && address < range->end)
			continue;
		range = layout_find_range(layout, address);
		if (range && range->table != TABLE_NONE)
			tables_hit(unwind->tables, range->table, now);
	}
}

/* ---- layouts for the finisher ---- */

int unwind_hold_layout(struct unwind *unwind, uint32_t image, struct layout **ret_layout)
{
	uint32_t n = 0, cut;
	const struct mapping *mappings = images_mappings(unwind->images, image, &n);
	const struct layout_range *ranges;
	struct layout *current;
	int r;

	if (!mappings)
		return -ESRCH;
	r = layouts_ranges(&unwind->layouts, mappings, n, &ranges, &n, &cut);
	if (r < 0)
		return r;
	current = process_tables_find(unwind->processes, images_tgid(unwind->images, image));
	if (current && layout_has_ranges(current, ranges, n)) {
		current->references++;
		*ret_layout = current;
	} else {
		r = layouts_write(&unwind->layouts, ranges, n, ret_layout);
	}
	/* Once the layout uses them: so those that were evicted are pending. */
	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (ranges[i].table != TABLE_NONE)
			tables_await(unwind->tables, ranges[i].table);
	return r;
}

void unwind_release_layout(struct unwind *unwind, struct layout *layout)
{
	if (layout)
		layouts_unref(&unwind->layouts, layout);
}

/* ---- reading ---- */

const void *unwind_block(const struct unwind *unwind, uint32_t block)
{
	struct blocks_usage usage;

	blocks_usage(unwind->blocks, &usage);
	return block != WIRE_NO_BLOCK && block <= usage.allocated ? blocks_at(unwind->blocks, block)
								  : NULL;
}

const struct wire_rule *unwind_rule(const struct unwind *unwind, uint32_t rule)
{
	uint32_t n;
	const struct wire_rule *rules = rule_table_rules(tables_rules(unwind->tables), &n);

	return rule < n ? &rules[rule] : NULL;
}

const struct wire_process *unwind_process(const struct unwind *unwind, uint32_t tgid)
{
	const struct layout *layout = process_tables_find(unwind->processes, (pid_t)tgid);

	return layout ? &layout->wire : NULL;
}

void unwind_stats(const struct unwind *unwind, struct unwind_stats *ret_stats)
{
	struct blocks_usage usage;

	tables_stats(unwind->tables, ret_stats);
	process_tables_stats(unwind->processes, ret_stats);
	blocks_usage(unwind->blocks, &usage);
	ret_stats->bytes = (uint64_t)usage.used * WIRE_BLOCK_SIZE;
	ret_stats->bytes_limit = (uint64_t)usage.limit * WIRE_BLOCK_SIZE;
	ret_stats->bytes_allocated = (uint64_t)usage.allocated * WIRE_BLOCK_SIZE;
}
