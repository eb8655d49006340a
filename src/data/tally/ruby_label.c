// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/ruby_label.h"

#include <stddef.h>
#include <string.h>

/* Bytes of what stands before a method's name for one part of it; 0: none does. */
static size_t part_size(const char *label)
{
	static const char *const parts[] = { "block in ", "rescue in ", "ensure in " };
	static const char levels[] = " levels) in ";
	size_t digits;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strncmp(label, parts[i], strlen(parts[i])) == 0)
			return strlen(parts[i]);
	if (strncmp(label, "block (", strlen("block (")) != 0)
		return 0;
	digits = strspn(label + strlen("block ("), "0123456789");
	label += strlen("block (") + digits;
	return strncmp(label, levels, strlen(levels)) == 0
		       ? strlen("block (") + digits + strlen(levels)
		       : 0;
}

/* Reverses the order of bytes. Three of these change the order of two neighbours. */
static void reverse(char *from, char *end)
{
	while (from < end) {
		char c = *from;

		*from++ = *--end;
		*end = c;
	}
}

void ruby_label_show(char *name)
{
	size_t class = strcspn(name, "#."), parts = 0, more;
	char *label = name + class + 1;

	if (!name[class])
		return;
	while ((more = part_size(label + parts)))
		parts += more;
	reverse(name, label);
	reverse(label, label + parts);
	reverse(name, label + parts);
}
