// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * push/ without a measurement: client URL [auth=FILE] [ca=FILE] [spool=DIR] [bytes=N] [body=FILE]
 * Each line of stdin is an interval: START_NS SIZE, of SIZE bytes that tell it from others, or of
 * FILE's; or `sleep MS`. Messages go to stderr.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "push/push.h"

static void say(const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static const char *value_of(int argc, char **argv, const char *name)
{
	size_t size = strlen(name);

	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], name, size) == 0 && argv[i][size] == '=')
			return argv[i] + size + 1;
	return NULL;
}

static void add_file(struct push *push, uint64_t start, const char *path)
{
	own(own_file) FILE *in = fopen(path, "re");
	char *body = malloc(1 << 24);

	if (!in || !body)
		abort();
	push_add(push, start, body, fread(body, 1, 1 << 24, in));
	free(body);
}

static void add(struct push *push, uint64_t start, size_t size)
{
	char *body = malloc(size + 1);
	uint64_t state = start * 2 + 1;

	if (!body)
		abort();
	for (size_t i = 0; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		body[i] = (char)(state >> 56);
	}
	push_add(push, start, body, size);
	free(body);
}

int main(int argc, char **argv)
{
	struct push_options options = { .warn = say, .note = say };
	const char *bytes = value_of(argc, argv, "bytes"), *body = value_of(argc, argv, "body");
	struct error err = { 0 };
	struct push *push;
	char line[100];

	options.auth = value_of(argc, argv, "auth");
	options.ca = value_of(argc, argv, "ca");
	options.spool = value_of(argc, argv, "spool");
	options.spool_bytes = bytes ? strtoull(bytes, NULL, 10) : 64 << 20;
	if (argc < 2 || target_parse(argv[1], &options.target, &err) < 0 ||
	    push_open(&options, &push, &err) < 0) {
		say(err.text);
		return 1;
	}
	if (push_start(push, &err) < 0) {
		say(err.text);
		push_close(push);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long start;
		size_t size;
		long ms;

		if (sscanf(line, "sleep %ld", &ms) == 1)
			nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
		else if (sscanf(line, "%llu %zu", &start, &size) == 2 && body)
			add_file(push, start, body);
		else if (sscanf(line, "%llu %zu", &start, &size) == 2)
			add(push, start, size);
	}
	push_close(push);
	return 0;
}
