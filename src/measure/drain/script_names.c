// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/script_names.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bpf/interpreter_wire.h"
#include "tally/java_names.h"
#include "tally/ruby_label.h"

_Static_assert((int)WIRE_N_SCRIPT_REASONS == (int)SCRIPT_N_REASONS &&
		       (int)WIRE_SCRIPT_EARLY == (int)SCRIPT_EARLY &&
		       (int)WIRE_SCRIPT_TORN == (int)SCRIPT_TORN && WIRE_SCRIPT_IDS == SCRIPT_IDS &&
		       WIRE_FRAME_LANGUAGE_SHIFT == SCRIPT_LANGUAGE_SHIFT,
	       "enum script_reason has the values of the kernel side");

#define ELLIPSIS "\xe2\x80\xa6"
/* A byte becomes at most three, those of U+FFFD for a zero; and there are two ellipses. */
#define TEXT_SIZE (3 * WIRE_SCRIPT_TEXT + 2 * sizeof(ELLIPSIS) + 1)

static char *put_character(char *to, uint32_t c)
{
	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

struct text {
	const unsigned char *bytes;
	uint32_t size, kind;
	bool begins, ends; /* nothing was cut there */
};

/* Makes one character of two halves, as JavaScript has them; the bytes of the second one, or 0. */
static uint32_t join_surrogates(const unsigned char *bytes, uint32_t *c)
{
	uint16_t second;

	memcpy(&second, bytes + 2, sizeof(second));
	if (*c < 0xd800 || *c >= 0xdc00 || second < 0xdc00 || second >= 0xe000)
		return 0;
	*c = 0x10000 + ((*c - 0xd800) << 10) + (second - 0xdc00u);
	return sizeof(second);
}

static bool to_utf8(const struct text *text, char to[static TEXT_SIZE])
{
	bool is_utf8 = text->kind == WIRE_TEXT_UTF8;

	if (text->size > WIRE_SCRIPT_TEXT ||
	    (!is_utf8 && text->kind != 1 && text->kind != 2 && text->kind != 4))
		return false;
	if (!text->begins)
		to = stpcpy(to, ELLIPSIS);
	/* What is no UTF-8 in it is replaced where it is printed. */
	for (uint32_t i = 0; is_utf8 && i < text->size; i++)
		to = text->bytes[i] ? (*to = (char)text->bytes[i], to + 1) : put_character(to, 0);
	for (uint32_t i = 0; !is_utf8 && i + text->kind <= text->size; i += text->kind) {
		uint32_t c = 0;

		memcpy(&c, text->bytes + i, text->kind);
		if (text->kind == 2 && i + 4 <= text->size)
			i += join_surrogates(text->bytes + i, &c);
		to = put_character(to, c);
	}
	if (!text->ends)
		to = stpcpy(to, ELLIPSIS);
	*to = '\0';
	return true;
}

int script_names_take(struct scripts *scripts, const void *record, size_t size)
{
	const struct wire_script_name *is = record;
	struct text texts[2];
	char name[TEXT_SIZE], file[TEXT_SIZE];

	if (size != sizeof(*is) || is->id < WIRE_SCRIPT_IDS)
		return -EPROTO;
	texts[0] = (struct text){ is->name, is->name_size, is->name_kind, true,
				  !(is->flags & WIRE_SCRIPT_NAME_CUT) };
	texts[1] = (struct text){ is->file, is->file_size, is->file_kind,
				  !(is->flags & WIRE_SCRIPT_FILE_CUT), true };
	if (!to_utf8(&texts[0], name) || !to_utf8(&texts[1], file))
		return -EPROTO;
	if (is->language == LANGUAGE_JAVA)
		java_name_show(name);
	if (is->language == LANGUAGE_RUBY && is->flags & WIRE_SCRIPT_CLASS_FIRST)
		ruby_label_show(name);
	return scripts_add(scripts,
			   &(struct script){
				   .id = is->id, .name = name, .file = file, .line = is->line });
}
