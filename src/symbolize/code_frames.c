/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/code_frames.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tally/languages.h"

/* More than two texts of the ring buffer can have. */
#define TEXT_SIZE 4096

#define FRAMES_MAX 64 /* of functions that were compiled into each other */

/* What V8 calls functions without a name and scripts without a file. */
#define NO_NAME "<anonymous>"

/*
 * The name of a file. Node's own modules keep what is before it: node:internal/timers. What Ruby
 * evaluated has in place of it "(eval at FILE:LINE)".
 */
static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (strncmp(path, "node:", 5) == 0 || path[0] == '(')
		return path;
	return slash && slash[1] ? slash + 1 : path;
}

/* Why a thread was off the CPU, or what stands for its waker. */
static int add_off_cpu(uint64_t id, struct names *names)
{
	struct names_frame frame = {
		.object = NAMES_NONE,
		.flags = id == CODE_OFF_CPU_BLOCKED   ? NAMES_FRAME_BLOCKED
			 : id == CODE_OFF_CPU_WAITING ? NAMES_FRAME_WAITING
						      : 0,
	};
	const char *name = code_off_cpu_name(id);

	frame.name = names_string(names, name ? name : "[off the CPU]");
	return frame.name ? names_add_address(names, &frame, 1) : -ENOMEM;
}

static int add_waker(struct codes *codes, uint64_t id, struct names *names)
{
	struct names_frame frame = { .object = NAMES_NONE };
	struct code code;

	frame.name = names_string(names, codes_find(codes, id, &code) ? code.name : "[waker]");
	return frame.name ? names_add_address(names, &frame, 1) : -ENOMEM;
}

/* Sets the frame of a function, or of a reason why it is not known. 0 or -ENOMEM. */
static int set_frame(const struct code *code, uint32_t language, struct names *names,
		     struct names_frame *ret_frame)
{
	const char *reason = code_reason_name(code->reason);
	const char *name = *code->name ? code->name : *code->file ? NO_NAME : "eval";
	char text[TEXT_SIZE];

	*ret_frame = (struct names_frame){
		.object = NAMES_NONE,
		.language = language < N_LANGUAGES ? (uint8_t)language : LANGUAGE_NONE,
	};
	if (code->id >= CODE_IDS && !code->reason) {
		/* A method of Java has the name of its class, which that of the file follows from.
		 */
		if (language == LANGUAGE_JAVA)
			snprintf(text, sizeof(text), "%s", name);
		else
			snprintf(text, sizeof(text), "%s (%s)", name,
				 *code->file ? base_of(code->file) : NO_NAME);
		ret_frame->file = *code->file || language != LANGUAGE_JAVA
					  ? names_string(names, code->file)
					  : 0;
		ret_frame->line = code->at;
		if (!ret_frame->file && *code->file)
			return -ENOMEM;
	} else {
		snprintf(text, sizeof(text), "[%s: %s]", language_look(language)->name,
			 reason ? reason : code_reason_name(CODE_KNOWN));
	}
	ret_frame->name = names_string(names, text);
	return ret_frame->name ? 0 : -ENOMEM;
}

int code_frames_add(struct codes *codes, const struct tally_address *address, struct names *names)
{
	uint32_t language = (uint32_t)(address->address >> CODE_LANGUAGE_SHIFT), n = 0;
	uint64_t id = CODE_ID(address->address);
	struct names_frame frames[FRAMES_MAX];
	struct code code;
	int r = 0;

	if (code_is_off_cpu(address->address))
		return add_off_cpu(id, names);
	if (language == CODE_WAKER)
		return add_waker(codes, id, names);
	/* What was compiled into another function stands before that. */
	do {
		if (id < CODE_IDS || !codes_find(codes, id, &code))
			code = (struct code){ .name = "",
					      .file = "",
					      .reason = id < CODE_N_REASONS ? (uint32_t)id
									    : CODE_KNOWN };
		r = set_frame(&code, language, names, &frames[n++]);
		id = code.caller;
	} while (r == 0 && id && n < FRAMES_MAX);
	return r < 0 ? r : names_add_address(names, frames, n);
}
