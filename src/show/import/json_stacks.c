// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/json_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define TEXT_MAX 65536 /* bytes of a name; the rest is cut */

int json_stacks_start(struct json_stacks *stacks, struct tally *tally, struct names *names)
{
	int r;

	*stacks = (struct json_stacks){ .tally = tally, .names = names };
	r = pool_new(&stacks->strings);
	if (r < 0)
		return r;
	stacks->stack = reallocarray(NULL, JSON_STACK_MAX, sizeof(*stacks->stack));
	return stacks->stack ? names_share_strings(names, stacks->strings) : -ENOMEM;
}

void json_stacks_clear(struct json_stacks *stacks)
{
	free(stacks->stack);
	pool_free(stacks->strings);
	*stacks = (struct json_stacks){ 0 };
}

/* ---- frames ---- */

/* The kernel is a module of that name; the names of its own modules are in brackets, too. */
static bool is_kernel(const char *module)
{
	return module && (strncmp(module, "[kernel", strlen("[kernel")) == 0 ||
			  strncmp(module, "vmlinux", strlen("vmlinux")) == 0);
}

int json_stacks_frame(struct json_stacks *stacks, const char *name, const char *module,
		      const char *file, uint32_t line, uint32_t *ret_id)
{
	uint32_t id = tally_n_addresses(stacks->tally);
	const struct names_frame frame = { .name = name && *name ? name : NULL,
					   .module = module && *module ? module : NULL,
					   .file = file && *file ? file : NULL,
					   .line = line,
					   .object = NAMES_NONE,
					   .flags = is_kernel(module) ? NAMES_FRAME_KERNEL : 0 };
	const struct tally_address address = { .address = id, .image = !is_kernel(module) };
	int r = names_add_address(stacks->names, &frame, 1);

	*ret_id = id;
	return r < 0 ? r : tally_append_address(stacks->tally, &address);
}

static bool in_kernel(const struct json_stacks *stacks, uint32_t id)
{
	return names_frame(stacks->names, names_address(stacks->names, id).first).flags &
	       NAMES_FRAME_KERNEL;
}

/* ---- who ---- */

/* The thread of `Thread 17778 "worker"`, as py-spy has it: leaves what is between the quotes. */
static uint32_t take_thread(const char **name, size_t *size)
{
	static const char start[] = "Thread ";
	const char *quote;
	unsigned long id;
	char *end;

	if (strncmp(*name, start, strlen(start)) != 0 || (*name)[*size - 1] != '"')
		return 0;
	id = strtoul(*name + strlen(start), &end, 10);
	quote = *end == ' ' ? end + 1 : "";
	if (id == 0 || id > INT32_MAX || *quote != '"' || quote == *name + *size - 1)
		return 0;
	*size -= (size_t)(quote + 2 - *name);
	*name = quote + 1;
	return (uint32_t)id;
}

void json_stacks_who(struct json_stacks *stacks, const char *name)
{
	const char *open = strrchr(name, '(');
	size_t size = strlen(name);
	char *end = NULL;
	unsigned long id =
		open && open[1] >= '0' && open[1] <= '9' ? strtoul(open + 1, &end, 10) : 0;

	stacks->entry = (struct tally_entry){ .tid = take_thread(&name, &size) };
	if (end && strcmp(end, ")") == 0 && open > name && open[-1] == ' ' && id <= INT32_MAX) {
		stacks->entry.tgid = (uint32_t)id;
		size = (size_t)(open - 1 - name);
	}
	if (size > TALLY_COMM_SIZE - 1)
		size = TALLY_COMM_SIZE - 1;
	while (size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80)
		size--; /* not within a character */
	memcpy(stacks->entry.comm, name, size);
}

/* ---- counts ---- */

static const struct {
	const char *name, *measure, *unit;
	double each;
} units[] = {
	{ "none", NULL, NULL, 1 },
	{ "bytes", "size", "bytes", 1 },
	{ "nanoseconds", "time", "nanoseconds", 1 },
	{ "microseconds", "time", "nanoseconds", 1e3 },
	{ "milliseconds", "time", "nanoseconds", 1e6 },
	{ "seconds", "time", "nanoseconds", 1e9 },
};

bool json_stacks_unit(struct json_stacks *stacks, const char *unit, struct profile_meta *meta)
{
	size_t i = 0;

	while (i < sizeof(units) / sizeof(units[0]) && strcmp(units[i].name, unit) != 0)
		i++;
	if (i == sizeof(units) / sizeof(units[0]))
		i = 0;
	if (stacks->each > 0 && meta->unit != units[i].unit &&
	    !(meta->unit && units[i].unit && strcmp(meta->unit, units[i].unit) == 0))
		return false;
	meta->measure = units[i].measure;
	meta->unit = units[i].unit;
	stacks->each = units[i].each;
	return true;
}

static int count_of(struct json_stacks *stacks, double weight, uint64_t *ret_count)
{
	double count = weight * stacks->each;

	if (!(count >= 0))
		return -EDOM;
	if (!(count < 9.2e18))
		return -ERANGE;
	*ret_count = (uint64_t)(count + 0.5);
	if (stacks->each == 1 && (double)*ret_count != count)
		return -EDOM;
	if (__builtin_add_overflow(stacks->total, *ret_count, &stacks->total) ||
	    stacks->total > INT64_MAX)
		return -ERANGE;
	return 0;
}

static int stack_of(struct json_stacks *stacks, const uint32_t *frames, uint32_t n, bool cut,
		    uint32_t *ret_id)
{
	bool deep = n > TALLY_MAX_FRAMES;

	return tally_stack(stacks->tally, frames, deep ? TALLY_MAX_FRAMES : n,
			   n && (cut || deep) ? TALLY_STACK_CUT : 0, ret_id);
}

int json_stacks_add(struct json_stacks *stacks, const uint32_t *frames, uint32_t n, bool cut,
		    double weight)
{
	struct tally_entry entry = stacks->entry;
	uint32_t n_kernel = 0;
	int r = count_of(stacks, weight, &entry.count);

	if (r < 0 || entry.count == 0)
		return r;
	while (n_kernel < n && in_kernel(stacks, frames[n_kernel]))
		n_kernel++;
	r = stack_of(stacks, frames, n_kernel, cut && n_kernel == n, &entry.kernel);
	if (r == 0)
		r = stack_of(stacks, frames + n_kernel, n - n_kernel, cut, &entry.user);
	return r < 0 ? r : tally_add(stacks->tally, &entry);
}

/* ---- values ---- */

int json_stacks_text(struct json_stacks *stacks, struct json_reader *json, const char **ret_text)
{
	char text[TEXT_MAX];

	*ret_text = NULL;
	if (!json_text(json, text, sizeof(text)))
		return 0;
	*ret_text = pool_string(stacks->strings, text);
	return *ret_text ? 0 : -ENOMEM;
}

int json_list_read(struct json_reader *json, struct json_list *list)
{
	list->n = 0;
	if (!json_enter(json, '[')) {
		json_skip(json);
		return 0;
	}
	while (json_element(json)) {
		double number = -1;
		int r = grow(&list->list, &list->capacity, (size_t)list->n + 1);

		if (r < 0)
			return r;
		json_number(json, &number);
		list->list[list->n++] =
			number >= 0 && number < JSON_NONE ? (uint32_t)number : JSON_NONE;
	}
	return 0;
}

void json_list_clear(struct json_list *list)
{
	free(list->list);
	*list = (struct json_list){ 0 };
}

int json_stacks_explain(int code, const struct json_reader *json, struct error *err)
{
	if (code == 0 && json->failed)
		code = -EBADMSG;
	switch (code) {
	case 0:
		return 0;
	case -EBADMSG:
		return error_set(err, code, "JSON that is damaged or cut");
	case -EDOM:
		return error_set(err, code, "a weight that is below 0, or no whole number");
	case -ERANGE:
		return error_set(err, code, "the sum of the weights is too large");
	case -EXDEV:
		return error_set(err, code, "weights of more than one unit");
	case -ENOMEM:
		return error_set(err, code, "out of memory");
	default:
		return error_set(err, code, "too large");
	}
}
