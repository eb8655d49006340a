// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/markup.h"

void markup_text(struct bytes *bytes, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case '&':
			bytes_string(bytes, "&amp;");
			break;
		case '<':
			bytes_string(bytes, "&lt;");
			break;
		case '>':
			bytes_string(bytes, "&gt;");
			break;
		case '"':
			bytes_string(bytes, "&quot;");
			break;
		case '\'':
			bytes_string(bytes, "&#39;");
			break;
		default:
			bytes_char(bytes, text[i]);
		}
	}
}

void markup_foreign(struct bytes *bytes, const char *text)
{
	struct bytes clean;

	bytes_start(&clean, NULL);
	bytes_name(&clean, text, strlen(text));
	if (clean.failed)
		bytes->failed = clean.failed;
	else
		markup_text(bytes, clean.start, clean.used);
	bytes_clear(&clean);
}

void markup_count(struct bytes *bytes, uint64_t count)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + count % 10);
		count /= 10;
	} while (count);
	while (n > 0) {
		bytes_char(bytes, digits[--n]);
		if (n > 0 && n % 3 == 0)
			bytes_char(bytes, ',');
	}
}

void markup_number(struct bytes *bytes, double number)
{
	char text[40];
	int size = snprintf(text, sizeof(text), "%.3f", number);

	while (size > 0 && text[size - 1] == '0')
		size--;
	if (size > 0 && text[size - 1] == '.')
		size--;
	bytes_put(bytes, text, (size_t)size);
}

void markup_percent(struct bytes *bytes, double part, double whole)
{
	char text[40];
	int size = snprintf(text, sizeof(text), "%.2f", whole > 0 ? 100 * part / whole : 0);

	bytes_put(bytes, text, (size_t)size);
}
