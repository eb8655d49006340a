// SPDX-License-Identifier: GPL-2.0-or-later
#include "containers/pod_logs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/own.h"

#define MAX_PODS 65536u

/* Names of Kubernetes have letters, digits, dashes and dots. */
static bool take_name(const char *from, size_t size, char to[CONTAINER_TEXT_SIZE])
{
	if (size == 0 || size >= CONTAINER_TEXT_SIZE)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)from[i]) && from[i] != '-' && from[i] != '.')
			return false;
	memcpy(to, from, size);
	to[size] = '\0';
	return true;
}

static bool read_name(const char *name, const char *uid, char namespace[CONTAINER_TEXT_SIZE],
		      char pod[CONTAINER_TEXT_SIZE])
{
	const char *end = strrchr(name, '_'), *middle = strchr(name, '_');

	return end && middle != end && strcmp(end + 1, uid) == 0 &&
	       take_name(name, (size_t)(middle - name), namespace) &&
	       take_name(middle + 1, (size_t)(end - middle - 1), pod);
}

int pod_logs_find(struct file_opener *opener, struct file_way way, const char *uid,
		  char namespace[CONTAINER_TEXT_SIZE], char pod[CONTAINER_TEXT_SIZE])
{
	own(own_directory) DIR *directory = NULL;
	own(own_fd) int found = file_opener_find(opener, &way);
	int fd = found < 0 ? -1 : openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;

	if (fd < 0)
		return found == -ETIMEDOUT ? -EAGAIN : 0;
	directory = fdopendir(fd);
	if (!directory)
		own_fd(&fd);
	for (uint32_t i = 0; directory && i < MAX_PODS && (entry = readdir(directory)); i++)
		if (read_name(entry->d_name, uid, namespace, pod))
			break;
	return 0;
}
