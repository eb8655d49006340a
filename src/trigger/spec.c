// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger/spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "trigger/kinds.h"
#include "trigger/probes.h"

#define MAX_PARTS 4

static void own_spec_clear(struct spec *spec)
{
	spec_clear(spec);
}

/* Past a bracket expression: "[]abc]", "[^]abc]", "[[:alpha:]_]". NULL where it never ends. */
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

/* The end of the part that begins at `at`: the next lone colon (or the first of three), or the end.
 */
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

/* Splits at the colons; an empty second part ("p::func") is told from the "::" of a name. */
static uint32_t split(const char *text, bool regexp, struct part *parts)
{
	uint32_t n = 0;

	if (text[0] && text[1] == ':' && text[2] == ':' && strchr("ptu", text[0])) {
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

static bool part_is(const struct part *part, const char *text)
{
	return part->size == strlen(text) && memcmp(part->text, text, part->size) == 0;
}

static int part_copy(const struct part *part, char **ret_text, struct error *err)
{
	char *text = strndup(part->text, part->size);

	if (!text)
		return error_set(err, -ENOMEM, "out of memory");
	*ret_text = text;
	return 0;
}

static int too_many(const char *text, struct error *err)
{
	return error_set(err, -EINVAL, "Too many ':'-separated components in pattern %.500s", text);
}

/* Which part is what: each is NULL where there is none. */
struct roles {
	const struct part *library, *provider, *name;
};

static int assign_roles(const char *text, const struct part *parts, uint32_t n,
			enum spec_kind *ret_kind, struct roles *roles, struct error *err)
{
	const struct part *type = &parts[0];

	if (n > MAX_PARTS || (n == MAX_PARTS && !part_is(type, "u")))
		return too_many(text, err);
	roles->name = &parts[n - 1];
	if (n == 1) {
		const char *colons = strstr(text, "::");

		/* A kernel function is no C++: bcc's own words for it, "A" being the type. */
		if (colons && !memchr(text, '[', (size_t)(colons - text)))
			return error_set(err, -EINVAL,
					 "Type must be 'p', 't', or 'u', but got %.*s",
					 (int)(colons - text), text);
		*ret_kind = SPEC_KERNEL;
	} else if (n == 2) {
		*ret_kind = SPEC_USER;
		roles->library = &parts[0];
	} else if (part_is(type, "p")) {
		*ret_kind = parts[1].size > 0 ? SPEC_USER : SPEC_KERNEL;
		roles->library = parts[1].size > 0 ? &parts[1] : NULL;
	} else if (part_is(type, "t")) {
		*ret_kind = SPEC_TRACEPOINT;
		roles->provider = parts[1].size > 0 ? &parts[1] : NULL;
	} else if (part_is(type, "u")) {
		*ret_kind = SPEC_USDT;
		roles->library = &parts[1];
		roles->provider = n == MAX_PARTS && parts[2].size > 0 ? &parts[2] : NULL;
	} else {
		return error_set(err, -EINVAL, "Type must be 'p', 't', or 'u', but got %.*s",
				 (int)(type->size < 500 ? type->size : 500), type->text);
	}
	return 0;
}

int spec_parse(const char *text, bool regexp, struct spec *ret_spec, struct error *err)
{
	own(own_spec_clear) struct spec spec = { .regexp = regexp };
	struct part parts[MAX_PARTS];
	struct roles roles = { 0 };
	int rc;

	rc = assign_roles(text, parts, split(text, regexp, parts), &spec.kind, &roles, err);
	if (rc < 0)
		return rc;
	rc = part_copy(roles.name, &spec.name, err);
	if (rc == 0 && roles.library)
		rc = part_copy(roles.library, &spec.library, err);
	if (rc == 0 && roles.provider)
		rc = part_copy(roles.provider, &spec.provider, err);
	if (rc < 0)
		return rc;
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
	*spec = (struct spec){ 0 };
}

int spec_trigger_new(const char *text, bool regexp, pid_t pid, struct trigger **ret_trigger,
		     struct error *err)
{
	own(own_spec_clear) struct spec spec = { 0 };
	struct probes *probes = NULL;
	int rc;

	rc = spec_parse(text, regexp, &spec, err);
	if (rc < 0)
		return rc;
	switch (spec.kind) {
	case SPEC_KERNEL:
		rc = kprobe_trigger_new(&spec, KPROBE_BEST, &probes, err);
		break;
	case SPEC_USER:
		rc = uprobe_trigger_new(&spec, pid, &probes, err);
		break;
	case SPEC_TRACEPOINT:
		rc = tracepoint_trigger_new(&spec, &probes, err);
		break;
	case SPEC_USDT:
		rc = usdt_trigger_new(&spec, pid, &probes, err);
		break;
	}
	if (rc < 0)
		return rc;
	snprintf(probes->trigger.event, sizeof(probes->trigger.event), "%s", text);
	*ret_trigger = &probes->trigger;
	return 0;
}
