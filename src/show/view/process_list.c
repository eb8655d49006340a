// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/process_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/own.h"
#include "view/entry_groups.h"

struct making {
	const struct profile *profile;
	struct process_list *list;
	uint32_t capacity;
	struct index index;    /* of the rows, by their names */
	uint32_t *row_of;      /* for each entry of the profile */
	uint64_t *of_function; /* for each frame of the profile, the counts in one row */
	bool is_base;
};

/* The kernel's threads of one kind differ in what follows the slash. */
static const char *const kernel_threads[] = { "kworker/", "ksoftirqd/", "migration/", "swapper/",
					      "cpuhp/" };

static void name_process(const char *comm, size_t size, char ret_name[SERVICE_NAME_SIZE])
{
	memset(ret_name, 0, SERVICE_NAME_SIZE);
	memcpy(ret_name, comm, strnlen(comm, size));
	for (size_t i = 0; i < sizeof(kernel_threads) / sizeof(*kernel_threads); i++)
		if (strncmp(ret_name, kernel_threads[i], strlen(kernel_threads[i])) == 0)
			*strchr(ret_name, '/') = '\0';
}

static void name_service(const struct profile *profile, const struct tally_entry *entry,
			 char ret_name[SERVICE_NAME_SIZE])
{
	struct service service;

	service_of_cgroup(profile_cgroup(profile, entry->cgroup), &service);
	if (strcmp(service.name, SERVICE_UNKNOWN) == 0)
		snprintf(service.name, sizeof(service.name), "no service");
	memset(ret_name, 0, SERVICE_NAME_SIZE);
	memcpy(ret_name, service.name, strnlen(service.name, SERVICE_NAME_SIZE - 1));
}

static int row_of(struct making *making, const char *name, uint32_t *ret_row)
{
	struct process_list *list = making->list;
	uint64_t hash = hash_bytes(name, strlen(name));
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&making->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&making->index, &cursor)) {
		if (strcmp(list->rows[at].name, name) == 0) {
			*ret_row = at;
			return 0;
		}
	}
	r = grow(&list->rows, &making->capacity, (size_t)list->n + 1);
	if (r == 0)
		r = index_add(&making->index, hash, list->n);
	if (r < 0)
		return r;
	list->rows[list->n] = (struct process_row){ .function = ENTRY_NO_FRAME };
	memcpy(list->rows[list->n].name, name, strlen(name) + 1);
	*ret_row = list->n++;
	return 0;
}

static void add(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

static int add_entry(struct making *making, const struct profile *profile, uint32_t number,
		     const char *name)
{
	const struct tally_entry *entry = &profile->entries[number];
	struct profile_entry stacks;
	struct process_row *row;
	uint32_t at;
	int r = row_of(making, name, &at);

	if (r < 0)
		return r;
	row = &making->list->rows[at];
	if (making->is_base) {
		add(&row->base_total, entry->count);
		return 0;
	}
	making->row_of[number] = at;
	add(&row->total, entry->count);
	add(&row->events, entry->events);
	profile_read(profile, entry, &stacks);
	add(&row->by_state[entry_parts(profile, &stacks).state], entry->count);
	if (!row->heaviest || entry->count > row->heaviest->count)
		row->heaviest = entry;
	return 0;
}

/* The first thread, whose stack begins where the program does, has the name of the process. */
static bool is_of_first_thread(const struct profile *profile, const struct tally_entry *of)
{
	struct profile_entry entry;
	const char *root;

	profile_read(profile, of, &entry);
	root = entry.n_user ? profile->frames[entry.user[entry.n_user - 1]].is.name : NULL;

	return root && strcmp(root, "_start") == 0;
}

void process_list_name(const struct profile *profile, const struct entry_groups *groups,
		       const struct entry_group *group, char ret_name[SERVICE_NAME_SIZE])
{
	const struct names_process *known =
		names_process_by_tgid(profile->processes, profile->n_processes,
				      group->heaviest->tgid);
	const char *comm = group->heaviest->comm;

	if (known) {
		name_process(known->comm, SERVICE_NAME_SIZE - 1, ret_name);
		return;
	}
	for (uint32_t i = group->first; i < group->first + group->n; i++) {
		const struct tally_entry *entry = &profile->entries[groups->order[i]];

		if (is_of_first_thread(profile, entry)) {
			comm = entry->comm;
			break;
		}
	}
	name_process(comm, TALLY_COMM_SIZE, ret_name);
}

/* The entries of a process, which all have its name, or each that of its thread's service. */
static int add_group(struct making *making, const struct profile *profile,
		     const struct entry_groups *groups, const struct entry_group *group)
{
	uint32_t last = UINT32_MAX;
	char name[SERVICE_NAME_SIZE];
	int r = 0;

	process_list_name(profile, groups, group, name);
	for (uint32_t i = group->first; r == 0 && i < group->first + group->n; i++) {
		uint32_t number = groups->order[i];
		const struct tally_entry *entry = &profile->entries[number];

		if (making->list->of_services)
			name_service(profile, entry, name);
		else if (!entry->tgid)
			name_process(entry->comm, sizeof(entry->comm), name);
		r = add_entry(making, profile, number, name);
		if (r < 0 || making->is_base || !entry->tgid || making->row_of[number] == last)
			continue;
		last = making->row_of[number];
		making->list->rows[last].n_processes++;
		making->list->rows[last].tgid = entry->tgid;
	}
	return r;
}

static int add_profile(struct making *making, const struct profile *profile)
{
	own(entry_groups_clear) struct entry_groups groups = { 0 };
	int r = entry_groups_make(&groups, profile, false);

	for (uint32_t i = 0; r == 0 && i < groups.n; i++)
		r = add_group(making, profile, &groups, &groups.list[i]);
	return r;
}

struct ordered {
	uint32_t row, entry;
};

static int by_row(const void *a, const void *b)
{
	const struct ordered *one = a, *other = b;

	if (one->row != other->row)
		return one->row < other->row ? -1 : 1;
	return one->entry < other->entry ? -1 : one->entry > other->entry;
}

static uint32_t program_frame(const struct profile *profile, uint32_t number)
{
	struct profile_entry entry;

	profile_read(profile, &profile->entries[number], &entry);
	return entry_program_frame(profile, &entry);
}

/* Finds the function with most of the row's counts, and empties `of_function` again. */
static void name_function(struct making *making, const struct ordered *entries, uint32_t n)
{
	const struct profile *profile = making->profile;
	struct process_row *row = &making->list->rows[entries[0].row];
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame = program_frame(profile, entries[i].entry);

		if (frame == ENTRY_NO_FRAME)
			continue;
		add(&making->of_function[frame], profile->entries[entries[i].entry].count);
		if (making->of_function[frame] > most) {
			most = making->of_function[frame];
			row->function = frame;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame = program_frame(profile, entries[i].entry);

		if (frame != ENTRY_NO_FRAME)
			making->of_function[frame] = 0;
	}
}

static int name_functions(struct making *making)
{
	uint32_t n = making->profile->n_entries, next;
	own(own_free) struct ordered *order = reallocarray(NULL, (size_t)n + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct ordered){ making->row_of[i], i };
	qsort(order, n, sizeof(*order), by_row);
	for (uint32_t i = 0; i < n; i = next) {
		for (next = i + 1; next < n && order[next].row == order[i].row;)
			next++;
		name_function(making, order + i, next - i);
	}
	return 0;
}

static uint64_t change(const struct process_row *row)
{
	return row->total > row->base_total ? row->total - row->base_total
					    : row->base_total - row->total;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct process_row *one = a, *other = b;
	bool compared = *(const bool *)context;

	if (compared && change(one) != change(other))
		return change(one) > change(other) ? -1 : 1;
	if (one->total != other->total)
		return one->total > other->total ? -1 : 1;
	return strcmp(one->name, other->name);
}

static void making_clear(struct making *making)
{
	index_free(&making->index);
	free(making->row_of);
	free(making->of_function);
}

static int make(struct making *making)
{
	const struct profile *profile = making->profile;
	int r;

	making->row_of =
		reallocarray(NULL, (size_t)profile->n_entries + 1, sizeof(*making->row_of));
	making->of_function = calloc((size_t)profile->n_frames + 1, sizeof(*making->of_function));
	if (!making->row_of || !making->of_function)
		return -ENOMEM;
	r = add_profile(making, profile);
	if (r == 0)
		r = name_functions(making);
	if (r < 0 || !profile->base)
		return r;
	making->is_base = true;
	return add_profile(making, profile->base);
}

int process_list_make(const struct profile *profile, bool by_service, struct process_list *ret_list)
{
	own(process_list_clear) struct process_list list = { .of_services = by_service };
	own(making_clear) struct making making = { .profile = profile, .list = &list };
	bool compared = profile->base != NULL;
	int r = make(&making);

	if (r < 0)
		return r;
	for (uint32_t i = 0; compared && i < list.n; i++)
		list.rows[i].base_total =
			scale_count(&profile->base_scale, list.rows[i].base_total);
	if (list.n > 1)
		qsort_r(list.rows, list.n, sizeof(*list.rows), compare, &compared);
	*ret_list = list;
	list = (struct process_list){ 0 };
	return 0;
}

void process_list_clear(struct process_list *list)
{
	free(list->rows);
	*list = (struct process_list){ 0 };
}
