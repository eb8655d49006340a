// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/value.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_list.h"
#include "base/grow.h"
#include "base/own.h"

/* Below, a timer would round to nothing; above, nanoseconds would not fit 64 bits. */
#define SECONDS_MIN 0.001
#define SECONDS_MAX 1e9

struct integer {
	bool negative;	 /* below zero, not "-0" */
	bool overflowed; /* then magnitude is UINT64_MAX */
	uint64_t magnitude;
};

static __attribute__((format(printf, 2, 3))) int wrong(struct value_error *why, const char *format,
						       ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return -EINVAL;
}

/* What str.strip() takes away. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void strip(const char **begin, const char **end)
{
	while (*begin < *end && is_blank(**begin))
		(*begin)++;
	while (*begin < *end && is_blank((*end)[-1]))
		(*end)--;
}

static bool parse_integer(const char *begin, const char *end, struct integer *ret_integer)
{
	struct integer integer = { 0 };
	bool minus = false;

	strip(&begin, &end);
	if (begin < end && (*begin == '-' || *begin == '+'))
		minus = *begin++ == '-';
	if (begin == end || !is_digit(*begin))
		return false;
	for (; begin < end; begin++) {
		if (*begin == '_' && is_digit(begin[-1]) && begin + 1 < end && is_digit(begin[1]))
			continue;
		if (!is_digit(*begin))
			return false;
		if (integer.overflowed)
			continue;
		if (__builtin_mul_overflow(integer.magnitude, 10, &integer.magnitude) ||
		    __builtin_add_overflow(integer.magnitude, *begin - '0', &integer.magnitude)) {
			integer.overflowed = true;
			integer.magnitude = UINT64_MAX;
		}
	}
	integer.negative = minus && integer.magnitude;
	*ret_integer = integer;
	return true;
}

static int check_max(const struct integer *integer, uint64_t max, struct value_error *why)
{
	if (integer->overflowed || integer->magnitude > max)
		return wrong(why, "must be at most %llu", (unsigned long long)max);
	return 0;
}

static int parse_count(const struct option_row *row, const char *text, uint64_t *ret_count,
		       struct value_error *why)
{
	struct integer integer;
	int r;

	if (!parse_integer(text, text + strlen(text), &integer))
		return wrong(why, "must be an integer");
	if (integer.negative)
		return wrong(why, "must be positive");
	if (row->kind == OPTION_POSITIVE && !integer.magnitude)
		return wrong(why, "must be nonzero");
	r = check_max(&integer, row->max ? row->max : UINT64_MAX, why);
	if (!r)
		*ret_count = integer.magnitude;
	return r;
}

static int not_an_int(const char *text, struct value_error *why)
{
	char repr[300];

	value_repr(text, repr, sizeof(repr));
	return wrong(why, "invalid int value: %s", repr);
}

static int parse_int(const struct option_row *row, const char *text, int64_t *ret_int,
		     struct value_error *why)
{
	struct integer integer;
	int r;

	if (!parse_integer(text, text + strlen(text), &integer))
		return not_an_int(text, why);
	if (integer.negative) {
		if (integer.magnitude > INT64_MAX)
			return wrong(why, "must be at least -%lld", (long long)INT64_MAX);
		*ret_int = -(int64_t)integer.magnitude;
		return 0;
	}
	r = check_max(&integer, row->max ? row->max : INT64_MAX, why);
	if (!r)
		*ret_int = (int64_t)integer.magnitude;
	return r;
}

/* Decimal digits with at most one point, whatever the locale says a point is. */
static bool parse_decimal(const char *begin, const char *end, double *ret_decimal)
{
	double decimal = 0, unit = 1;
	bool digits = false, point = false, minus = false;

	strip(&begin, &end);
	if (begin < end && (*begin == '-' || *begin == '+'))
		minus = *begin++ == '-';
	for (; begin < end; begin++) {
		if (*begin == '.' && !point) {
			point = true;
		} else if (is_digit(*begin)) {
			digits = true;
			if (point)
				decimal += (unit /= 10) * (*begin - '0');
			else
				decimal = decimal * 10 + (*begin - '0');
		} else {
			return false;
		}
	}
	if (!digits)
		return false;
	*ret_decimal = minus ? -decimal : decimal;
	return true;
}

/* "5", "5s", "1.5m", "2h". */
static int parse_seconds(const char *text, double *ret_seconds, struct value_error *why)
{
	const char *end = text + strlen(text);
	double seconds, unit = 1;

	if (end > text && strchr("smh", end[-1])) {
		end--;
		unit = *end == 's' ? 1 : *end == 'm' ? 60 : 3600;
	}
	if (!parse_decimal(text, end, &seconds))
		return wrong(why, "must be a number of seconds");
	seconds *= unit;
	if (seconds < 0)
		return wrong(why, "must be positive");
	if (seconds == 0) /* NOLINT: only what was written as zero */
		return wrong(why, "must be nonzero");
	if (seconds < SECONDS_MIN)
		return wrong(why, "must be at least %g", SECONDS_MIN);
	if (seconds > SECONDS_MAX)
		return wrong(why, "must be at most %.0f", SECONDS_MAX);
	*ret_seconds = seconds;
	return 0;
}

static int parse_ids(const struct option_row *row, const char *text, struct id_list *list,
		     struct value_error *why)
{
	own(own_free) pid_t *ids = NULL;
	uint32_t n = 0, n_commas = 0;
	pid_t *all;
	int r;

	for (const char *at = text; *at; at++)
		n_commas += *at == ',';
	ids = calloc((size_t)n_commas + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;

	for (const char *at = text, *end;; at = end + 1) {
		struct integer integer;

		end = strchrnul(at, ',');
		if (!parse_integer(at, end, &integer))
			return row->kind == OPTION_IDS_INT ? not_an_int(text, why)
							   : wrong(why, "must be an integer");
		if (integer.negative)
			return wrong(why, "must be positive");
		r = check_max(&integer, INT_MAX, why);
		if (r)
			return r;
		ids[n++] = (pid_t)integer.magnitude;
		if (!*end)
			break;
	}
	/* A second list adds to the first: none of the ids is ignored. */
	all = reallocarray(list->ids, (size_t)list->n + n, sizeof(*ids));
	if (!all)
		return -ENOMEM;
	memcpy(all + list->n, ids, n * sizeof(*ids));
	list->ids = all;
	list->n += n;
	return 0;
}

/* The last list counts, as bcc's number does. */
static int parse_cpus(const struct option_row *row, const char *text, struct id_list *list,
		      struct value_error *why)
{
	own(cpu_list_clear) struct cpu_list cpus = { 0 };
	own(own_free) pid_t *ids = NULL;
	struct integer integer = { 0 };
	bool one = parse_integer(text, text + strlen(text), &integer);
	int64_t number = 0;
	int r = one			       ? parse_int(row, text, &number, why)
		: *text && !strchr(text, '\n') ? cpu_list_parse(text, &cpus)
					       : -EINVAL;

	if (r < 0)
		return r == -ENOMEM || one ? r : not_an_int(text, why);
	ids = calloc((size_t)cpus.n + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	ids[0] = (pid_t)number;
	for (uint32_t i = 0; i < cpus.n; i++)
		ids[i] = cpus.cpus[i];
	free(list->ids);
	list->ids = take_ptr(ids);
	list->n = !one ? cpus.n : number >= 0;
	return 0;
}

static int append(struct string_list *list, const char *text)
{
	int r = grow(&list->strings, &list->capacity, list->n + 1);

	if (r == 0)
		list->strings[list->n++] = text;
	return r;
}

int value_store(const struct option_row *row, const char *text, void *field,
		struct value_error *why)
{
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_REFUSED:
		return wrong(why, "%s", row->help);
	case OPTION_POSITIVE:
	case OPTION_COUNT:
		return parse_count(row, text, field, why);
	case OPTION_INT:
		return parse_int(row, text, field, why);
	case OPTION_SECONDS:
		return parse_seconds(text, field, why);
	case OPTION_STRING_OR_NOT:
		*(const char **)field = text ? text : "";
		return 0;
	case OPTION_STRING:
		*(const char **)field = text;
		return 0;
	case OPTION_STRINGS:
		return append(field, text);
	case OPTION_IDS:
	case OPTION_IDS_INT:
		return parse_ids(row, text, field, why);
	case OPTION_CPUS:
		return parse_cpus(row, text, field, why);
	case OPTION_HELP:
	case OPTION_VERSION:
	case OPTION_MAN:
	case OPTION_COMPLETION:
	case OPTION_COMPLETION_ZSH:
	case OPTION_COMPLETION_FISH:
		break;
	}
	return 0;
}

void value_repr(const char *text, char *buffer, size_t size)
{
	char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';
	size_t used = 0;

	buffer[used++] = quote;
	/* An escape takes four characters; the closing quote and the NUL two. */
	for (const char *at = text; *at && used + 6 < size; at++) {
		unsigned char c = (unsigned char)*at;

		if (c == '\\' || c == (unsigned char)quote)
			used += (size_t)sprintf(buffer + used, "\\%c", c);
		else if (c == '\n' || c == '\r' || c == '\t')
			used += (size_t)sprintf(buffer + used, "\\%c",
						c == '\n'   ? 'n'
						: c == '\r' ? 'r'
							    : 't');
		else if (c < 0x20 || c == 0x7f)
			used += (size_t)sprintf(buffer + used, "\\x%02x", c);
		else
			buffer[used++] = (char)c;
	}
	buffer[used++] = quote;
	buffer[used] = '\0';
}
