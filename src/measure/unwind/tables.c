// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/tables_internal.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/clock.h"
#include "base/grow.h"

/* One in so many blocks is left for mappings. */
#define SPARE_PART 16

/* The time between two attempts to open a file. */
#define RETRY_NS (250 * NS_PER_MS)

DEFINE_OWN(struct tables, tables_free)

int tables_new(const struct images *images, struct unwind_maps *maps, struct blocks *blocks,
	       struct table_cache *cache, struct tables **ret_tables)
{
	own(own_tables_free) struct tables *tables = calloc(1, sizeof(*tables));
	struct blocks_usage usage;
	int r;

	if (!tables)
		return -ENOMEM;
	blocks_usage(blocks, &usage);
	tables->images = images;
	tables->maps = maps;
	tables->blocks = blocks;
	tables->vdso = TABLE_NONE;
	tables->spare = usage.limit / SPARE_PART;
	r = shares_new(usage.limit - tables->spare, &tables->shares);
	if (r < 0)
		return r;
	r = shares_new(WIRE_MAX_RULES, &tables->rule_shares);
	if (r < 0)
		return r;
	r = rule_table_new(&tables->rules);
	if (r < 0)
		return r;
	r = compile_queue_new(cache, tables_pack, tables, &tables->queue);
	if (r < 0)
		return r;
	*ret_tables = take_ptr(tables);
	return 0;
}

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	compile_queue_free(tables->queue);
	for (uint32_t i = 0; i < tables->n; i++) {
		compile_job_free(tables->tables[i]->waiting_for_room);
		free(tables->tables[i]->tree.ids);
		free(tables->tables[i]);
	}
	free(tables->tables);
	free(tables->by_file);
	rule_table_free(tables->rules);
	shares_free(tables->shares);
	shares_free(tables->rule_shares);
	free(tables);
}

void tables_set_interpreter(struct tables *tables,
			    uint32_t (*interpreter)(void *context, uint32_t file), void *context)
{
	tables->interpreter = interpreter;
	tables->interpreter_context = context;
}

uint32_t tables_interpreter(const struct tables *tables, uint32_t file)
{
	return tables->interpreter ? tables->interpreter(tables->interpreter_context, file) : 0;
}

int tables_fd(const struct tables *tables)
{
	return compile_queue_fd(tables->queue);
}

void tables_set_state(struct tables *tables, struct table *table, enum table_state state)
{
	tables->n_pending += state == TABLE_PENDING;
	tables->n_pending -= table->state == TABLE_PENDING;
	/* A table without room for its rows becomes pending again once others have gone. */
	tables->n_awaited -= table->awaited && table->state == TABLE_PENDING;
	table->awaited = table->awaited && (state == TABLE_PENDING || state == TABLE_EVICTED);
	tables->n_awaited += table->awaited && state == TABLE_PENDING;
	tables->n_not_opened += state == TABLE_NOT_OPENED;
	tables->n_not_opened -= table->state == TABLE_NOT_OPENED;
	table->state = state;
	tables->version++;
}

/* Adds a pending table. */
static int add(struct tables *tables, uint32_t file, uint32_t *ret_table)
{
	struct table *table;
	int r = grow(&tables->tables, &tables->capacity, tables->n + 1);

	if (r < 0)
		return r;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->file = file;
	table->state = TABLE_PENDING;
	tables->n_pending++;
	*ret_table = tables->n;
	tables->tables[tables->n++] = table;
	return 0;
}

enum table_state tables_state_without_rows(int r)
{
	if (r == -ETIMEDOUT || r == -EDQUOT)
		return TABLE_TIME_USED_UP;
	return r == -ENOEXEC || r == 0 ? TABLE_NO_CFI : TABLE_BROKEN;
}

/* A file that could not be opened may get its segments later, through another process. */
static int read_segments(struct tables *tables, struct table *table)
{
	int r = images_file_segments(tables->images, table->file, &table->segments);

	if (r == 0)
		table->lowered = load_segments_lower(&table->segments);
	if (r < 0 && r != -ENOMEM)
		tables_set_state(tables, table,
				 images_file_is_readable(tables->images, table->file)
					 ? tables_state_without_rows(r)
					 : TABLE_NOT_OPENED);
	return r;
}

/* Where the file could not be opened, and was since. 0 or -ENOMEM. */
static int retry_segments(struct tables *tables, struct table *table)
{
	if (table->state != TABLE_NOT_OPENED || table->segments.n ||
	    !images_file_is_readable(tables->images, table->file))
		return 0;
	tables_set_state(tables, table, TABLE_PENDING);
	return read_segments(tables, table) == -ENOMEM ? -ENOMEM : 0;
}

int tables_of_file(struct tables *tables, uint32_t file, uint32_t *ret_table)
{
	struct table *table;
	uint32_t number;
	int r;

	file = images_file_resolved(tables->images, file);
	if (file >= tables->n_by_file) {
		uint32_t capacity = tables->n_by_file;

		r = grow(&tables->by_file, &capacity, file + 1);
		if (r < 0)
			return r;
		while (tables->n_by_file < capacity)
			tables->by_file[tables->n_by_file++] = TABLE_NONE;
	}
	if (tables->by_file[file] != TABLE_NONE) {
		*ret_table = tables->by_file[file];
		return retry_segments(tables, tables->tables[*ret_table]);
	}
	r = add(tables, file, &number);
	if (r < 0)
		return r;
	tables->by_file[file] = number;
	table = tables->tables[number];
	r = read_segments(tables, table);
	if (r == -ENOMEM)
		return r;
	*ret_table = number;
	return 0;
}

/* Has the tables made whose files could not be opened until now. 0 or -ENOMEM. */
static int retry_not_opened(struct tables *tables, uint64_t now)
{
	for (uint32_t i = 0; i < tables->n && tables->n_not_opened; i++) {
		struct table *table = tables->tables[i];
		int r;

		if (table->state != TABLE_NOT_OPENED || !table->uses ||
		    now - table->tried < RETRY_NS)
			continue;
		table->tried = now;
		r = retry_segments(tables, table);
		if (r < 0)
			return r;
		/* It was opened once, and could not be again when its rows were to be made. */
		if (table->state == TABLE_NOT_OPENED && table->segments.n)
			tables_set_state(tables, table, TABLE_PENDING);
	}
	return 0;
}

/*
 * All 64-bit processes of a kernel have the same vDSO. Its section headers are at its end, so they
 * tell its size.
 */
const void *tables_own_vdso(uint64_t *ret_size)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	*ret_size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
	return *ret_size <= TABLES_MAX_VDSO ? header : NULL;
}

int tables_of_vdso(struct tables *tables, uint64_t size, uint32_t *ret_table)
{
	const void *bytes;
	uint32_t number;
	int r;

	if (tables->vdso == TABLE_NONE) {
		r = add(tables, TABLE_NONE, &number);
		if (r < 0)
			return r;
		bytes = tables_own_vdso(&tables->vdso_size);
		r = bytes ? load_segments_read_memory(bytes, tables->vdso_size,
						      &tables->tables[number]->segments)
			  : -ENOEXEC;
		if (r < 0)
			tables_set_state(tables, tables->tables[number], TABLE_NO_CFI);
		tables->vdso = number;
	}
	*ret_table = size >= tables->vdso_size && size - tables->vdso_size < 4096 ? tables->vdso
										  : TABLE_NONE;
	return 0;
}

uint64_t tables_lowered(const struct tables *tables, uint32_t table)
{
	return tables->tables[table]->lowered;
}

bool tables_bias(const struct tables *tables, uint32_t table, uint64_t start, uint64_t offset,
		 uint64_t *ret_bias)
{
	return load_segments_bias(&tables->tables[table]->segments, start, offset, ret_bias);
}

void tables_use(struct tables *tables, uint32_t number)
{
	struct table *table = tables->tables[number];

	/* It was evicted because nobody had it mapped: there may be room for it now. */
	if (table->uses++ == 0 && table->state == TABLE_EVICTED && !table->waiting_for_room)
		tables_set_state(tables, table, TABLE_PENDING);
}

void tables_unuse(struct tables *tables, uint32_t table)
{
	tables->tables[table]->uses--;
}

void tables_await(struct tables *tables, uint32_t number)
{
	struct table *table = tables->tables[number];

	if (table->state != TABLE_PENDING || table->awaited)
		return;
	table->awaited = true;
	tables->n_awaited++;
}

void tables_hit(struct tables *tables, uint32_t number, uint64_t now)
{
	struct table *table = tables->tables[number];

	table->hits++;
	table->last_hit = now;
	if (table->state == TABLE_EVICTED && now - table->tried > TABLES_MIN_STAY_NS)
		tables->lacks_room = true;
}

struct table_reference tables_reference_of(const struct table *table)
{
	static const enum wire_mapping_kind kinds[] = {
		[TABLE_PENDING] = WIRE_MAPPING_PENDING,
		[TABLE_READY] = WIRE_MAPPING_TABLE,
		[TABLE_NO_CFI] = WIRE_MAPPING_NO_CFI,
		[TABLE_BROKEN] = WIRE_MAPPING_BROKEN,
		[TABLE_NOT_OPENED] = WIRE_MAPPING_NOT_OPENED,
		[TABLE_EVICTED] = WIRE_MAPPING_EVICTED,
		[TABLE_TIME_USED_UP] = WIRE_MAPPING_TIME_USED_UP,
	};

	return (struct table_reference){ .root = WIRE_MAPPING(table->tree.root,
							      kinds[table->state]),
					 .owner = table->tree.owner };
}

struct table_reference tables_reference(const struct tables *tables, uint32_t number)
{
	return tables_reference_of(tables->tables[number]);
}

/* Rules are written before the rows that refer to them. */
static int publish_rules(struct tables *tables)
{
	uint32_t n, written = tables->n_rules;
	const struct wire_rule *rules = rule_table_rules(tables->rules, &n);
	int r;

	if (n == written)
		return 0;
	r = tables->maps->set_rules(tables->maps, written, &rules[written], n - written);
	if (r < 0)
		return r;
	tables->n_rules = n;
	return 0;
}

int tables_update(struct tables *tables, uint64_t now, void (*refresh)(void *context),
		  void *context, struct error *err)
{
	struct compile_job *job = compile_queue_take_done(tables->queue);
	bool any = job != NULL;
	int r;

	while (job) {
		struct compile_job *next = job->next;

		tables_take_over(tables, job, now);
		job = next;
	}
	r = publish_rules(tables);
	if (r < 0)
		return error_set(err, r, "cannot write unwinding rules to the kernel: %s",
				 strerror(-r));
	if (any)
		tables_enter_files(tables);
	tables_make_room(tables, now, refresh, context);
	r = retry_not_opened(tables, now);
	if (r == 0)
		r = tables_queue_pending(tables, now);
	return r < 0 ? error_set(err, r, "cannot keep unwinding tables: %s", strerror(-r)) : 0;
}

uint64_t tables_version(const struct tables *tables)
{
	return tables->version;
}

bool tables_are_pending(const struct tables *tables)
{
	return tables->n_pending > 0;
}

bool tables_are_awaited(const struct tables *tables)
{
	return tables->n_awaited > 0;
}

bool tables_compile_one(struct tables *tables)
{
	return compile_queue_run_one(tables->queue);
}

const struct rule_table *tables_rules(const struct tables *tables)
{
	return tables->rules;
}

void tables_stats(const struct tables *tables, struct unwind_stats *stats)
{
	*stats = tables->stats;
	stats->tables = tables->n;
	for (uint32_t i = 0; i < tables->n; i++) {
		const struct table *table = tables->tables[i];

		stats->ready += table->state == TABLE_READY;
		stats->pending += table->state == TABLE_PENDING;
		stats->no_cfi += table->state == TABLE_NO_CFI;
		stats->broken += table->state == TABLE_BROKEN || table->state == TABLE_TIME_USED_UP;
		stats->not_opened += table->state == TABLE_NOT_OPENED;
		stats->evicted += table->state == TABLE_EVICTED;
		stats->over_share += table->state == TABLE_EVICTED && table->over_share;
		stats->rows += table->rows;
	}
	stats->rules = tables->n_rules;
	stats->rules_refused = rule_table_refused(tables->rules) + tables->rules_over_share;
}
