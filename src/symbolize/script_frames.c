/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/script_frames.h"

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
		.flags = id == OFF_CPU_LEAF_BLOCKED || id == OFF_CPU_LEAF_ASLEEP
				 ? NAMES_FRAME_BLOCKED
			 : id == OFF_CPU_LEAF_WAITING ? NAMES_FRAME_WAITING
						      : 0,
	};
	const char *name = off_cpu_leaf_name(id);

	frame.name = names_string(names, name ? name : "[off the CPU]");
	return frame.name ? names_add_address(names, &frame, 1) : -ENOMEM;
}

static int add_waker(struct scripts *scripts, uint64_t id, struct names *names)
{
	struct names_frame frame = { .object = NAMES_NONE };
	struct script script;

	frame.name =
		names_string(names, scripts_find(scripts, id, &script) ? script.name : "[waker]");
	return frame.name ? names_add_address(names, &frame, 1) : -ENOMEM;
}

/* Sets the frame of a function, or of a reason why it is not known. 0 or -ENOMEM. */
static int set_frame(const struct script *script, uint32_t language, struct names *names,
		     struct names_frame *ret_frame)
{
	const char *reason = script_reason_name(script->reason);
	const char *name = *script->name ? script->name : *script->file ? NO_NAME : "eval";
	char text[TEXT_SIZE];

	*ret_frame = (struct names_frame){
		.object = NAMES_NONE,
		.language = language < N_LANGUAGES ? (uint8_t)language : LANGUAGE_NONE,
	};
	if (script->id >= SCRIPT_IDS && !script->reason) {
		/* A method of Java has the name of its class, which that of the file follows from.
		 */
		if (language == LANGUAGE_JAVA)
			snprintf(text, sizeof(text), "%s", name);
		else
			snprintf(text, sizeof(text), "%s (%s)", name,
				 *script->file ? base_of(script->file) : NO_NAME);
		ret_frame->file = *script->file || language != LANGUAGE_JAVA
					  ? names_string(names, script->file)
					  : 0;
		ret_frame->line = script->at;
		if (!ret_frame->file && *script->file)
			return -ENOMEM;
	} else {
		snprintf(text, sizeof(text), "[%s: %s]", language_look(language)->name,
			 reason ? reason : script_reason_name(SCRIPT_KNOWN));
	}
	ret_frame->name = names_string(names, text);
	return ret_frame->name ? 0 : -ENOMEM;
}

int script_frames_add(struct scripts *scripts, const struct tally_address *address,
		      struct names *names)
{
	uint32_t language = (uint32_t)(address->address >> SCRIPT_LANGUAGE_SHIFT), n = 0;
	uint64_t id = SCRIPT_ID(address->address);
	struct names_frame frames[FRAMES_MAX];
	struct script script;
	int r = 0;

	if (script_is_off_cpu(address->address))
		return add_off_cpu(id, names);
	if (language == SCRIPT_WAKER)
		return add_waker(scripts, id, names);
	/* What was compiled into another function stands before that. */
	do {
		if (id < SCRIPT_IDS || !scripts_find(scripts, id, &script))
			script = (struct script){ .name = "",
						  .file = "",
						  .reason = id < SCRIPT_N_REASONS ? (uint32_t)id
										  : SCRIPT_KNOWN };
		r = set_frame(&script, language, names, &frames[n++]);
		id = script.caller;
	} while (r == 0 && id && n < FRAMES_MAX);
	return r < 0 ? r : names_add_address(names, frames, n);
}
