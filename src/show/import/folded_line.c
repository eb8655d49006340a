// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/folded_line.h"

#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void folded_lines_start(struct folded_lines *lines, const char *text, size_t size)
{
	size_t mark = strlen(BYTE_ORDER_MARK);

	if (size >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0) {
		text += mark;
		size -= mark;
	}
	*lines = (struct folded_lines){ .rest = { text, size } };
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* `#<Class:0x1>` is a name of Ruby's. */
static bool is_comment(const struct folded_piece *line)
{
	return line->start[0] == '#' && (line->size == 1 || strchr(" \t#!", line->start[1]));
}

bool folded_next_line(struct folded_lines *lines, struct folded_piece *ret_line)
{
	struct folded_piece *rest = &lines->rest;

	while (rest->size > 0) {
		const char *stop = memchr(rest->start, '\n', rest->size);
		struct folded_piece line = { rest->start,
					     stop ? (size_t)(stop - rest->start) : rest->size };

		rest->start += line.size + (stop ? 1 : 0);
		rest->size -= line.size + (stop ? 1 : 0);
		lines->number++;
		while (line.size > 0 && is_blank(line.start[line.size - 1]))
			line.size--;
		if (line.size == 0 || is_comment(&line))
			continue;
		*ret_line = line;
		return true;
	}
	return false;
}

/* Java's names contain a semicolon: `Lpackage/Class;::method`. */
static const char *end_of_piece(const struct folded_piece *rest)
{
	const char *at = rest->start, *stop = rest->start + rest->size;

	while ((at = memchr(at, ';', (size_t)(stop - at))) && stop - at > 2 && at[1] == ':' &&
	       at[2] == ':' && at > rest->start)
		at++;
	return at;
}

bool folded_next_piece(struct folded_piece *rest, struct folded_piece *ret_piece)
{
	const char *end;

	if (!rest->start)
		return false;
	end = end_of_piece(rest);
	*ret_piece = (struct folded_piece){ rest->start,
					    end ? (size_t)(end - rest->start) : rest->size };
	if (end) {
		rest->size -= ret_piece->size + 1;
		rest->start = end + 1;
	} else {
		rest->start = NULL;
	}
	return true;
}

bool folded_is(const struct folded_piece *piece, const char *text)
{
	return piece->size == strlen(text) && memcmp(piece->start, text, piece->size) == 0;
}

bool folded_begins(const struct folded_piece *piece, const char *text)
{
	return piece->size >= strlen(text) && memcmp(piece->start, text, strlen(text)) == 0;
}

bool folded_is_delimiter(const struct folded_piece *piece)
{
	return folded_is(piece, "-") || folded_is(piece, "--");
}

/* ---- numbers ---- */

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Digits, which are removed. False: too many for 64 bits. */
static bool take_digits(struct folded_piece *text, uint64_t *value, size_t *ret_n)
{
	bool fits = true;

	for (*ret_n = 0; text->size > 0 && is_digit(*text->start); (*ret_n)++) {
		fits = fits && !__builtin_mul_overflow(*value, 10, value) &&
		       !__builtin_add_overflow(*value, *text->start - '0', value);
		text->start++;
		text->size--;
	}
	return fits;
}

static bool take_byte(struct folded_piece *text, const char *one_of)
{
	if (text->size == 0 || !*text->start || !strchr(one_of, *text->start))
		return false;
	text->start++;
	text->size--;
	return true;
}

/* The digits behind the point without the zeros at their end. */
static struct folded_piece take_fraction(struct folded_piece *text)
{
	struct folded_piece digits = { text->start, 0 };

	while (text->size > 0 && is_digit(*text->start)) {
		text->start++;
		text->size--;
		digits.size++;
	}
	while (digits.size > 0 && digits.start[digits.size - 1] == '0')
		digits.size--;
	return digits;
}

#define EXPONENT_MAX 1000 /* far beyond any number that fits */

/* `e3`, `E-2`. False: malformed. */
static bool take_exponent(struct folded_piece *text, int64_t *ret_exponent)
{
	uint64_t exponent = 0;
	bool minus;
	size_t n;

	*ret_exponent = 0;
	if (!take_byte(text, "eE"))
		return true;
	minus = text->size > 0 && *text->start == '-';
	take_byte(text, "+-");
	if (!take_digits(text, &exponent, &n) || exponent > EXPONENT_MAX)
		exponent = EXPONENT_MAX;
	*ret_exponent = minus ? -(int64_t)exponent : (int64_t)exponent;
	return n > 0;
}

/* value * 10^exponent */
static enum folded_number shifted(uint64_t value, int64_t exponent, uint64_t *ret_count)
{
	if (value == 0)
		exponent = 0;
	for (; exponent < 0; exponent++) {
		if (value % 10 != 0)
			return FOLDED_FRACTION;
		value /= 10;
	}
	for (; exponent > 0; exponent--)
		if (__builtin_mul_overflow(value, 10, &value))
			return FOLDED_LARGE;
	if (value > INT64_MAX)
		return FOLDED_LARGE;
	*ret_count = value;
	return FOLDED_WHOLE;
}

static enum folded_number number_of(struct folded_piece word, uint64_t *ret_count)
{
	bool minus = word.size > 1 && *word.start == '-', fits;
	struct folded_piece fraction = { 0 };
	size_t n = 0, n_fraction = 0;
	int64_t exponent;
	uint64_t value = 0;

	if (word.size > 1)
		take_byte(&word, "+-");
	fits = take_digits(&word, &value, &n);
	if (n > 0 && take_byte(&word, "."))
		fraction = take_fraction(&word);
	if (n == 0 || !take_exponent(&word, &exponent) || word.size > 0)
		return FOLDED_NONE;
	if (!take_digits(&fraction, &value, &n_fraction))
		fits = false;
	if (minus && value > 0)
		return FOLDED_NEGATIVE;
	return fits ? shifted(value, exponent - (int64_t)n_fraction, ret_count) : FOLDED_LARGE;
}

enum folded_number folded_take_number(struct folded_piece *line, struct folded_piece *ret_word,
				      uint64_t *ret_count)
{
	struct folded_piece word = { line->start, line->size };
	enum folded_number kind;
	size_t before = line->size;

	while (before > 0 && !is_blank(line->start[before - 1]))
		before--;
	word.start += before;
	word.size -= before;
	*ret_word = word;
	if (before == 0 || word.size == 0)
		return FOLDED_NONE;
	kind = number_of(word, ret_count);
	if (kind != FOLDED_NONE)
		line->size = before - 1;
	return kind;
}

/* ---- what programs add to names ---- */

char folded_take_annotation(struct folded_piece *piece)
{
	const char *end = piece->start + piece->size;
	char letter;

	if (piece->size <= 4 || end[-1] != ']' || end[-3] != '[' || end[-4] != '_')
		return 0;
	letter = end[-2];
	if (!strchr("kij01", letter) || !letter)
		return 0;
	piece->size -= 4;
	return letter;
}

/* The id behind the last `before`, which is removed with it. */
static bool take_id(struct folded_piece *text, char before, uint32_t *ret_id)
{
	const char *at = memrchr(text->start, before, text->size);
	struct folded_piece digits;
	uint64_t id = 0;
	size_t n;

	if (!at)
		return false;
	digits = (struct folded_piece){ at + 1, text->size - (size_t)(at + 1 - text->start) };
	if (!folded_is(&digits, "?") &&
	    (!take_digits(&digits, &id, &n) || n == 0 || digits.size > 0 || id > INT32_MAX))
		return false;
	text->size = (size_t)(at - text->start);
	*ret_id = (uint32_t)id;
	return true;
}

bool folded_take_ids(struct folded_piece *comm, struct folded_ids *ret_ids)
{
	struct folded_piece rest = *comm;
	struct folded_ids ids = { 0 };

	ids.has_tid = take_id(&rest, '/', &ids.tid);
	if (!take_id(&rest, '-', &ids.pid))
		return false;
	*comm = rest;
	*ret_ids = ids;
	return true;
}
