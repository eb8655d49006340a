// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/tables_internal.h"

#include <errno.h>

#include "base/clock.h"
#include "confined/confined.h"

/* Jobs queued at a time: each may hold a descriptor, and the order of the others stays open. */
#define MAX_JOBS 16

/* One file may take one in so many of the rule numbers that are left. */
#define RULES_PART 4

/* ---- in the thread that compiles ---- */

/*
 * The numbers in the kernel of a file's rules. Rules are never removed, so what was taken of a
 * share of them is never given back.
 */
static void number_rules(struct tables *tables, const struct compile_job *job,
			 uint16_t *ret_numbers)
{
	uint32_t n, in_use, may_take, refused = 0;
	const struct wire_rule *rules = rule_table_rules(job->rules, &n);

	rule_table_rules(tables->rules, &in_use);
	may_take = (WIRE_MAX_RULES - in_use) / RULES_PART;
	for (uint32_t i = 0; i < n; i++) {
		ret_numbers[i] = rule_table_find(tables->rules, &rules[i]);
		if (ret_numbers[i] != RULE_FULL || i == RULE_FULL)
			continue;
		if (may_take == 0 || shares_take(tables->rule_shares, job->file_owner, 1) < 0) {
			refused++;
			continue;
		}
		may_take--;
		ret_numbers[i] = rule_table_add(tables->rules, &rules[i]);
	}
	atomic_fetch_add(&tables->rules_over_share, refused);
}

int tables_pack(void *context, struct compile_job *job)
{
	struct tables *tables = context;
	own(own_free) uint16_t *numbers = NULL;
	uint32_t n, owner, taken;
	int r;

	if (job->rows.n == 0)
		return 0;
	rule_table_rules(job->rules, &n);
	numbers = calloc(n + 1, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	taken = table_blocks(job->rows.rows, job->rows.n);
	r = shares_take(tables->shares, job->file_owner, taken);
	if (r < 0)
		return r;
	number_rules(tables, job, numbers);
	owner = atomic_fetch_add(&tables->last_owner, 1) + 1;
	r = table_pack(tables->blocks, job->rows.rows, job->rows.n, numbers, owner, tables->spare,
		       &job->tree);
	if (r < 0)
		shares_give(tables->shares, job->file_owner, taken);
	return r;
}

/* ---- queueing and taking over ---- */

/* Opens the file of a job. */
static int prepare(const struct tables *tables, const struct table *table, struct compile_job *job)
{
	const struct mapped_file *file;

	if (table->file == TABLE_NONE) {
		job->bytes = tables_own_vdso(&job->size);
		return 0;
	}
	file = images_file(tables->images, table->file);
	job->fd = images_open_file(tables->images, table->file);
	if (job->fd < 0)
		return job->fd;
	job->file_owner = confined_owner(job->fd);
	job->identified_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	job->cacheable = table_identity_read(job->fd, file->build_id, file->build_id_size,
					     &job->identity) == 0;
	return 0;
}

/* What a table is worth: a walk that waits is worth more than a hit, and that more than a mapping.
 */
static uint64_t weight_of(const struct table *table)
{
	return (table->awaited ? 1ull << 40 : 0) + table->hits * 64 + table->uses + 1;
}

static int queue_job(struct tables *tables, uint32_t number, uint64_t now)
{
	struct table *table = tables->tables[number];
	struct compile_job *job = take_ptr(table->waiting_for_room);
	int r = 0;

	if (!job) {
		job = compile_job_new(number);
		if (!job)
			return -ENOMEM;
		r = prepare(tables, table, job);
	}
	if (r < 0) {
		compile_job_free(job);
		table->tried = now;
		tables_set_state(tables, table, TABLE_NOT_OPENED);
		return 0;
	}
	job->priority = weight_of(table);
	table->file_owner = job->file_owner;
	table->compiling = true;
	table->tried = now;
	tables->n_jobs++;
	compile_queue_add(tables->queue, job);
	return 0;
}

int tables_queue_pending(struct tables *tables, uint64_t now)
{
	while (tables->n_jobs < MAX_JOBS && tables->n_jobs < tables->n_pending) {
		uint64_t most = 0;
		uint32_t best = TABLE_NONE;
		int r;

		for (uint32_t i = 0; i < tables->n; i++) {
			const struct table *table = tables->tables[i];
			uint64_t weight = weight_of(table);

			if (table->state == TABLE_PENDING && !table->compiling && weight > most) {
				most = weight;
				best = i;
			}
		}
		if (best == TABLE_NONE)
			break;
		r = queue_job(tables, best, now);
		if (r < 0)
			return r;
	}
	return 0;
}

void tables_take_over(struct tables *tables, struct compile_job *job, uint64_t now)
{
	struct table *table = tables->tables[job->table];

	table->compiling = false;
	table->since = now;
	tables->n_jobs--;
	tables->stats.cache_refused += job->cache_refused && !job->counted;
	if (job->counted) {
		; /* it was only packed again */
	} else if (job->cached) {
		tables->stats.cached++;
		tables->stats.cached_ns += job->ns;
	} else if (job->compiled) {
		tables->stats.compiled++;
		tables->stats.compile_ns += job->ns;
	}
	job->counted = true;
	if (job->result == -ENOSPC) {
		/* The rows are kept until tables_make_room() has looked for room. */
		table->waiting_for_room = job;
		table->wanted = table_blocks(job->rows.rows, job->rows.n);
		tables->lacks_room = true;
		tables_set_state(tables, table, TABLE_EVICTED);
		return;
	}
	if (job->result == 0 && job->tree.n) {
		table->tree = job->tree;
		table->wanted = job->tree.n;
		job->tree = (struct table_tree){ 0 };
		table->rows = job->rows.n;
		tables_identify(tables, table, job);
		tables_set_state(tables, table, TABLE_READY);
	} else {
		tables_set_state(tables, table, tables_state_without_rows(job->result));
	}
	compile_queue_release(tables->queue, job);
}
