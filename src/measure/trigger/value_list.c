// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/value_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static const struct named_value always[] = {
	{ "common_pid", { .kind = EVENT_VALUE_THREAD, .size = sizeof(uint32_t) } },
	{ "cpu", { .kind = EVENT_VALUE_CPU, .size = sizeof(uint32_t) } },
	{ "comm", { .kind = EVENT_VALUE_COMM } },
};

#define N_ALWAYS (sizeof(always) / sizeof(always[0]))

int value_list_add(struct value_list *values, const char *name, const struct event_value *value)
{
	struct named_value *added;
	int r = values->n == VALUES_MAX ? -ENOSPC
					: grow(&values->list, &values->capacity, values->n + 1);

	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	added = &values->list[values->n++];
	snprintf(added->name, sizeof(added->name), "%s", name);
	added->value = *value;
	return 0;
}

void value_list_clear(struct value_list *values)
{
	free(values->list);
	*values = (struct value_list){ 0 };
}

static const struct named_value *find_in(const struct value_list *values, const char *name)
{
	for (uint32_t i = 0; i < values->n; i++)
		if (strcmp(values->list[i].name, name) == 0)
			return &values->list[i];
	return NULL;
}

void value_list_keep_common(struct value_list *values, const struct value_list *others)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < values->n; i++) {
		const struct named_value *other = find_in(others, values->list[i].name);

		if (other && event_value_is_alike(&other->value, &values->list[i].value))
			values->list[n++] = values->list[i];
	}
	values->n = n;
}

static int find(const void *context, const char *name, struct event_value *ret_value,
		struct error *err)
{
	const struct named_value *named = find_in(context, name);

	(void)err;
	for (size_t i = 0; !named && i < N_ALWAYS; i++)
		if (strcasecmp(always[i].name, name) == 0)
			named = &always[i];
	if (!named)
		return -ENOENT;
	*ret_value = named->value;
	return 0;
}

static void list(const void *context, void (*each)(void *to, const char *name), void *to)
{
	const struct value_list *values = context;

	for (uint32_t i = 0; i < values->n; i++)
		each(to, values->list[i].name);
	for (size_t i = 0; i < N_ALWAYS; i++)
		if (!find_in(values, always[i].name))
			each(to, always[i].name);
}

struct event_values value_list_values(const struct value_list *values)
{
	return (struct event_values){ .find = find, .list = list, .context = values };
}
