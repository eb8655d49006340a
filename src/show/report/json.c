// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stacktally's own JSON format (docs/json.md): one object with everything known. Each frame and
 * each stack is on a line of its own, for tools that read lines.
 */
#include "base/own.h"
#include "report/writer.h"
#include "view/frame_text.h"
#include "view/function_list.h"
#include "view/json_text.h"
#include "view/stack_list.h"

#define JSON_VERSION "1"

struct json {
	const struct profile *profile;
	uint32_t view;
	struct bytes bytes;
};

static uint32_t json_view(const struct report_options *options)
{
	uint32_t view = PROFILE_VIEW_PROCESS | PROFILE_VIEW_THREAD | PROFILE_VIEW_CGROUP |
			PROFILE_VIEW_MODULE | PROFILE_VIEW_OBJECT | PROFILE_VIEW_INLINED;

	if (options->by_address || options->address || options->verbose_address)
		view |= PROFILE_VIEW_ADDRESS | PROFILE_VIEW_OFFSET;
	if (options->offset)
		view |= PROFILE_VIEW_OFFSET;
	if (options->lines)
		view |= PROFILE_VIEW_LINES;
	return view;
}

static void put_key(struct json *json, const char *key)
{
	bytes_char(&json->bytes, ',');
	json_key(&json->bytes, key);
}

static void put_string(struct json *json, const char *key, const char *string)
{
	put_key(json, key);
	if (string)
		json_string(&json->bytes, string);
	else
		bytes_string(&json->bytes, "null");
}

static void put_number(struct json *json, const char *key, uint64_t value)
{
	put_key(json, key);
	bytes_decimal(&json->bytes, value);
}

/* As a string: many readers keep numbers as doubles, which hold 53 bits. */
static void put_address(struct json *json, const char *key, uint64_t address)
{
	put_key(json, key);
	bytes_string(&json->bytes, "\"0x");
	bytes_hex(&json->bytes, address, 0, false);
	bytes_char(&json->bytes, '"');
}

static void put_object(struct json *json, const struct names_object *object)
{
	bytes_char(&json->bytes, '{');
	json_key(&json->bytes, "path");
	json_string(&json->bytes, object->path);
	put_key(json, "build_id");
	bytes_char(&json->bytes, '"');
	for (uint32_t i = 0; i < object->build_id_size; i++)
		bytes_hex(&json->bytes, object->build_id[i], 2, true);
	bytes_char(&json->bytes, '"');
	put_address(json, "start", object->start);
	put_address(json, "end", object->end);
	put_address(json, "offset", object->offset);
	bytes_char(&json->bytes, '}');
}

static void put_frame(struct json *json, const struct profile_frame *frame)
{
	const struct names_frame *is = &frame->is;

	bytes_char(&json->bytes, '{');
	json_key(&json->bytes, "name");
	if (is->name)
		json_string(&json->bytes, is->name);
	else
		bytes_string(&json->bytes, "null");
	put_string(json, "module", is->module);
	put_string(json, "mode", is->flags & NAMES_FRAME_KERNEL ? "kernel" : "user");
	if (is->object != NAMES_NONE)
		put_number(json, "object", is->object);
	if (is->flags & NAMES_FRAME_INLINED)
		bytes_string(&json->bytes, ",\"inlined\":true");
	if (is->flags & NAMES_FRAME_IDENTITY)
		bytes_string(&json->bytes, ",\"no_symbol\":true");
	if (is->flags & NAMES_FRAME_JIT)
		bytes_string(&json->bytes, ",\"generated\":true");
	if (is->flags & NAMES_FRAME_CHAINED)
		bytes_string(&json->bytes, ",\"frame_pointer\":true");
	if (is->flags & NAMES_FRAME_UNWIND)
		bytes_string(&json->bytes, ",\"unwind\":true");
	if (json->view & PROFILE_VIEW_OFFSET && !(is->flags & NAMES_FRAME_INLINED))
		put_number(json, "offset", is->offset);
	if (json->view & PROFILE_VIEW_ADDRESS) {
		put_address(json, "address", frame->address);
		if (is->linkage_name)
			put_string(json, "linkage_name", is->linkage_name);
	}
	if (is->language)
		bytes_string(&json->bytes, ",\"program\":true");
	if (is->file && (json->view & PROFILE_VIEW_LINES || is->language))
		put_string(json, "file", is->file);
	if (is->file && json->view & PROFILE_VIEW_LINES && is->line)
		put_number(json, "line", is->line);
	bytes_char(&json->bytes, '}');
}

/* The kernel's or the user's part of a stack, and how its walk ended. */
static void put_side(struct json *json, const char *key, const uint32_t *frames, uint32_t n,
		     const char *end_key, const char *end)
{
	put_key(json, key);
	bytes_char(&json->bytes, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			bytes_char(&json->bytes, ',');
		bytes_decimal(&json->bytes, frames[i]);
	}
	bytes_char(&json->bytes, ']');
	put_string(json, end_key, end);
}

static const char *user_end(const struct profile_entry *entry)
{
	if (entry->user_missed)
		return "missed";
	if (!entry->has_user)
		return "none";
	if (entry->user_end != TALLY_END_NONE)
		return tally_end_name(entry->user_end);
	return entry->user_cut ? tally_end_name(TALLY_END_DEPTH) : "not told";
}

static const char *kernel_end(const struct profile_entry *entry)
{
	if (entry->kernel_missed)
		return "missed";
	if (!entry->has_kernel)
		return "none";
	return tally_end_name(entry->kernel_cut ? TALLY_END_DEPTH : TALLY_END_COMPLETE);
}

static void put_cgroup(struct json *json, const struct names_cgroup *cgroup)
{
	put_string(json, "cgroup", cgroup ? cgroup->path : NULL);
	for (uint32_t i = 0; cgroup && i < cgroup->n_labels; i++)
		put_string(json, cgroup->labels[i].key, cgroup->labels[i].value);
}

static void put_stack(struct json *json, const struct tally_entry *entry)
{
	struct profile_entry stacks;

	profile_read(json->profile, entry, &stacks);
	bytes_char(&json->bytes, '{');
	json_key(&json->bytes, "count");
	bytes_decimal(&json->bytes, entry->count);
	if (json->profile->meta->summed)
		put_number(json, "events", entry->events);
	if (entry->largest)
		put_number(json, "largest", entry->largest);
	put_key(json, "comm");
	json_string_n(&json->bytes, entry->comm, strnlen(entry->comm, sizeof(entry->comm)));
	put_number(json, "pid", entry->tgid);
	if (entry->tid)
		put_number(json, "tid", entry->tid);
	if (entry->cgroup) {
		put_number(json, "cgroup_id", entry->cgroup);
		put_cgroup(json, profile_cgroup(json->profile, entry->cgroup));
	}
	put_side(json, "kernel", stacks.kernel, stacks.n_kernel, "kernel_end", kernel_end(&stacks));
	put_side(json, "user", stacks.user, stacks.n_user, "user_end", user_end(&stacks));
	bytes_char(&json->bytes, '}');
}

static void begin_list(struct json *json, const char *key)
{
	bytes_string(&json->bytes, ",\n");
	json_key(&json->bytes, key);
	bytes_char(&json->bytes, '[');
}

static void begin_item(struct json *json, uint32_t i)
{
	bytes_string(&json->bytes, i > 0 ? ",\n" : "\n");
}

static void put_function(struct json *json, const struct function_row *row)
{
	const char *file = function_row_file(row);

	bytes_char(&json->bytes, '{');
	json_key(&json->bytes, "name");
	json_string(&json->bytes, frame_text_name(row->is));
	put_string(json, "module", row->is->module);
	put_string(json, "file", file);
	put_number(json, "self", row->self);
	put_number(json, "self_before", row->base_self);
	put_number(json, "total", row->total);
	put_number(json, "total_before", row->base_total);
	bytes_char(&json->bytes, '}');
}

/* What --diff adds: the base, and each function of both, the largest change first. */
static int put_difference(struct json *json, const char *base_name)
{
	own(function_list_clear) struct function_list list = { 0 };
	const struct profile *profile = json->profile;
	char scale[40];
	int r = function_list_make(profile, &list);

	if (r < 0)
		return r;
	function_list_sort(&list, FUNCTIONS_BY_SELF_CHANGE);
	bytes_string(&json->bytes, ",\n\"difference\":{");
	json_key(&json->bytes, "base");
	json_string(&json->bytes, base_name ? base_name : "");
	put_key(json, "measurement");
	json_measurement(&json->bytes, profile->base);
	put_key(json, "scale");
	snprintf(scale, sizeof(scale), "%.9g", scale_factor(&profile->base_scale));
	bytes_string(&json->bytes, scale);
	begin_list(json, "functions");
	for (uint32_t i = 0; !json->bytes.failed && i < list.n; i++) {
		begin_item(json, i);
		put_function(json, &list.rows[i]);
	}
	bytes_string(&json->bytes, "]}");
	return 0;
}

/* The thread's state in a word; docs/json.md has the list. */
static const char *state_of(const struct listed_thread *thread)
{
	if (thread->state == 'Z')
		return "ended";
	if (!thread->stayed)
		return "moved";
	return thread->state == 'D'			      ? "uninterruptible"
	       : thread->state == 'T' || thread->state == 't' ? "stopped"
	       : thread->state == 'R'			      ? "ready"
							      : "blocked";
}

static void put_thread(struct json *json, const struct listed_thread *thread)
{
	bytes_char(&json->bytes, '{');
	json_key(&json->bytes, "comm");
	json_string_n(&json->bytes, thread->comm, strnlen(thread->comm, sizeof(thread->comm)));
	put_number(json, "pid", thread->tgid);
	put_number(json, "tid", thread->tid);
	put_string(json, "state", state_of(thread));
	put_number(json, "running_ns", thread->ran_ns);
	put_number(json, "blocked_ns", thread->blocked_ns);
	put_number(json, "ready_ns", thread->ready_ns);
	if (thread->away_ns)
		put_number(json, "for_ns", thread->away_ns);
	if (*thread->wait)
		put_string(json, "wait", thread->wait);
	if (thread->waits_for)
		put_number(json, "waits_for_tid", thread->waits_for);
	if (thread->in_cycle)
		bytes_string(&json->bytes, ",\"deadlock\":true");
	if (*thread->no_stack)
		put_string(json, "no_stack", thread->no_stack);
	bytes_char(&json->bytes, '}');
}

static void put_threads(struct json *json, const struct thread_list *list)
{
	begin_list(json, "threads");
	for (uint32_t i = 0; !json->bytes.failed && i < list->n; i++) {
		begin_item(json, i);
		put_thread(json, &list->threads[i]);
	}
	bytes_char(&json->bytes, ']');
}

static int put_all(struct json *json, const char *base_name)
{
	int r = 0;

	const struct profile *profile = json->profile;
	struct bytes *bytes = &json->bytes;

	bytes_string(bytes, "{\"format\":\"stacktally\",\"version\":" JSON_VERSION ",\n");
	json_key(bytes, "measurement");
	json_measurement(bytes, profile);
	begin_list(json, "objects");
	for (uint32_t i = 0; i < profile->n_objects; i++) {
		begin_item(json, i);
		put_object(json, &profile->objects[i]);
	}
	bytes_char(bytes, ']');
	begin_list(json, "frames");
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		begin_item(json, i);
		put_frame(json, &profile->frames[i]);
	}
	bytes_char(bytes, ']');
	begin_list(json, "stacks");
	for (uint32_t i = 0; !bytes->failed && i < profile->n_entries; i++) {
		profile_prefetch(profile, i);
		begin_item(json, i);
		put_stack(json, &profile->entries[i]);
	}
	bytes_char(bytes, ']');
	if (profile->meta->threads)
		put_threads(json, profile->meta->threads);
	if (profile->base)
		r = put_difference(json, base_name);
	bytes_string(bytes, "}\n");
	return r;
}

static int json_write(const struct report *report, FILE *out, struct error *err)
{
	struct json json = { .profile = report->profile, .view = json_view(report->options) };
	int r;

	bytes_start(&json.bytes, out);
	r = put_all(&json, report->base_name);
	if (r == 0)
		r = bytes_finish(&json.bytes);
	bytes_clear(&json.bytes);
	return report_result(r, err);
}

static const char *const extensions[] = { ".json", NULL };

const struct writer json_writer = {
	.name = "json",
	.description = "everything known, as JSON (docs/json.md)",
	.extensions = extensions,
	.diffs = true,
	.dumps = true,
	.whole = true,
	.view = json_view,
	.write = json_write,
};
