// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Something to profile: `write_text` makes text without end, `count_words` reads text and keeps
 * count of its words, `compress` reads text and compresses it with zlib, linked statically:
 * Debian's gzip and shared zlib have no names for their inner functions. Each has a few functions,
 * so that a profile has something to tell; they end when the other end of their pipe does.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define TABLE_SIZE 65536
#define ROUND	   200000 /* words */

struct word {
	char text[16];
	uint32_t n;
};

static struct word table[TABLE_SIZE];

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static size_t make_word(char *text, uint64_t *state)
{
	size_t length = 2 + next_random(state) % 3;

	for (size_t i = 0; i < length; i++)
		text[i] = 'a' + next_random(state) % 26;
	return length;
}

static int write_text(void)
{
	static char page[8192];
	uint64_t state = 1;

	for (;;) {
		size_t size = 0;

		while (size + 16 < sizeof(page)) {
			size += make_word(page + size, &state);
			page[size++] = ' ';
		}
		if (write(STDOUT_FILENO, page, size) < 0)
			return 0;
	}
}

static uint32_t hash_word(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static void count_word(const char *text)
{
	uint32_t at = hash_word(text) % TABLE_SIZE;

	for (int tries = 0; tries < 64; tries++, at = (at + 1) % TABLE_SIZE) {
		if (!table[at].n)
			memcpy(table[at].text, text, sizeof(table[at].text));
		if (!strcmp(table[at].text, text)) {
			table[at].n++;
			return;
		}
	}
}

static int compare_counts(const void *a, const void *b)
{
	uint32_t left = ((const struct word *)a)->n, right = ((const struct word *)b)->n;

	return (left < right) - (left > right);
}

/* The most frequent words; what is left of the table is forgotten. */
static void end_round(void)
{
	qsort(table, TABLE_SIZE, sizeof(*table), compare_counts);
	memset(table, 0, sizeof(table));
}

static int count_words(void)
{
	char text[16] = "";
	size_t length = 0;
	uint64_t words = 0;
	int c;

	while ((c = getchar_unlocked()) != EOF) {
		if (!isspace(c)) {
			if (length + 1 < sizeof(text))
				text[length++] = c;
			continue;
		}
		count_word(text);
		memset(text, 0, sizeof(text));
		length = 0;
		if (++words % ROUND == 0)
			end_round();
	}
	return 0;
}

static int compress_text(void)
{
	static unsigned char text[65536], compressed[65536];
	z_stream stream = { 0 };
	ssize_t size;

	if (deflateInit(&stream, Z_BEST_COMPRESSION) != Z_OK)
		return 1;
	while ((size = read(STDIN_FILENO, text, sizeof(text))) > 0) {
		stream.next_in = text;
		stream.avail_in = (unsigned int)size;
		do {
			stream.next_out = compressed;
			stream.avail_out = sizeof(compressed);
			deflate(&stream, Z_NO_FLUSH);
		} while (!stream.avail_out);
	}
	return deflateEnd(&stream) == Z_STREAM_ERROR;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "write_text"))
		return write_text();
	if (argc == 2 && !strcmp(argv[1], "count_words"))
		return count_words();
	if (argc == 2 && !strcmp(argv[1], "compress"))
		return compress_text();
	fprintf(stderr, "usage: %s write_text|count_words|compress\n", argv[0]);
	return 2;
}
