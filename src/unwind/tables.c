// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/tables.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "unwind/load_segments.h"

#define NS_PER_SECOND 1000000000ull

/* Jobs handed out at a time: each may hold a descriptor, and the order among the others is open. */
#define MAX_JOBS 16

/* One that was hit within this time does not have to go, and one that had to is not tried again. */
#define REST_NS NS_PER_SECOND

/* Of what the rules may be, one file gets no more than this part of what is left. */
#define RULES_PART 4

/* Part of the blocks that tables leave to mappings. */
#define SPARE_PART 16

/* Blocks that are made ready beside, so that writing mappings need not wait for them. */
#define READY_BLOCKS 64u

/* More than any vDSO. */
#define MAX_VDSO (1u << 20)

enum table_state {
	TABLE_PENDING,
	TABLE_READY,
	TABLE_NO_CFI,
	TABLE_BROKEN,
	TABLE_EVICTED,
};

struct table {
	uint32_t file; /* of the worlds; TABLE_NONE: the vDSO */
	enum table_state state;
	bool at_work;		     /* a job is out for it */
	uint32_t uses;		     /* mappings */
	uint64_t hits;		     /* stacks that went through it, or wanted to */
	uint64_t last_hit;	     /* 0: never */
	uint64_t since;		     /* it is in its state */
	uint64_t tried;		     /* a job was last out for it */
	struct compile_job *stalled; /* is compiled, and found no room */
	uint32_t rows;
	uint32_t wanted; /* blocks, once that is known */
	struct table_tree tree;
	struct load_segments segments;
};

struct tables {
	const struct worlds *worlds;
	struct unwind_maps *maps;
	struct blocks *blocks;
	struct rule_book *book;
	struct compile_queue *queue;
	struct table **tables;
	uint32_t n, room;
	uint32_t *by_file; /* TABLE_NONE: none yet */
	uint32_t n_by_file;
	uint32_t vdso; /* its table, or TABLE_NONE */
	uint64_t vdso_size;
	uint32_t n_pending, n_jobs, n_rules;
	atomic_uint last_owner;
	uint32_t spare;
	uint64_t version;
	bool pressed; /* one has found no room */
	atomic_bool readying, settle;
	struct unwind_stats stats;
};

/* ---- in the thread that compiles ---- */

/* What the kernel calls the rules of a file. */
static int number_rules(struct rule_book *book, const struct rule_book *own_rules,
			uint16_t *ret_numbers)
{
	uint32_t n, in_use, may_take;
	const struct wire_rule *rules = rule_book_rules(own_rules, &n);

	rule_book_rules(book, &in_use);
	may_take = (WIRE_MAX_RULES - in_use) / RULES_PART;
	for (uint32_t i = 0; i < n; i++) {
		struct wire_rule rule = rules[i];
		const uint8_t *bytes = NULL;
		size_t size;

		if (rule.cfa == WIRE_CFA_UNSUPPORTED)
			bytes = rule_book_expression(own_rules, rule.extra, &size);
		if (bytes)
			rule.extra = rule_book_add_expression(book, bytes, size);
		ret_numbers[i] = i < may_take ? rule_book_add(book, &rule) : RULE_FULL;
	}
	return 0;
}

static int pack(void *context, struct compile_job *job)
{
	struct tables *tables = context;
	own(own_free) uint16_t *numbers = NULL;
	uint32_t n, owner;
	int r;

	if (job->rows.n == 0)
		return 0;
	rule_book_rules(job->book, &n);
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

/* ---- making and asking ---- */

int tables_new(const struct worlds *worlds, struct unwind_maps *maps, struct blocks *blocks,
	       struct table_cache *cache, struct tables **ret_tables)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	struct blocks_usage usage;
	int r;

	if (!tables)
		return -ENOMEM;
	blocks_usage(blocks, &usage);
	tables->worlds = worlds;
	tables->maps = maps;
	tables->blocks = blocks;
	tables->vdso = TABLE_NONE;
	tables->spare = usage.limit / SPARE_PART;
	r = rule_book_new(&tables->book);
	if (r == 0)
		r = compile_queue_new(cache, pack, tables, &tables->queue);
	if (r < 0) {
		tables_free(tables);
		return r;
	}
	*ret_tables = tables;
	return 0;
}

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	compile_queue_free(tables->queue);
	for (uint32_t i = 0; i < tables->n; i++) {
		compile_job_free(tables->tables[i]->stalled);
		free(tables->tables[i]->tree.ids);
		free(tables->tables[i]);
	}
	free(tables->tables);
	free(tables->by_file);
	rule_book_free(tables->book);
	free(tables);
}

int tables_fd(const struct tables *tables)
{
	return compile_queue_fd(tables->queue);
}

static void set_state(struct tables *tables, struct table *table, enum table_state state)
{
	tables->n_pending += state == TABLE_PENDING;
	tables->n_pending -= table->state == TABLE_PENDING;
	table->state = state;
	tables->version++;
}

static int add(struct tables *tables, uint32_t file, uint32_t *ret_table)
{
	struct table *table;

	if (tables->n == tables->room) {
		uint32_t room = tables->room ? tables->room * 2 : 64;
		struct table **grown = reallocarray(tables->tables, room, sizeof(struct table *));

		if (!grown)
			return -ENOMEM;
		tables->tables = grown;
		tables->room = room;
	}
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

/* What is no ELF file of ours has no tables; what cannot be read, nobody knows. */
static enum table_state state_without_rows(int r)
{
	return r == -ENOEXEC || r == 0 ? TABLE_NO_CFI : TABLE_BROKEN;
}

int tables_of_file(struct tables *tables, uint32_t file, uint32_t *ret_table)
{
	own(own_fd) int fd = -1;
	struct table *table;
	uint32_t number;
	int r;

	if (file >= tables->n_by_file) {
		uint32_t n = file < 64 ? 128 : file * 2;
		uint32_t *grown = reallocarray(tables->by_file, n, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + tables->n_by_file, 0xff, (n - tables->n_by_file) * sizeof(*grown));
		tables->by_file = grown;
		tables->n_by_file = n;
	}
	if (tables->by_file[file] != TABLE_NONE) {
		*ret_table = tables->by_file[file];
		return 0;
	}
	r = add(tables, file, &number);
	if (r < 0)
		return r;
	tables->by_file[file] = number;
	table = tables->tables[number];
	fd = worlds_open_file(tables->worlds, file);
	r = fd < 0 ? fd : load_segments_read(fd, &table->segments);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		set_state(tables, table, state_without_rows(r));
	*ret_table = number;
	return 0;
}

/*
 * All processes of a kernel have the same one, but 32-bit ones: it is in our memory too. Its size
 * is told by where its section headers end, which are at its end.
 */
static const void *own_vdso(uint64_t *ret_size)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	*ret_size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
	return *ret_size <= MAX_VDSO ? header : NULL;
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
		bytes = own_vdso(&tables->vdso_size);
		r = bytes ? load_segments_read_memory(bytes, tables->vdso_size,
						      &tables->tables[number]->segments)
			  : -ENOEXEC;
		if (r < 0)
			set_state(tables, tables->tables[number], TABLE_NO_CFI);
		tables->vdso = number;
	}
	*ret_table = size >= tables->vdso_size && size - tables->vdso_size < 4096 ? tables->vdso
										  : TABLE_NONE;
	return 0;
}

bool tables_bias(const struct tables *tables, uint32_t table, uint64_t start, uint64_t offset,
		 uint64_t *ret_bias)
{
	return load_segments_bias(&tables->tables[table]->segments, start, offset, ret_bias);
}

void tables_use(struct tables *tables, uint32_t number)
{
	struct table *table = tables->tables[number];

	/* It went when nobody had it mapped: there may be room for it now. */
	if (table->uses++ == 0 && table->state == TABLE_EVICTED && !table->stalled)
		set_state(tables, table, TABLE_PENDING);
}

void tables_unuse(struct tables *tables, uint32_t table)
{
	tables->tables[table]->uses--;
}

void tables_hit(struct tables *tables, uint32_t number, uint64_t now)
{
	struct table *table = tables->tables[number];

	table->hits++;
	table->last_hit = now;
	if (table->state == TABLE_EVICTED && now - table->tried > REST_NS)
		tables->pressed = true;
}

struct table_place tables_place(const struct tables *tables, uint32_t number)
{
	static const enum wire_mapping_kind kinds[] = {
		[TABLE_PENDING] = WIRE_MAPPING_PENDING, [TABLE_READY] = WIRE_MAPPING_TABLE,
		[TABLE_NO_CFI] = WIRE_MAPPING_NO_CFI,	[TABLE_BROKEN] = WIRE_MAPPING_BROKEN,
		[TABLE_EVICTED] = WIRE_MAPPING_EVICTED,
	};
	const struct table *table = tables->tables[number];

	return (struct table_place){ .root = WIRE_MAPPING(table->tree.root, kinds[table->state]),
				     .owner = table->tree.owner };
}

/* ---- compiling ---- */

static int prepare(const struct tables *tables, const struct table *table, struct compile_job *job)
{
	const struct mapped_file *file;

	if (table->file == TABLE_NONE) {
		job->bytes = own_vdso(&job->size);
		return 0;
	}
	file = worlds_file(tables->worlds, table->file);
	job->fd = worlds_open_file(tables->worlds, table->file);
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
		set_state(tables, table, TABLE_BROKEN);
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

/* The pending ones, those first that are wanted most. */
static int hand_out_all(struct tables *tables, uint64_t now)
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

static void take_over(struct tables *tables, struct compile_job *job, uint64_t now)
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
		set_state(tables, table, TABLE_EVICTED);
		return;
	}
	if (job->result == 0 && job->tree.n) {
		table->tree = job->tree;
		table->wanted = job->tree.n;
		job->tree = (struct table_tree){ 0 };
		table->rows = job->rows.n;
		set_state(tables, table, TABLE_READY);
	} else {
		set_state(tables, table, state_without_rows(job->result));
	}
	compile_job_free(job);
}

/* Rules before the rows that name them. */
static int publish_rules(struct tables *tables)
{
	uint32_t n;
	const struct wire_rule *rules = rule_book_rules(tables->book, &n);
	int r = 0;

	if (n > tables->n_rules)
		r = tables->maps->set_rules(tables->maps, tables->n_rules, &rules[tables->n_rules],
					    n - tables->n_rules);
	if (r == 0)
		tables->n_rules = n;
	return r;
}

/* ---- room ---- */

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
	return !table->uses || (table->last_hit < for_hit && table->last_hit + REST_NS <= now &&
				table->since + REST_NS <= now);
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
	set_state(tables, table, TABLE_EVICTED);
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
static int make_room(struct tables *tables, struct table *table, uint64_t now,
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
		set_state(tables, table, TABLE_PENDING);
	else
		compile_job_free(take_ptr(table->stalled));
	return r;
}

static int relieve(struct tables *tables, uint64_t now, int (*let_go)(void *context), void *context)
{
	int r = 0;

	if (!tables->pressed)
		return 0;
	tables->pressed = false;
	for (uint32_t i = 0; i < tables->n && r == 0; i++) {
		struct table *table = tables->tables[i];
		bool wanted = table->last_hit && table->last_hit > table->tried &&
			      now - table->tried > REST_NS;

		if (table->state == TABLE_EVICTED && (table->stalled || wanted)) {
			table->tried = now;
			r = make_room(tables, table, now, let_go, context);
		}
	}
	return r;
}

int tables_update(struct tables *tables, uint64_t now, int (*let_go)(void *context), void *context,
		  struct error *err)
{
	struct compile_job *job = compile_queue_take(tables->queue);
	int r;

	while (job) {
		struct compile_job *next = job->next;

		take_over(tables, job, now);
		job = next;
	}
	r = publish_rules(tables);
	if (r < 0)
		return error_set(err, r, "cannot write unwinding rules to the kernel: %s",
				 strerror(-r));
	r = relieve(tables, now, let_go, context);
	if (r == 0)
		r = hand_out_all(tables, now);
	return r < 0 ? error_set(err, r, "cannot keep unwinding tables: %s", strerror(-r)) : 0;
}

uint64_t tables_version(const struct tables *tables)
{
	return tables->version;
}

bool tables_pending(const struct tables *tables)
{
	return tables->n_pending > 0;
}

bool tables_help(struct tables *tables)
{
	return compile_queue_help(tables->queue);
}

const struct rule_book *tables_rules(const struct tables *tables)
{
	return tables->book;
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
		stats->broken += table->state == TABLE_BROKEN;
		stats->evicted += table->state == TABLE_EVICTED;
		stats->rows += table->rows;
	}
	stats->rules = tables->n_rules;
	stats->rules_refused = rule_book_refused(tables->book);
}
