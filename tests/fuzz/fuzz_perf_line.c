// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of perf script: the input's lines are taken apart as samples, as frames and as places in
 * the source. All pieces lie within their line.
 */
#include <stdlib.h>
#include <string.h>

#include "import/perf_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void is_within(const struct folded_piece *piece, const struct folded_piece *line)
{
	/* An empty piece may be a string of our own. */
	if (!piece->start || piece->size == 0)
		return;
	if (piece->start < line->start || piece->start + piece->size > line->start + line->size)
		abort();
}

static void check_line(const struct folded_piece *line)
{
	struct perf_sample sample;
	struct perf_frame frame;

	if (perf_sample_parse(line, &sample)) {
		if (sample.comm.size == 0)
			abort();
		is_within(&sample.comm, line);
		is_within(&sample.event, line);
		is_within(&sample.rest, line);
		if (perf_frame_parse(sample.rest, &frame)) {
			is_within(&frame.name, &sample.rest);
			is_within(&frame.file, &sample.rest);
		}
	}
	if (perf_frame_parse(*line, &frame)) {
		is_within(&frame.name, line);
		is_within(&frame.file, line);
	}
	perf_line_is_source(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct folded_piece rest, line, whole;
	size_t read = 0;
	char *text;

	if (size == 0 || size > 4096) /* a comm is looked for at each byte of a line */
		return 0;
	text = malloc(size); /* so that what is behind it is seen to be read */
	if (!text)
		abort();
	memcpy(text, data, size);
	whole = rest = (struct folded_piece){ text, size };
	while (perf_next_line(&rest, &line)) {
		is_within(&line, &whole);
		read += line.size;
		if (line.size > 0)
			check_line(&line);
	}
	if (read > size || rest.size > 0)
		abort();
	free(text);
	return 0;
}
