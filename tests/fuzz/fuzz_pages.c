// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flame graphs of hostile names: the picture remains XML with no other elements and attributes than
 * ours, and pages differ in their base64 data only.
 *
 * Input: fields that end with a zero byte; a stack's thread, its module, and its name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "report/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SIZE 16384u

static const char *const elements[] = { "svg",	"title", "desc",   "style", "g",
					"rect", "text",	 "script", NULL };
static const char *const attributes[] = { "xmlns",  "version",	 "width",	"height", "viewBox",
					  "id",	    "class",	 "transform",	"x",	  "y",
					  "data-x", "data-w",	 "text-anchor", "data-n", "rx",
					  "fill",   "data-unit", NULL };

static size_t one_of(const char *const *list, const char *at)
{
	size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");

	for (; *list; list++)
		if (strlen(*list) == size && memcmp(*list, at, size) == 0)
			return size;
	abort();
}

static void check_entity(const char *at)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(at, known[i], strlen(known[i])) == 0)
			return;
	abort();
}

/* Past a start tag or an end tag; `depth` follows. */
static const char *check_tag(const char *at, unsigned int *depth)
{
	bool end = at[1] == '/';

	at += end ? 2 : 1;
	at += one_of(elements, at);
	while (*at == ' ') {
		at += 1 + one_of(attributes, at + 1);
		if (strncmp(at, "=\"", 2) != 0)
			abort();
		for (at += 2; *at != '"'; at++)
			if (!*at || *at == '<' || *at == '&')
				abort();
		at++;
	}
	if (end && (*depth)-- == 0)
		abort();
	if (*at == '/')
		at++;
	else if (!end)
		(*depth)++;
	if (*at != '>')
		abort();
	return at + 1;
}

static void check_svg(const char *at)
{
	static const char xml[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
			  cdata[] = "<![CDATA[";
	unsigned int depth = 0, scripts = 0;

	if (strncmp(at, xml, strlen(xml)) != 0)
		abort();
	for (at += strlen(xml); *at;) {
		if (strncmp(at, cdata, strlen(cdata)) == 0) {
			at = strstr(at, "]]>");
			scripts++;
			if (!at)
				abort();
			at += 3;
		} else if (*at == '<') {
			at = check_tag(at, &depth);
		} else {
			if (*at == '&')
				check_entity(at);
			if (*at == '>' || ((unsigned char)*at < ' ' && *at != '\n'))
				abort();
			at++;
		}
	}
	/* Ours: the style and the script. */
	if (depth != 0 || scripts != 2)
		abort();
}

static const char *data_of(const char *page)
{
	const char *mark = "id=\"data\">", *at = strstr(page, mark);

	if (!at)
		abort();
	return at + strlen(mark);
}

static size_t base64_size(const char *at)
{
	return strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
}

static void check_page(const char *page)
{
	static char *first; /* all pages are the same around the data */
	const char *data = data_of(page), *data_then;

	if (!first) {
		first = strdup(page);
		if (!first)
			abort();
	}
	data_then = data_of(first);
	if (data - page != data_then - first || memcmp(page, first, (size_t)(data - page)) != 0 ||
	    strcmp(data + base64_size(data), data_then + base64_size(data_then)) != 0)
		abort();
}

static void check(const struct tally *tally, const struct names *names, const char *text,
		  const struct writer *writer, void (*is_right)(const char *))
{
	struct report_options options = { .per_process = true };
	struct profile_meta meta = { .command = "profile",
				     .command_line = text,
				     .event = text,
				     .hostname = text,
				     .kernel_release = text };
	const struct report report = { .measurement = { &meta, tally, names, NULL },
				       .options = &options };
	struct error err = { 0 };
	char *page = NULL;
	size_t size;
	FILE *out = open_memstream(&page, &size);

	if (!out || report_write(writer, &report, out, NULL, &err) < 0 || fclose(out) != 0)
		abort();
	if (strlen(page) != size)
		abort();
	is_right(page);
	free(page);
}

/* The next field, "" at the end. */
static const char *field(const char **at, const char *end)
{
	const char *start = *at;

	if (start >= end)
		return "";
	*at += strlen(start) + 1;
	return start;
}

static void add(struct tally *tally, struct names *names, const char **at, const char *end)
{
	struct tally_address address = { .address = names_n_addresses(names), .image = 1 };
	struct tally_entry entry = { .count = 1 + address.address,
				     .tgid = 1,
				     .kernel = TALLY_STACK_NONE };
	struct names_frame frame = { .object = NAMES_NONE };
	uint32_t id;

	strncpy(entry.comm, field(at, end), sizeof(entry.comm) - 1);
	frame.module = names_string(names, field(at, end));
	frame.name = names_string(names, field(at, end));
	if (tally_address(tally, &address, &id) < 0 || names_add_address(names, &frame, 1) < 0 ||
	    tally_stack(tally, &id, 1, 0, &entry.user) < 0 || tally_add(tally, &entry) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[MAX_SIZE + 1];
	const char *at = text, *end = text + size;
	struct tally *tally = NULL;
	struct names *names = NULL;

	if (size > MAX_SIZE)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (tally_new(0, 0, &tally) < 0 || names_new(&names) < 0)
		abort();
	do
		add(tally, names, &at, end);
	while (at < end);
	check(tally, names, text, &svg_writer, check_svg);
	check(tally, names, text, &html_writer, check_page);
	tally_free(tally);
	names_free(names);
	return 0;
}
