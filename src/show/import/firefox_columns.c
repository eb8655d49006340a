// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/firefox_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define KEY_SIZE 64

static const struct {
	const char *table, *column;
} columns[FIREFOX_N_COLUMNS] = {
	[FIREFOX_STACK_PREFIX] = { "stackTable", "prefix" },
	[FIREFOX_STACK_FRAME] = { "stackTable", "frame" },
	[FIREFOX_FRAME_FUNC] = { "frameTable", "func" },
	[FIREFOX_FRAME_LINE] = { "frameTable", "line" },
	[FIREFOX_FUNC_NAME] = { "funcTable", "name" },
	[FIREFOX_FUNC_RESOURCE] = { "funcTable", "resource" },
	[FIREFOX_FUNC_FILE] = { "funcTable", "fileName" },
	[FIREFOX_RESOURCE_NAME] = { "resourceTable", "name" },
};

static struct json_list *column_of(struct firefox_columns *tables, const char *table,
				   const char *column)
{
	for (size_t i = 0; i < FIREFOX_N_COLUMNS; i++)
		if (strcmp(columns[i].table, table) == 0 && strcmp(columns[i].column, column) == 0)
			return &tables->columns[i];
	return NULL;
}

static int read_strings(struct firefox_columns *tables, struct json_stacks *stacks,
			struct json_reader *json)
{
	tables->n_strings = 0;
	if (!json_enter(json, '[')) {
		json_skip(json);
		return 0;
	}
	while (json_element(json)) {
		int r = grow(&tables->strings, &tables->string_capacity,
			     (size_t)tables->n_strings + 1);

		if (r == 0)
			r = json_stacks_text(stacks, json, &tables->strings[tables->n_strings]);
		if (r < 0)
			return r;
		tables->n_strings++;
	}
	return 0;
}

static int read_table(struct firefox_columns *tables, const char *table, struct json_reader *json)
{
	char key[KEY_SIZE];
	int r = 0;

	if (!json_enter(json, '{')) {
		json_skip(json);
		return 0;
	}
	while (r == 0 && json_member(json, key, sizeof(key))) {
		struct json_list *list = column_of(tables, table, key);

		if (list)
			r = json_list_read(json, list);
		else
			json_skip(json);
	}
	return r;
}

static int forget_ids(struct firefox_columns *tables)
{
	size_t n = tables->columns[FIREFOX_FRAME_FUNC].n;

	free(tables->ids);
	tables->ids = reallocarray(NULL, n + 1, sizeof(*tables->ids));
	if (!tables->ids)
		return -ENOMEM;
	memset(tables->ids, 0xff, n * sizeof(*tables->ids)); /* JSON_NONE */
	return 0;
}

int firefox_columns_read(struct firefox_columns *tables, struct json_stacks *stacks,
			 struct json_reader json)
{
	char key[KEY_SIZE];
	int r = 0;

	if (!json_enter(&json, '{'))
		return -EBADMSG;
	while (r == 0 && json_member(&json, key, sizeof(key))) {
		if (strcmp(key, "stringArray") == 0 || strcmp(key, "stringTable") == 0)
			r = read_strings(tables, stacks, &json);
		else
			r = read_table(tables, key, &json);
	}
	if (r == 0 && json.failed)
		r = -EBADMSG;
	return r < 0 ? r : forget_ids(tables);
}

void firefox_columns_clear(struct firefox_columns *tables)
{
	for (size_t i = 0; i < FIREFOX_N_COLUMNS; i++)
		json_list_clear(&tables->columns[i]);
	free(tables->strings);
	free(tables->ids);
	*tables = (struct firefox_columns){ 0 };
}

bool firefox_columns_are_there(const struct firefox_columns *tables)
{
	return tables->columns[FIREFOX_STACK_FRAME].n > 0;
}

static const char *string_at(const struct firefox_columns *tables, uint32_t at)
{
	return at < tables->n_strings ? tables->strings[at] : NULL;
}

static int add_frame(struct firefox_columns *tables, struct json_stacks *stacks, uint32_t frame)
{
	const struct json_list *lists = tables->columns;
	uint32_t func = json_list_at(&lists[FIREFOX_FRAME_FUNC], frame);
	uint32_t line = json_list_at(&lists[FIREFOX_FRAME_LINE], frame);
	uint32_t resource = json_list_at(&lists[FIREFOX_FUNC_RESOURCE], func);
	const char *file = string_at(tables, json_list_at(&lists[FIREFOX_FUNC_FILE], func));
	const char *module =
		string_at(tables, json_list_at(&lists[FIREFOX_RESOURCE_NAME], resource));

	return json_stacks_frame(stacks,
				 string_at(tables, json_list_at(&lists[FIREFOX_FUNC_NAME], func)),
				 module, file, line == JSON_NONE ? 0 : line, &tables->ids[frame]);
}

int firefox_columns_stack(struct firefox_columns *tables, struct json_stacks *stacks,
			  uint32_t stack, uint32_t *ret_n, bool *ret_cut)
{
	const struct json_list *frames = &tables->columns[FIREFOX_STACK_FRAME];
	uint32_t n = 0;

	while (stack != JSON_NONE && n < JSON_STACK_MAX) {
		uint32_t frame = json_list_at(frames, stack), prefix;
		int r = 0;

		if (frame >= tables->columns[FIREFOX_FRAME_FUNC].n)
			return -EBADMSG;
		if (tables->ids[frame] == JSON_NONE)
			r = add_frame(tables, stacks, frame);
		if (r < 0)
			return r;
		stacks->stack[n++] = tables->ids[frame];
		prefix = json_list_at(&tables->columns[FIREFOX_STACK_PREFIX], stack);
		if (prefix != JSON_NONE && prefix >= stack)
			return -EBADMSG;
		stack = prefix;
	}
	*ret_n = n;
	*ret_cut = stack != JSON_NONE;
	return 0;
}
