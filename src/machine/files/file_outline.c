// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/file_outline.h"

#include <errno.h>
#include <string.h>

static uint32_t marks_of(int fd, file_marker *marker)
{
	own(own_elf_file_close) struct elf_file *elf = NULL;

	return elf_file_open_segments(fd, &elf) == 0 ? marker(elf) : 0;
}

/* Runs in the child; the request is a marker, a function of this program. */
static int read_outline(const struct confined_job *job)
{
	file_marker *marker;
	struct file_outline outline = { 0 };
	int size = build_id_read(job->fds[0], outline.build_id);

	if (job->size != sizeof(marker))
		return -EPROTO;
	memcpy(&marker, job->request, sizeof(marker));
	outline.elf = size >= 0;
	outline.build_id_size = size > 0 ? (uint32_t)size : 0;
	if (outline.elf && load_segments_read(job->fds[0], &outline.segments) < 0)
		outline.segments.n = 0;
	if (outline.elf && marker)
		outline.marks = marks_of(job->fds[0], marker);
	confined_send(job, &outline, sizeof(outline));
	return 0;
}

void file_outline_read(struct confined *readers, int fd, file_marker *marker,
		       struct file_outline *ret_outline)
{
	const struct iovec request = { &marker, sizeof(marker) };
	struct file_outline outline;

	if (confined_ask(readers, read_outline, fd, &request, &outline, sizeof(outline)) < 0 ||
	    outline.build_id_size > BUILD_ID_MAX || outline.segments.n > MAX_LOAD_SEGMENTS)
		outline = (struct file_outline){ 0 };
	*ret_outline = outline;
}
