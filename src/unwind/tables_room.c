// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/tables_internal.h"

/* Blocks that are made ready beside, so that writing mappings need not wait for them. */
#define READY_BLOCKS 64u

/* The waiting for grace periods that somebody would have to do otherwise. */
static void make_ready(void *context)
{
	struct tables *tables = context;
	struct blocks_usage usage;

	blocks_usage(tables->blocks, &usage);
	/* Who needs it and still finds nothing hears why. */
	if (usage.let_go || tables->settle)
		blocks_settle(tables->blocks);
	blocks_prepare(tables->blocks, READY_BLOCKS);
	atomic_store(&tables->readying, false);
}

void tables_make_ready(struct tables *tables, bool settle)
{
	struct blocks_usage usage;
	uint32_t ready;

	blocks_usage(tables->blocks, &usage);
	ready = usage.there - usage.taken - usage.let_go;
	settle |= usage.let_go > READY_BLOCKS;
	if (!settle && (ready >= READY_BLOCKS || usage.there == usage.limit))
		return;
	if (atomic_exchange(&tables->readying, true))
		return;
	tables->settle = settle;
	compile_queue_call(tables->queue, make_ready);
}

/* Which goes first: what nobody has mapped, what was not hit for longest, what few may hit. */
static bool goes_before(const struct table *a, const struct table *b)
{
	if (!a->uses != !b->uses)
		return !a->uses;
	if (a->last_hit != b->last_hit)
		return a->last_hit < b->last_hit;
	return a->uses != b->uses ? a->uses < b->uses : a->since < b->since;
}

/* Whether a table may go so that one that was last hit at `for_hit` (0: never) has room. */
static bool may_go(const struct table *table, uint64_t for_hit, uint64_t now)
{
	if (table->state != TABLE_READY)
		return false;
	return !table->uses ||
	       (table->last_hit < for_hit && table->last_hit + TABLES_REST_NS <= now &&
		table->since + TABLES_REST_NS <= now);
}

/* The one that goes first; `*ret_room` is how many blocks all that may go have. */
static struct table *find_victim(const struct tables *tables, uint64_t for_hit, uint64_t now,
				 uint32_t *ret_room)
{
	struct table *victim = NULL;

	*ret_room = 0;
	for (uint32_t i = 0; i < tables->n; i++) {
		struct table *table = tables->tables[i];

		if (!may_go(table, for_hit, now))
			continue;
		*ret_room += table->tree.n;
		if (!victim || goes_before(table, victim))
			victim = table;
	}
	return victim;
}

static void evict(struct tables *tables, struct table *table, struct table_tree *ret_tree)
{
	*ret_tree = table->tree;
	table->tree = (struct table_tree){ 0 };
	table->rows = 0;
	tables->stats.evictions++;
	tables_set_state(tables, table, TABLE_EVICTED);
}

/* Blocks that could be had without anything going. */
static uint32_t room_left(const struct tables *tables)
{
	struct blocks_usage usage;

	blocks_usage(tables->blocks, &usage);
	return usage.limit - usage.taken > tables->spare ? usage.limit - usage.taken - tables->spare
							 : 0;
}

/* Lets tables go until there is room for this one; it is tried again then. */
static int make_room_for(struct tables *tables, struct table *table, uint64_t now,
			 int (*let_go)(void *context), void *context)
{
	uint32_t room = room_left(tables), more;
	int r = 0;

	while (room < table->wanted && r == 0) {
		struct table *victim = find_victim(tables, table->last_hit, now, &more);
		struct table_tree tree;

		if (room + more < table->wanted)
			break;
		evict(tables, victim, &tree);
		room += tree.n;
		r = let_go(context);
		table_release(tables->blocks, &tree);
	}
	if (r == 0 && room >= table->wanted)
		tables_set_state(tables, table, TABLE_PENDING);
	else
		compile_job_free(take_ptr(table->stalled));
	return r;
}

int tables_make_room(struct tables *tables, uint64_t now, int (*let_go)(void *context),
		     void *context)
{
	int r = 0;

	if (!tables->pressed)
		return 0;
	tables->pressed = false;
	for (uint32_t i = 0; i < tables->n && r == 0; i++) {
		struct table *table = tables->tables[i];
		bool wanted = table->last_hit && table->last_hit > table->tried &&
			      now - table->tried > TABLES_REST_NS;

		if (table->state == TABLE_EVICTED && (table->stalled || wanted)) {
			table->tried = now;
			r = make_room_for(tables, table, now, let_go, context);
		}
	}
	return r;
}
