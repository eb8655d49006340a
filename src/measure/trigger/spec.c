// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "files/process_view.h"
#include "trigger/kinds.h"
#include "trigger/listing.h"
#include "trigger/probes.h"

#define MAX_PARTS 4

/* A pattern without a type is a probe on a function. */
#define DEFAULT_TYPE 'p'

#define KIND_ADDRESS(name) &name##_kind,
static const struct trigger_kind *const KINDS[] = { TRIGGER_KINDS(KIND_ADDRESS) };
#define N_KINDS (sizeof(KINDS) / sizeof(KINDS[0]))

static void own_spec_clear(struct spec *spec)
{
	spec_clear(spec);
}

/* The end of a bracket expression: "[]abc]", "[^]abc]", "[[:alpha:]_]". NULL where it has none. */
static const char *bracket_end(const char *at)
{
	at++;
	if (*at == '^')
		at++;
	if (*at == ']')
		at++;
	while (*at && *at != ']') {
		if (*at == '[' && (at[1] == ':' || at[1] == '.' || at[1] == '=')) {
			const char end[] = { at[1], ']', '\0' };

			at = strstr(at + 2, end);
			if (!at)
				return NULL;
			at += 2;
		} else {
			at++;
		}
	}
	return *at ? at + 1 : NULL;
}

/* The end of the part at `at`: the next colon, unless it is one of exactly two. */
static const char *part_end(const char *at, bool regexp)
{
	while (*at) {
		if (regexp && *at == '\\' && at[1]) {
			at += 2;
		} else if (regexp && *at == '[') {
			const char *end = bracket_end(at);

			at = end ? end : at + 1;
		} else if (*at == ':') {
			size_t colons = strspn(at, ":");

			if (colons != 2)
				return at;
			at += 2;
		} else {
			at++;
		}
	}
	return at;
}

struct part {
	const char *text;
	size_t size;
};

static bool is_type(char type)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (KINDS[i]->type == type)
			return true;
	return false;
}

/* Splits at the colons, but not at the "::" in C++ names; "p::func" has an empty second part. */
static uint32_t split(const char *text, bool regexp, struct part *parts)
{
	uint32_t n = 0;

	if (text[0] && text[1] == ':' && text[2] == ':' && is_type(text[0])) {
		parts[n++] = (struct part){ text, 1 };
		parts[n++] = (struct part){ text + 2, 0 };
		text += 3;
	}
	for (;;) {
		const char *end = part_end(text, regexp);

		if (n == MAX_PARTS)
			return MAX_PARTS + 1;
		parts[n++] = (struct part){ text, (size_t)(end - text) };
		if (!*end)
			return n;
		text = end + 1;
	}
}

static int part_copy(const struct part *part, char **ret_text, struct error *err)
{
	char *text = strndup(part->text, part->size);

	if (!text)
		return error_set(err, -ENOMEM, "out of memory");
	*ret_text = text;
	return 0;
}

/* "Type must be 'p', 't', or 'u', but got TYPE", as bcc has it. */
static int wrong_type(const char *type, size_t size, struct error *err)
{
	char types[100] = "", seen[N_KINDS + 1] = "";
	size_t n = 0, used = 0;

	for (size_t i = 0; i < N_KINDS; i++)
		if (!strchr(seen, KINDS[i]->type))
			seen[n++] = KINDS[i]->type;
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(types + used, sizeof(types) - used, "%s'%c', ",
					 i + 1 == n ? "or " : "", seen[i]);
	return error_set(err, -EINVAL, "Type must be %sbut got %.*s", types,
			 (int)(size < 500 ? size : 500), type);
}

/* The kind with this type; among several, the one whose second part is there or left out. */
static const struct trigger_kind *find_kind(char type, bool has_second)
{
	const struct trigger_kind *kind = NULL;

	for (size_t i = 0; i < N_KINDS; i++) {
		if (KINDS[i]->type != type)
			continue;
		kind = KINDS[i];
		if ((kind->takes_library || kind->takes_provider) == has_second)
			return kind;
	}
	return kind;
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/*
 * "bin:file.c:123" and "p:bin:file.c:123": the file and the line are one part. With a type and
 * three parts it is a function of bcc's, which has no such name.
 */
static uint32_t join_line(struct part *parts, uint32_t n)
{
	bool typed = parts[0].size == 1 && is_type(parts[0].text[0]);

	if (n < 3 || n > MAX_PARTS || n != 3u + typed || !is_number(parts[n - 1].text) ||
	    (typed && parts[0].text[0] != DEFAULT_TYPE) || !parts[n - 2].size)
		return n;
	parts[n - 2].size += 1 + parts[n - 1].size;
	return n - 1;
}

/* The parts of a pattern by their meaning; NULL for those that it lacks. */
struct roles {
	const struct trigger_kind *kind;
	const struct part *library, *provider, *name;
};

static int assign_roles(const char *text, const struct part *parts, uint32_t n, struct roles *roles,
			struct error *err)
{
	char type = n > 2 && parts[0].size == 1 ? parts[0].text[0] : '\0';
	const struct part *second = n == 2 ? &parts[0] : n > 2 ? &parts[1] : NULL;
	const struct part *third = n == MAX_PARTS ? &parts[2] : NULL;
	const char *colons = strstr(text, "::");

	if (n <= 2)
		type = DEFAULT_TYPE;
	/* Kernel functions have no "::", so this is a type that bcc would refuse, too. */
	if (n == 1 && colons && !memchr(text, '[', (size_t)(colons - text)))
		return wrong_type(text, (size_t)(colons - text), err);
	if (n <= MAX_PARTS)
		roles->kind = find_kind(type, n == 2 || (second && second->size > 0));
	if (n > MAX_PARTS ||
	    (third && !(roles->kind && roles->kind->takes_library && roles->kind->takes_provider)))
		return error_set(err, -EINVAL,
				 "Too many ':'-separated components in pattern %.500s", text);
	if (!roles->kind)
		return wrong_type(parts[0].text, parts[0].size, err);
	roles->name = &parts[n - 1];
	if (roles->kind->takes_library)
		roles->library = second;
	else if (roles->kind->takes_provider)
		third = second;
	if (third && third->size > 0)
		roles->provider = third;
	return 0;
}

/* A number behind `at`, which begins with a digit, to its end. */
static bool take_number(const char *at, uint64_t *ret_number)
{
	char *end;

	if (*at < '0' || *at > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(at, &end, 0);
	return !errno && !*end;
}

/* "FUNCTION+0x10", and "file.c:123", which split_line() has left in one part. */
static int parse_point(const char *text, struct spec *spec, struct error *err)
{
	char *plus = strrchr(spec->name, '+'), *colon = strrchr(spec->name, ':');
	uint64_t number;

	if (plus && plus > spec->name && take_number(plus + 1, &number)) {
		*plus = '\0';
		spec->point.has_offset = true;
		spec->point.offset = number;
		return 0;
	}
	if (!colon || colon == spec->name || colon[-1] == ':' || !is_number(colon + 1))
		return 0;
	number = strtoul(colon + 1, NULL, 10);
	if (number == 0 || number > INT32_MAX)
		return error_set(err, -EINVAL, "%.300s: there is no line %.20s", text, colon + 1);
	spec->file = strndup(spec->name, (size_t)(colon - spec->name));
	if (!spec->file)
		return error_set(err, -ENOMEM, "out of memory");
	spec->point.file = spec->file;
	spec->point.line = (uint32_t)number;
	return 0;
}

int spec_parse(const char *text, bool regexp, struct spec *ret_spec, struct error *err)
{
	own(own_spec_clear) struct spec spec = { .regexp = regexp };
	struct part parts[MAX_PARTS];
	struct roles roles = { 0 };
	uint32_t n;
	int r;

	n = split(text, regexp, parts);
	if (!regexp)
		n = join_line(parts, n);
	r = assign_roles(text, parts, n, &roles, err);
	if (r < 0)
		return r;
	spec.kind = roles.kind;
	r = part_copy(roles.name, &spec.name, err);
	if (r == 0 && spec.kind->takes_source && !regexp)
		r = parse_point(text, &spec, err);
	if (r == 0 && roles.library)
		r = part_copy(roles.library, &spec.library, err);
	if (r == 0 && roles.provider)
		r = part_copy(roles.provider, &spec.provider, err);
	if (r < 0)
		return r;
	*ret_spec = spec;
	spec = (struct spec){ 0 };
	return 0;
}

void spec_clear(struct spec *spec)
{
	if (!spec)
		return;
	free(spec->library);
	free(spec->provider);
	free(spec->name);
	free(spec->file);
	*spec = (struct spec){ 0 };
}

/* "t:sched_switch", where no library has that name. */
static bool is_type_alone(const struct spec *spec)
{
	return spec->library && spec->library[0] && !spec->library[1] && is_type(spec->library[0]);
}

static int explain_form(const char *text, const struct spec *spec, struct error *err)
{
	const struct trigger_kind *kind = find_kind(spec->library[0], true);
	char pattern[400] = "";
	bool complete = kind->complete && kind->complete(spec, pattern, sizeof(pattern));

	return error_set(err, -ENOENT, "%.300s: %s%s%s%s", text, kind->form,
			 complete ? "; did you mean " : "", pattern, complete ? "?" : "");
}

/* "sched:sched_switch", as other programs name tracepoints, where no library has that name. */
static void suggest_tracepoint(const struct spec *spec, struct error *err)
{
	const struct trigger_kind *kind = find_kind('t', true);
	const struct spec as_tracepoint = {
		.kind = kind, .provider = spec->library, .name = spec->name, .regexp = spec->regexp
	};
	struct probes *probes = NULL;
	char said[sizeof(err->text)];

	if (kind->make(&as_tracepoint, 0, &probes, NULL) < 0)
		return;
	trigger_free(&probes->trigger);
	snprintf(said, sizeof(said), "%s", err->text);
	error_set(err, -ENOENT, "%.300s; did you mean t:%.100s:%.100s?", said, spec->library,
		  spec->name);
}

static int make_trigger(const char *text, struct spec *spec, pid_t pid,
			struct trigger **ret_trigger, struct error *err)
{
	struct probes *probes = NULL;
	int r = process_check_id(pid, err);

	if (r < 0)
		return r;
	if (spec->calls && (!spec->kind->returns || code_point_is_inside(&spec->point)))
		return error_set(err, -EINVAL, "%.300s is no function, and does not return", text);
	if (spec->point.inlined && !spec->kind->takes_source)
		return error_set(err, -EINVAL,
				 "--inlined: %.300s is no function of a library or program", text);
	r = spec->kind->make(spec, pid, &probes, err);
	if (r == -ENOENT && is_type_alone(spec) && find_kind(spec->library[0], true)->form)
		return explain_form(text, spec, err);
	if (r == -ENOENT && spec->library && spec->name && !spec->regexp && !spec->provider &&
	    !strchr(spec->library, '/'))
		suggest_tracepoint(spec, err);
	if (r < 0)
		return r;
	snprintf(probes->trigger.event, sizeof(probes->trigger.event), "%s", text);
	*ret_trigger = &probes->trigger;
	return 0;
}

static int make(const struct spec_request *request, bool details, struct trigger **ret_trigger,
		struct error *err)
{
	own(own_spec_clear) struct spec spec = { 0 };
	int r = spec_parse(request->text, request->regexp, &spec, err);

	spec.point.inlined = request->inlined;
	spec.calls = request->calls;
	spec.force = request->force;
	spec.details = details;
	return r < 0 ? r : make_trigger(request->text, &spec, request->pid, ret_trigger, err);
}

int spec_trigger_new(const struct spec_request *request, struct trigger **ret_trigger,
		     struct error *err)
{
	return make(request, false, ret_trigger, err);
}

int spec_list(const struct spec_request *request, const struct listing *listing, struct error *err)
{
	struct trigger *trigger = NULL;
	const char *note;
	int r = make(request, true, &trigger, err);

	if (r < 0)
		return r;
	r = trigger->ops->list(trigger, listing, err);
	if (r == 0 && spec_trigger_left_out(trigger, &note))
		listing->note(listing->to, note);
	for (uint32_t i = 0; r == 0 && (note = spec_trigger_note(trigger, i)); i++)
		listing->note(listing->to, note);
	trigger_free(trigger);
	return r;
}

void spec_trigger_on_progress(struct trigger *trigger, spec_progress_fn progress, void *context)
{
	struct probes *probes = (struct probes *)trigger;

	probes->progress = progress;
	probes->progress_context = context;
}

uint32_t spec_trigger_left_out(const struct trigger *trigger, const char **ret_text)
{
	const struct probes *probes = (const struct probes *)trigger;

	*ret_text = probes->left_out;
	return probes->n_left_out;
}

const char *spec_trigger_note(const struct trigger *trigger, uint32_t i)
{
	const struct probes *probes = (const struct probes *)trigger;

	return i < probes->n_notes ? probes->notes[i] : NULL;
}
