// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/tables_internal.h"

/* Free blocks to have in reserve, so that writing mappings does not wait for a grace period. */
#define PREPARED_BLOCKS 64u

/* In the compiling thread: waits for grace periods in place of the main one. */
static void prepare_blocks(void *context)
{
	struct tables *tables = context;
	struct blocks_usage usage;

	blocks_usage(tables->blocks, &usage);
	/* An error will come again when blocks are taken. */
	if (usage.retired || tables->wait_grace)
		blocks_wait_grace(tables->blocks);
	blocks_prepare(tables->blocks, PREPARED_BLOCKS);
	atomic_store(&tables->preparing, false);
}

void tables_prepare_blocks(struct tables *tables, bool wait_grace)
{
	struct blocks_usage usage;
	uint32_t ready;

	blocks_usage(tables->blocks, &usage);
	ready = usage.allocated - usage.used - usage.retired;
	wait_grace |= usage.retired > PREPARED_BLOCKS;
	if (!wait_grace && (ready >= PREPARED_BLOCKS || usage.allocated == usage.limit))
		return;
	if (atomic_exchange(&tables->preparing, true))
		return;
	tables->wait_grace = wait_grace;
	compile_queue_call(tables->queue, prepare_blocks);
}

/* The order of eviction: not mapped; not hit for longest; mapped by fewest. */
static bool goes_before(const struct table *a, const struct table *b)
{
	if (!a->uses != !b->uses)
		return !a->uses;
	if (a->last_hit != b->last_hit)
		return a->last_hit < b->last_hit;
	return a->uses != b->uses ? a->uses < b->uses : a->since < b->since;
}

/* Whether a table may be evicted for one that was last hit at `for_hit` (0: never). */
static bool is_evictable(const struct table *table, uint64_t for_hit, uint64_t now)
{
	if (table->state != TABLE_READY)
		return false;
	return !table->uses ||
	       (table->last_hit < for_hit && table->last_hit + TABLES_MIN_STAY_NS <= now &&
		table->since + TABLES_MIN_STAY_NS <= now);
}

/* The table to evict first; `*ret_room`: the blocks of all evictable ones. */
static struct table *find_victim(const struct tables *tables, uint64_t for_hit, uint64_t now,
				 uint32_t *ret_room)
{
	struct table *victim = NULL;

	*ret_room = 0;
	for (uint32_t i = 0; i < tables->n; i++) {
		struct table *table = tables->tables[i];

		if (!is_evictable(table, for_hit, now))
			continue;
		*ret_room += table->tree.n;
		if (!victim || goes_before(table, victim))
			victim = table;
	}
	return victim;
}

static void evict(struct tables *tables, struct table *table, struct table_tree *ret_tree)
{
	tables_leave_file(tables, table);
	*ret_tree = table->tree;
	table->tree = (struct table_tree){ 0 };
	table->rows = 0;
	tables->stats.evictions++;
	tables_set_state(tables, table, TABLE_EVICTED);
}

/* Blocks that can be taken without eviction. */
static uint32_t room_left(const struct tables *tables)
{
	struct blocks_usage usage;

	blocks_usage(tables->blocks, &usage);
	return usage.limit - usage.used > tables->spare ? usage.limit - usage.used - tables->spare
							: 0;
}

/* Evicts tables until there is room for this one, which becomes pending then. */
static void make_room_for(struct tables *tables, struct table *table, uint64_t now,
			  void (*refresh)(void *context), void *context)
{
	uint32_t room = room_left(tables), more;

	while (room < table->wanted) {
		struct table *victim = find_victim(tables, table->last_hit, now, &more);
		struct table_tree tree;

		if (room + more < table->wanted)
			break;
		evict(tables, victim, &tree);
		room += tree.n;
		refresh(context);
		table_release(tables->blocks, &tree);
	}
	if (room >= table->wanted)
		tables_set_state(tables, table, TABLE_PENDING);
	else
		compile_queue_release(tables->queue, take_ptr(table->waiting_for_room));
}

void tables_make_room(struct tables *tables, uint64_t now, void (*refresh)(void *context),
		      void *context)
{
	if (!tables->lacks_room)
		return;
	tables->lacks_room = false;
	for (uint32_t i = 0; i < tables->n; i++) {
		struct table *table = tables->tables[i];
		bool wanted = table->last_hit && table->last_hit > table->tried &&
			      now - table->tried > TABLES_MIN_STAY_NS;

		if (table->state == TABLE_EVICTED && (table->waiting_for_room || wanted)) {
			table->tried = now;
			make_room_for(tables, table, now, refresh, context);
		}
	}
}
