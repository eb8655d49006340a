// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/perf_line.h"

#include <string.h>

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static struct folded_piece part(const char *start, const char *end)
{
	return (struct folded_piece){ start, (size_t)(end - start) };
}

static struct folded_piece trimmed(struct folded_piece piece)
{
	while (piece.size > 0 && is_blank(piece.start[0]))
		piece = (struct folded_piece){ piece.start + 1, piece.size - 1 };
	while (piece.size > 0 &&
	       (is_blank(piece.start[piece.size - 1]) || piece.start[piece.size - 1] == '\r'))
		piece.size--;
	return piece;
}

/* The next line, without the blanks at its end. False: there is none. */
bool perf_next_line(struct folded_piece *rest, struct folded_piece *ret_line)
{
	const char *stop;

	if (rest->size == 0)
		return false;
	stop = memchr(rest->start, '\n', rest->size);
	*ret_line = part(rest->start, stop ? stop : rest->start + rest->size);
	rest->size -= ret_line->size + (stop ? 1 : 0);
	rest->start += ret_line->size + (stop ? 1 : 0);
	while (ret_line->size > 0 && strchr(" \t\r", ret_line->start[ret_line->size - 1]) &&
	       ret_line->start[ret_line->size - 1])
		ret_line->size--;
	return true;
}

/* A number, with what may stand before it removed. */
static bool take_id(struct folded_piece *text, uint32_t *ret_id)
{
	uint64_t id = 0;
	size_t n = 0;

	/* That of a thread that perf did not know. */
	if (folded_begins(text, "-1")) {
		*text = (struct folded_piece){ text->start + 2, text->size - 2 };
		*ret_id = 0;
		return true;
	}
	for (; n < text->size && is_digit(text->start[n]) && id <= UINT32_MAX; n++)
		id = id * 10 + (uint64_t)(text->start[n] - '0');
	if (n == 0 || id > UINT32_MAX)
		return false;
	*text = (struct folded_piece){ text->start + n, text->size - n };
	*ret_id = (uint32_t)id;
	return true;
}

/* ` 12/34 ` or ` 12 `, as ids stand behind a comm. */
static bool take_ids(struct folded_piece text, struct perf_sample *sample)
{
	if (!take_id(&text, &sample->pid))
		return false;
	sample->tid = 0;
	if (text.size > 0 && *text.start == '/') {
		text = (struct folded_piece){ text.start + 1, text.size - 1 };
		if (!take_id(&text, &sample->tid))
			return false;
	}
	return text.size > 0 && is_blank(*text.start);
}

/* The next word. False: there is none. */
static bool take_word(struct folded_piece *text, struct folded_piece *ret_word)
{
	size_t n = 0;

	*text = trimmed(*text);
	while (n < text->size && !is_blank(text->start[n]))
		n++;
	*ret_word = (struct folded_piece){ text->start, n };
	*text = (struct folded_piece){ text->start + n, text->size - n };
	return n > 0;
}

/* `38331.240668:` */
static bool is_time(const struct folded_piece *word)
{
	size_t dots = 0;

	if (word->size < 4 || word->start[word->size - 1] != ':' || !is_digit(word->start[0]))
		return false;
	for (size_t i = 0; i + 1 < word->size; i++) {
		dots += word->start[i] == '.';
		if (word->start[i] != '.' && !is_digit(word->start[i]))
			return false;
	}
	return dots == 1;
}

/* The first word that is a time. What is behind it is *ret_behind. */
static bool find_time(const struct folded_piece *line, struct folded_piece *ret_time,
		      struct folded_piece *ret_behind)
{
	*ret_behind = *line;
	while (take_word(ret_behind, ret_time))
		if (is_time(ret_time))
			return true;
	return false;
}

/* Comms may hold blanks and numbers: the last ids are those of the sample. */
static bool take_comm(const struct folded_piece *text, struct perf_sample *sample)
{
	for (size_t i = text->size; i-- > 1;) {
		struct folded_piece rest = { text->start + i, text->size - i };

		if (!is_blank(text->start[i - 1]) || !take_ids(rest, sample))
			continue;
		sample->comm = trimmed(part(text->start, text->start + i));
		return sample->comm.size > 0;
	}
	return false;
}

/* `cpu_core/cycles/` and `cpu_atom/cycles/` are cycles of two kinds of CPUs. */
static struct folded_piece bare_event(struct folded_piece event)
{
	const char *slash = memchr(event.start, '/', event.size);
	const char *end =
		slash ? memchr(slash + 1, '/', (size_t)(event.start + event.size - slash - 1))
		      : NULL;

	return end ? part(slash + 1, end) : event;
}

static bool is_number(const struct folded_piece *word)
{
	for (size_t i = 0; i < word->size; i++)
		if (!is_digit(word->start[i]))
			return false;
	return word->size > 0;
}

/* Behind the time: `PERIOD EVENT: REST`, of which each may be missing. */
static void take_event(struct folded_piece behind, struct perf_sample *sample)
{
	struct folded_piece word, rest = behind;

	sample->rest = trimmed(behind);
	if (take_word(&rest, &word) && is_number(&word)) {
		sample->rest = trimmed(rest);
		if (!take_word(&rest, &word))
			return;
	}
	sample->is_record = folded_begins(&word, "PERF_RECORD_");
	if (word.size < 2 || word.start[word.size - 1] != ':')
		return;
	sample->event = bare_event(part(word.start, word.start + word.size - 1));
	sample->rest = trimmed(rest);
}

/* `cycles:u`, `cpu/event=0x3c/`, but not `[running]` or `5)`, with which other texts have lines. */
static bool is_event(const struct folded_piece *name)
{
	for (size_t i = 0; i < name->size; i++)
		if (strchr("()[]{}<>#", name->start[i]))
			return false;
	return name->size > 0 && !is_digit(name->start[0]);
}

/* Without a time, the line ends with its event and a colon. */
static bool parse_without_time(const struct folded_piece *line, struct perf_sample *sample)
{
	const char *end = line->start + line->size, *event;

	if (line->size < 3 || is_blank(*line->start) || end[-1] != ':')
		return false;
	event = memrchr(line->start, ' ', line->size);
	if (!event || !take_comm(line, sample))
		return false;
	sample->event = bare_event(part(event + 1, end - 1));
	return is_event(&sample->event);
}

bool perf_sample_parse(const struct folded_piece *line, struct perf_sample *ret_sample)
{
	struct folded_piece time, behind, before;

	*ret_sample = (struct perf_sample){ .rest = { "", 0 } };
	if (line->size == 0 || *line->start == '\t')
		return false;
	if (!find_time(line, &time, &behind))
		return parse_without_time(line, ret_sample);
	before = part(line->start, time.start);
	take_event(behind, ret_sample);
	/* Ids without a comm name the thread as well. */
	if (!take_comm(&before, ret_sample))
		ret_sample->comm = trimmed(before);
	return ret_sample->comm.size > 0;
}

/* ---- frames */

/* Without `+0x1f` at the end. */
static struct folded_piece without_offset(struct folded_piece name)
{
	const char *plus = memrchr(name.start, '+', name.size);
	size_t n = plus ? (size_t)(name.start + name.size - plus) : 0;

	if (n < 4 || plus[1] != '0' || plus[2] != 'x')
		return name;
	for (size_t i = 3; i < n; i++)
		if (!strchr("0123456789abcdef", plus[i]) || !plus[i])
			return name;
	return part(name.start, plus);
}

/* The upper half of the addresses is the kernel's, but for the page of vsyscalls. */
static bool is_kernel_address(const struct folded_piece *address)
{
	return address->size == 16 && address->start[0] == 'f' &&
	       !folded_begins(address, "ffffffffff600");
}

/* Where ` (FILE)` begins, or NULL. A file's name may hold parentheses: `(/usr/bin/x (deleted))`. */
static const char *find_file(const struct folded_piece *line)
{
	const char *end = line->start + line->size, *open;

	if (line->size == 0 || end[-1] != ')')
		return NULL;
	open = memrchr(line->start, '(', line->size);
	if (open) {
		struct folded_piece tail = part(open, end);

		if (folded_begins(&tail, "(deleted)"))
			open = memrchr(line->start, '(', (size_t)(open - line->start));
	}
	return open && open > line->start && is_blank(open[-1]) && open + 2 < end ? open : NULL;
}

/* A line that was cut within its file has a parenthesis that nothing closes. */
static bool is_cut(const struct folded_piece *name)
{
	const char *open = memrchr(name->start, '(', name->size);

	return open && open > name->start && is_blank(open[-1]) &&
	       !memchr(open, ')', (size_t)(name->start + name->size - open));
}

bool perf_frame_parse(struct folded_piece line, struct perf_frame *ret_frame)
{
	struct folded_piece address;
	const char *open;

	line = trimmed(line);
	if (!take_word(&line, &address))
		return false;
	for (size_t i = 0; i < address.size; i++)
		if (!strchr("0123456789abcdef", address.start[i]) || !address.start[i])
			return false;
	if (line.size == 0)
		return false;
	open = find_file(&line);
	*ret_frame = (struct perf_frame){ .in_kernel = is_kernel_address(&address) };
	if (open)
		ret_frame->file = without_offset(part(open + 1, line.start + line.size - 1));
	ret_frame->name =
		without_offset(trimmed(part(line.start, open ? open : line.start + line.size)));
	return open || (ret_frame->name.size > 0 && !is_cut(&ret_frame->name));
}

bool perf_line_is_source(const struct folded_piece *line)
{
	size_t n = line->size;

	if (line->size < 5 || line->start[0] != ' ' || line->start[1] != ' ' ||
	    is_blank(line->start[2]))
		return false;
	if (line->start[2] == '[') /* a file without lines */
		return line->start[n - 1] == ']';
	while (n > 0 && is_digit(line->start[n - 1]))
		n--;
	return n < line->size && n > 3 && line->start[n - 1] == ':';
}
