// SPDX-License-Identifier: GPL-2.0-or-later
#include "known.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char object[64], function[64], kind[32], why[256];
	unsigned long hits;
};

struct known {
	struct line *lines;
	size_t n;
	struct line *others; /* mismatches that no line explains; `why` is empty */
	size_t n_others;
};

struct known *known_read(const char *path)
{
	struct known *known = calloc(1, sizeof(*known));
	FILE *file = path ? fopen(path, "re") : NULL;
	char text[512];
	struct line line;

	if (!known || (path && !file)) {
		fprintf(stderr, "known mismatches: cannot read %s\n", path ? path : "");
		exit(2);
	}
	while (file && fgets(text, sizeof(text), file)) {
		memset(&line, 0, sizeof(line));
		if (text[0] == '#' || text[0] == '\n')
			continue;
		if (sscanf(text, "%63s %63s %31s %255[^\n]", line.object, line.function, line.kind,
			   line.why) != 4) {
			fprintf(stderr, "%s: not a line of four fields: %s", path, text);
			exit(2);
		}
		known->lines = realloc(known->lines, (known->n + 1) * sizeof(line));
		if (!known->lines)
			abort();
		known->lines[known->n++] = line;
	}
	if (file)
		fclose(file);
	return known;
}

void known_free(struct known *known)
{
	if (known) {
		free(known->lines);
		free(known->others);
	}
	free(known);
}

static void count_other(struct known *known, const char *object, const char *function,
			const char *kind)
{
	struct line *line = known->others, *end = line + known->n_others;

	while (line < end && (strcmp(line->function, function) || strcmp(line->object, object) ||
			      strcmp(line->kind, kind)))
		line++;
	if (line == end) {
		known->others = realloc(known->others, (known->n_others + 1) * sizeof(*line));
		if (!known->others)
			abort();
		line = &known->others[known->n_others++];
		memset(line, 0, sizeof(*line));
		snprintf(line->object, sizeof(line->object), "%.63s", object);
		snprintf(line->function, sizeof(line->function), "%.63s", function);
		snprintf(line->kind, sizeof(line->kind), "%.31s", kind);
	}
	line->hits++;
}

bool known_match(struct known *known, const char *name, const char *kind)
{
	char function[256] = "", object[256] = "";

	sscanf(name, "%255[^+ ]%*[^(](%255[^)])", function, object);
	for (size_t i = 0; i < known->n; i++) {
		struct line *line = &known->lines[i];

		if (!strcmp(line->kind, kind) && !fnmatch(line->function, function, 0) &&
		    !fnmatch(line->object, object, 0)) {
			line->hits++;
			return true;
		}
	}
	count_other(known, object, function, kind);
	return false;
}

void known_print(const struct known *known, FILE *out)
{
	for (size_t i = 0; i < known->n; i++) {
		const struct line *line = &known->lines[i];

		if (line->hits)
			fprintf(out, "known: %lu %s %s %s: %s\n", line->hits, line->object,
				line->function, line->kind, line->why);
	}
	for (size_t i = 0; i < known->n_others; i++) {
		const struct line *line = &known->others[i];

		fprintf(out, "unexplained: %lu %s %s %s\n", line->hits, line->object,
			line->function, line->kind);
	}
}
