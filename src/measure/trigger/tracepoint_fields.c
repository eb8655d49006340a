// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/tracepoint_fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "trigger/refused.h"
#include "trigger/tracefs.h"

#define RECORD_SIZE 65536 /* bytes of a record */

/* What precedes an event's own fields; the kernel puts something of its own there. */
#define COMMON_SIZE 8

#define CATEGORY_SIZE 200

/* ---- a line ---- */

/* The number behind `name` in a line; UINT32_MAX: there is none. */
static uint32_t number_of(const char *line, const char *name)
{
	const char *at = strstr(line, name);
	unsigned long number = at ? strtoul(at + strlen(name), NULL, 10) : UINT32_MAX;

	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static bool ends_with(const char *text, size_t size, const char *end)
{
	return size >= strlen(end) && strncmp(text + size - strlen(end), end, strlen(end)) == 0;
}

/* Sizes are told by their type or their name. */
static const char *unit_of(const char *type, size_t type_size, const char *name)
{
	size_t size = strlen(name);

	if (ends_with(type, type_size, "size_t") || strstr(name, "bytes") ||
	    ends_with(name, size, "len") || ends_with(name, size, "size"))
		return "bytes";
	return NULL;
}

static bool is_char_array(const char *type, size_t size)
{
	return strncmp(type, "char", 4) == 0 && memchr(type, '[', size);
}

/* Fills in the kind of value that a type makes; false: of none. */
static bool kind_of(const char *type, size_t size, const char *brackets, const char *category,
		    struct event_value *value)
{
	if (strncmp(type, "__data_loc char[]", strlen("__data_loc char[]")) == 0)
		value->kind = EVENT_VALUE_LOCATION;
	else if (strncmp(type, "__", 2) == 0 && strstr(type, "_loc "))
		return false;
	else if (*brackets == '[' && is_char_array(type, size))
		value->kind = EVENT_VALUE_ARRAY;
	else if (*brackets == '[')
		return false;
	else if (ends_with(type, size, "char *") && value->size == sizeof(uint64_t))
		value->text =
			strcmp(category, "syscalls") == 0 ? EVENT_TEXT_USER : EVENT_TEXT_KERNEL;
	return value->kind != EVENT_VALUE_CONTEXT || value->size == 1 || value->size == 2 ||
	       value->size == 4 || value->size == 8;
}

bool tracepoint_field_parse(const char *line, const char *category, char *ret_name, size_t size,
			    struct event_value *ret_value)
{
	const char *type = strstr(line, "field:"), *end, *name, *last;
	struct event_value value = { .offset = number_of(line, "offset:"),
				     .size = number_of(line, "size:"),
				     .is_signed = number_of(line, "signed:") == 1 };
	size_t name_size;

	if (!type || value.offset < COMMON_SIZE || value.offset >= RECORD_SIZE || value.size == 0 ||
	    value.size > RECORD_SIZE - value.offset)
		return false;
	type += strlen("field:");
	end = type + strcspn(type, ";\n");
	/* The name is the last word, before the brackets of an array. */
	last = memchr(type, '[', (size_t)(end - type));
	if (last && last[1] == ']')
		last = NULL; /* those of __data_loc */
	last = last ? last : end;
	for (name = last; name > type && (isalnum((unsigned char)name[-1]) || name[-1] == '_');)
		name--;
	name_size = (size_t)(last - name);
	if (name == type || name_size == 0 || name_size >= size)
		return false;
	memcpy(ret_name, name, name_size);
	ret_name[name_size] = '\0';
	while (name > type && name[-1] == ' ')
		name--;
	if (!kind_of(type, (size_t)(*last == '[' ? end - type : name - type), last, category,
		     &value))
		return false;
	value.unit = unit_of(type, (size_t)(name - type), ret_name);
	*ret_value = value;
	return true;
}

/* ---- a file ---- */

/* Fields that the print format shows with "[ns]" are times. */
static void find_times(struct value_list *fields, const char *format)
{
	char shown[VALUE_NAME_SIZE + 2];

	for (uint32_t i = 0; i < fields->n; i++) {
		const char *at;

		snprintf(shown, sizeof(shown), "%s=", fields->list[i].name);
		at = strstr(format, shown);
		at = at ? strpbrk(at + strlen(shown), " ,\"") : NULL;
		if (at && strncmp(at, " [ns]", strlen(" [ns]")) == 0)
			fields->list[i].value.unit = "nanoseconds";
	}
}

static int read_fields(FILE *file, const char *category, struct value_list *fields)
{
	own(own_free) char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, file) >= 0) {
		char name[VALUE_NAME_SIZE];
		struct event_value value;
		int r;

		if (strncmp(line, "print fmt:", strlen("print fmt:")) == 0)
			find_times(fields, line);
		if (!tracepoint_field_parse(line, category, name, sizeof(name), &value))
			continue;
		r = value_list_add(fields, name, &value);
		if (r < 0)
			return r;
	}
	return ferror(file) ? -EIO : 0;
}

static int open_event(int tracefs, const char *event, char category[CATEGORY_SIZE], FILE **ret_file,
		      struct error *err)
{
	const char *name = strchr(event, ':');
	char path[600];

	snprintf(category, CATEGORY_SIZE, "%.*s", (int)(name - event), event);
	snprintf(path, sizeof(path), "events/%s/%.300s/format", category, name + 1);
	*ret_file = tracefs_file(tracefs, path);
	return *ret_file ? 0 : refused_file(err, -errno, "cannot read the format of a tracepoint");
}

static int read_event(int tracefs, const char *event, struct value_list *fields, struct error *err)
{
	char category[CATEGORY_SIZE];
	own(own_file) FILE *file = NULL;
	int r = open_event(tracefs, event, category, &file, err);

	if (r < 0)
		return r;
	r = read_fields(file, category, fields);
	return r < 0 ? error_set(err, r, "cannot read the format of %.200s: %s", event,
				 strerror(-r))
		     : 0;
}

/* ---- for -l ---- */

/* "field:char comm[16];	offset:8;	size:16;	signed:0;" as "char comm[16]	16
 * bytes". */
static void list_field(const char *line, const struct listing *listing)
{
	const char *type = strstr(line, "field:");
	uint32_t offset = number_of(line, "offset:"), size = number_of(line, "size:");
	char text[300];

	if (!type || offset < COMMON_SIZE || offset == UINT32_MAX || size == UINT32_MAX)
		return;
	type += strlen("field:");
	snprintf(text, sizeof(text), "%.*s: %u byte%s%s", (int)strcspn(type, ";\n"), type, size,
		 size == 1 ? "" : "s", number_of(line, "signed:") == 1 ? ", signed" : "");
	listing->detail(listing->to, text);
}

int tracepoint_fields_list(const char *event, const struct listing *listing, struct error *err)
{
	own(own_fd) int tracefs = tracefs_open(err);
	own(own_file) FILE *file = NULL;
	own(own_free) char *line = NULL;
	char category[CATEGORY_SIZE];
	size_t capacity = 0;
	int r = tracefs < 0 ? tracefs : open_event(tracefs, event, category, &file, err);

	if (r < 0)
		return r;
	while (getline(&line, &capacity, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "print fmt:", strlen("print fmt:")) == 0)
			listing->detail(listing->to, line);
		else
			list_field(line, listing);
	}
	return 0;
}

/* ---- several events ---- */

int tracepoint_fields_read(const char *const *names, uint32_t n, struct value_list *ret_fields,
			   struct error *err)
{
	own(value_list_clear) struct value_list fields = { 0 };
	own(own_fd) int tracefs = tracefs_open(err);
	int r = 0;

	if (tracefs < 0)
		return tracefs;
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		own(value_list_clear) struct value_list others = { 0 };

		r = read_event(tracefs, names[i], i ? &others : &fields, err);
		if (r == 0 && i)
			value_list_keep_common(&fields, &others);
	}
	if (r < 0)
		return r;
	*ret_fields = fields;
	fields = (struct value_list){ 0 };
	return 0;
}
