// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_reader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static char look(struct json_reader *json)
{
	while (json->at < json->end && is_blank(*json->at))
		json->at++;
	return json->at < json->end && !json->failed ? *json->at : '\0';
}

static bool take(struct json_reader *json, char wanted)
{
	if (look(json) != wanted)
		return false;
	json->at++;
	return true;
}

static void fail(struct json_reader *json)
{
	json->failed = true;
	json->at = json->end;
}

static void require(struct json_reader *json, char wanted)
{
	if (!take(json, wanted))
		fail(json);
}

bool json_enter(struct json_reader *json, char bracket)
{
	return take(json, bracket);
}

/* ---- strings ---- */

struct text {
	char *at;
	size_t used, size;
};

/* All of a character or nothing, with room for the NUL. */
static void put(struct text *text, const char *bytes, size_t n)
{
	if (text->used + n < text->size) {
		memcpy(text->at + text->used, bytes, n);
		text->used += n;
	} else {
		text->size = text->used; /* what is behind it does not go where it fits */
	}
}

static void put_character(struct text *text, uint32_t code)
{
	char bytes[4];
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(code | (n == 1 ? 0 : 0xf00u >> n));
	put(text, bytes, n);
}

static uint32_t read_hex(struct json_reader *json)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit =
			json->at < json->end && *json->at ? strchr(digits, *json->at | 0x20) : NULL;

		if (!digit) {
			fail(json);
			return 0;
		}
		code = code << 4 | (uint32_t)(digit - digits);
		json->at++;
	}
	return code;
}

static void read_code(struct json_reader *json, struct text *text)
{
	uint32_t code = read_hex(json), low;

	if (code >= 0xd800 && code < 0xdc00 && json->end - json->at >= 6 && json->at[0] == '\\' &&
	    json->at[1] == 'u') {
		json->at += 2;
		low = read_hex(json);
		code = low >= 0xdc00 && low < 0xe000
			       ? 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00))
			       : 0xfffd;
	} else if (code >= 0xd800 && code < 0xe000) {
		code = 0xfffd;
	}
	put_character(text, code ? code : 0xfffd);
}

static void read_escape(struct json_reader *json, struct text *text)
{
	static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
	const char *name;
	char byte;

	if (json->at == json->end) {
		fail(json);
		return;
	}
	byte = *json->at++;
	name = byte ? strchr(names, byte) : NULL;
	if (byte == 'u')
		read_code(json, text);
	else
		put(text, name ? &meant[name - names] : &byte, 1);
}

/* Behind the opening quotation mark. */
static void read_string(struct json_reader *json, struct text *text)
{
	while (json->at < json->end && *json->at != '"') {
		if (*json->at++ == '\\')
			read_escape(json, text);
		else
			put(text, json->at - 1, 1);
	}
	require(json, '"');
	text->at[text->used] = '\0';
}

static void skip_string(struct json_reader *json)
{
	while (json->at < json->end && *json->at != '"')
		json->at += *json->at == '\\' && json->end - json->at > 1 ? 2 : 1;
	require(json, '"');
}

bool json_text(struct json_reader *json, char *ret_text, size_t size)
{
	struct text text = { .at = ret_text, .size = size };

	ret_text[0] = '\0';
	if (!take(json, '"')) {
		json_skip(json);
		return false;
	}
	read_string(json, &text);
	if (json->failed)
		ret_text[0] = '\0';
	return !json->failed;
}

/* ---- objects and lists ---- */

/* Whether another element follows, of those that end with `bracket`. */
static bool goes_on(struct json_reader *json, char bracket)
{
	if (take(json, bracket))
		return false;
	take(json, ',');
	if (look(json) == '\0')
		fail(json);
	return !json->failed;
}

bool json_element(struct json_reader *json)
{
	return goes_on(json, ']');
}

bool json_member(struct json_reader *json, char *ret_key, size_t size)
{
	struct text text = { .at = ret_key, .size = size };

	ret_key[0] = '\0';
	if (!goes_on(json, '}'))
		return false;
	require(json, '"');
	if (!json->failed)
		read_string(json, &text);
	require(json, ':');
	return !json->failed;
}

/* The rest of a number, or of true, false and null. */
static void skip_word(struct json_reader *json)
{
	while (json->at < json->end && *json->at && !strchr(" \t\r\n,:\"[]{}", *json->at))
		json->at++;
}

bool json_number(struct json_reader *json, double *ret_number)
{
	char word[64], first = look(json), *end;
	const char *start = json->at;
	size_t size;

	if (first != '-' && (first < '0' || first > '9')) {
		json_skip(json);
		return false;
	}
	skip_word(json);
	size = (size_t)(json->at - start);
	if (size >= sizeof(word)) /* what is cut is beyond its precision */
		size = sizeof(word) - 1;
	memcpy(word, start, size);
	word[size] = '\0';
	*ret_number = strtod(word, &end);
	if (*end)
		fail(json);
	return !json->failed;
}

/* Counts brackets, of either kind, instead of nesting itself. */
void json_skip(struct json_reader *json)
{
	size_t depth = 0;

	do {
		char byte = look(json);

		if (byte == '\0') {
			fail(json);
			return;
		}
		json->at++;
		if (byte == '"')
			skip_string(json);
		else if (byte == '{' || byte == '[')
			depth++;
		else if ((byte == '}' || byte == ']') && depth > 0)
			depth--;
		else if (byte != ',' && byte != ':')
			skip_word(json);
	} while (depth > 0);
}
