// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/tables_internal.h"

#include <errno.h>

/* Jobs handed out at a time: each may hold a descriptor, and the order among the others is open. */
#define MAX_JOBS 16

/* Of what the rules may be, one file gets no more than this part of what is left. */
#define RULES_PART 4

/* ---- in the thread that compiles ---- */

/* What the kernel calls the rules of a file. */
static int number_rules(struct rule_table *book, const struct rule_table *own_rules,
			uint16_t *ret_numbers)
{
	uint32_t n, in_use, may_take;
	const struct wire_rule *rules = rule_table_rules(own_rules, &n);

	rule_table_rules(book, &in_use);
	may_take = (WIRE_MAX_RULES - in_use) / RULES_PART;
	for (uint32_t i = 0; i < n; i++) {
		ret_numbers[i] = i < may_take ? rule_table_add(book, &rules[i]) : RULE_FULL;
	}
	return 0;
}

int tables_pack(void *context, struct compile_job *job)
{
	struct tables *tables = context;
	own(own_free) uint16_t *numbers = NULL;
	uint32_t n, owner;
	int r;

	if (job->rows.n == 0)
		return 0;
	rule_table_rules(job->book, &n);
	numbers = calloc(n + 1, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	r = number_rules(tables->book, job->book, numbers);
	if (r < 0)
		return r;
	owner = atomic_fetch_add(&tables->last_owner, 1) + 1;
	return table_pack(tables->blocks, job->rows.rows, job->rows.n, numbers, owner,
			  tables->spare, &job->tree);
}

/* ---- handing out and taking over ---- */

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
	job->keep = table_identity_read(job->fd, file->build_id, file->build_id_size,
					&job->identity) == 0;
	return 0;
}

static int hand_out(struct tables *tables, uint32_t number, uint64_t now)
{
	struct table *table = tables->tables[number];
	struct compile_job *job = take_ptr(table->stalled);
	int r = 0;

	if (!job) {
		job = compile_job_new(number);
		if (!job)
			return -ENOMEM;
		r = prepare(tables, table, job);
	}
	if (r < 0) {
		compile_job_free(job);
		tables_set_state(tables, table, TABLE_BROKEN);
		return 0;
	}
	/* Hits say more than mappings do. */
	job->priority = table->hits * 64 + table->uses;
	table->at_work = true;
	table->tried = now;
	tables->n_jobs++;
	compile_queue_add(tables->queue, job);
	return 0;
}

int tables_hand_out(struct tables *tables, uint64_t now)
{
	while (tables->n_jobs < MAX_JOBS && tables->n_jobs < tables->n_pending) {
		uint64_t most = 0;
		uint32_t best = TABLE_NONE;
		int r;

		for (uint32_t i = 0; i < tables->n; i++) {
			const struct table *table = tables->tables[i];
			uint64_t weight = table->hits * 64 + table->uses + 1;

			if (table->state == TABLE_PENDING && !table->at_work && weight > most) {
				most = weight;
				best = i;
			}
		}
		if (best == TABLE_NONE)
			break;
		r = hand_out(tables, best, now);
		if (r < 0)
			return r;
	}
	return 0;
}

void tables_take_over(struct tables *tables, struct compile_job *job, uint64_t now)
{
	struct table *table = tables->tables[job->table];

	table->at_work = false;
	table->since = now;
	tables->n_jobs--;
	tables->stats.cache_refused += job->cache_refused && !job->counted;
	if (job->counted) {
		; /* it only waited for room */
	} else if (job->cached) {
		tables->stats.cached++;
		tables->stats.cached_ns += job->ns;
	} else if (job->compiled) {
		tables->stats.compiled++;
		tables->stats.compile_ns += job->ns;
	}
	job->counted = true;
	if (job->result == -ENOSPC) {
		/* The work is kept until room was looked for. */
		table->stalled = job;
		table->wanted = table_blocks(job->rows.rows, job->rows.n);
		tables->pressed = true;
		tables_set_state(tables, table, TABLE_EVICTED);
		return;
	}
	if (job->result == 0 && job->tree.n) {
		table->tree = job->tree;
		table->wanted = job->tree.n;
		job->tree = (struct table_tree){ 0 };
		table->rows = job->rows.n;
		tables_set_state(tables, table, TABLE_READY);
	} else {
		tables_set_state(tables, table, tables_state_without_rows(job->result));
	}
	compile_job_free(job);
}
