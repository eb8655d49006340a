// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/own.h"

/* Bytes: more than the longest list has, of each CPU by its number of five digits and a comma. */
#define MAX_TEXT (6 * CPU_LIST_MAX + 2)

void cpu_list_clear(struct cpu_list *list)
{
	free(list->cpus);
	*list = (struct cpu_list){ 0 };
}

static int parse_number(const char **at, int *ret_number)
{
	int number = 0;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	for (; isdigit((unsigned char)**at); ++*at) {
		number = number * 10 + (**at - '0');
		if (number >= CPU_LIST_MAX)
			return -EINVAL;
	}
	*ret_number = number;
	return 0;
}

static int append_range(struct cpu_list *list, int first, int last)
{
	int r;

	if (last < first || list->n + (uint32_t)(last - first) >= CPU_LIST_MAX)
		return -EINVAL;
	r = grow(&list->cpus, &list->capacity, list->n + (uint32_t)(last - first) + 1);
	if (r < 0)
		return r;
	for (int cpu = first; cpu <= last; cpu++)
		list->cpus[list->n++] = cpu;
	return 0;
}

int cpu_list_parse(const char *text, struct cpu_list *ret_list)
{
	own(cpu_list_clear) struct cpu_list list = { 0 };

	while (*text && *text != '\n') {
		int first, last, r = parse_number(&text, &first);

		if (r < 0)
			return r;
		last = first;
		if (*text == '-') {
			text++;
			r = parse_number(&text, &last);
			if (r < 0)
				return r;
		}
		r = append_range(&list, first, last);
		if (r < 0)
			return r;
		if (*text == ',')
			text++;
		else if (*text && *text != '\n')
			return -EINVAL;
	}
	*ret_list = list;
	list = (struct cpu_list){ 0 };
	return 0;
}

/* Reads the file to its end, and appends a NUL. */
static int read_text(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t n;

	/* sysfs gives long lists in pieces. */
	while ((n = read(fd, text + used, size - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		used += (size_t)n;
		if (used == size)
			return -EFBIG;
	}
	text[used] = '\0';
	return 0;
}

int cpu_list_read(const char *path, struct cpu_list *ret_list)
{
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	own(own_free) char *text = NULL;
	int r;

	if (fd < 0)
		return -errno;
	text = malloc(MAX_TEXT);
	if (!text)
		return -ENOMEM;
	r = read_text(fd, text, MAX_TEXT);
	return r < 0 ? r : cpu_list_parse(text, ret_list);
}
