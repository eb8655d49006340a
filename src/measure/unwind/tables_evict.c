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

/* Evicts the table; `refresh` has the mappings say so. */
static void evict(struct tables *tables, struct table *table, void (*refresh)(void *context),
		  void *context)
{
	struct table_tree tree = table->tree;

	tables_leave_file(tables, table);
	table->tree = (struct table_tree){ 0 };
	table->rows = 0;
	tables->stats.evictions++;
	tables_set_state(tables, table, TABLE_EVICTED);
	refresh(context);
	shares_give(tables->shares, table->file_owner, tree.n);
	table_release(tables->blocks, &tree);
}

/* Blocks that can be taken without eviction. */
static uint32_t room_left(const struct tables *tables)
{
	struct blocks_usage usage;

	blocks_usage(tables->blocks, &usage);
	return usage.limit - usage.used > tables->spare ? usage.limit - usage.used - tables->spare
							: 0;
}

/* Whose tables can make room for another one. Each of these contains those before it. */
enum scope {
	SCOPE_OWNER, /* files of the same owner, if that is not root */
	SCOPE_USERS, /* files of all owners but root */
	SCOPE_ALL,
	N_SCOPES,
};

static enum scope scope_of(const struct table *victim, const struct table *table)
{
	if (victim->file_owner == 0)
		return SCOPE_ALL;
	return victim->file_owner == table->file_owner ? SCOPE_OWNER : SCOPE_USERS;
}

/* What a table lacks, and what could be evicted for it. */
struct survey {
	uint32_t lack[N_SCOPES];      /* blocks that have to come from this scope */
	uint32_t evictable[N_SCOPES]; /* blocks that can */
	struct table *victim;	      /* to be evicted first; NULL: none */
};

static bool lacks_share(const struct survey *survey)
{
	return survey->lack[SCOPE_OWNER] || survey->lack[SCOPE_USERS];
}

static bool lacks(const struct survey *survey)
{
	return lacks_share(survey) || survey->lack[SCOPE_ALL];
}

/* Whether all that lacks could be evicted. */
static bool suffices(const struct survey *survey)
{
	for (enum scope scope = 0; scope < N_SCOPES; scope++) {
		if (survey->lack[scope] > survey->evictable[scope])
			return false;
	}
	return true;
}

static struct survey look_around(const struct tables *tables, const struct table *for_table,
				 uint64_t now)
{
	uint32_t capacity = room_left(tables), wanted = for_table->wanted;
	struct shares_lack share = shares_lack(tables->shares, for_table->file_owner, wanted);
	struct survey survey = {
		.lack = { share.own, share.users, wanted > capacity ? wanted - capacity : 0 },
	};
	enum scope first = 0;

	while (first < SCOPE_ALL && !survey.lack[first])
		first++;
	for (uint32_t i = 0; i < tables->n; i++) {
		struct table *table = tables->tables[i];
		enum scope scope = scope_of(table, for_table);

		if (!is_evictable(table, for_table->last_hit, now))
			continue;
		for (enum scope within = scope; within < N_SCOPES; within++)
			survey.evictable[within] += table->tree.n;
		if (scope <= first && (!survey.victim || goes_before(table, survey.victim)))
			survey.victim = table;
	}
	return survey;
}

/* Evicts tables until there is room for this one, which becomes pending then. */
static void make_room_for(struct tables *tables, struct table *table, uint64_t now,
			  void (*refresh)(void *context), void *context)
{
	struct survey survey = look_around(tables, table, now);

	table->over_share = lacks_share(&survey);
	while (lacks(&survey) && suffices(&survey)) {
		survey.victim->over_share = lacks_share(&survey);
		evict(tables, survey.victim, refresh, context);
		survey = look_around(tables, table, now);
	}
	if (!lacks(&survey))
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
