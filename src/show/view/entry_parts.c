// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/entry_parts.h"

#include <string.h>

#include "view/frame_text.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

/* Beginnings of the names of files. */
static const char *const system_files[] = {
	"libc.so", "libc-2", "ld-linux", "ld-2",    "ld-musl", "libpthread", "librt.",
	"librt-",  "libdl.", "libdl-",	 "libm.so", "libm-2",  "[vdso]",     "[vsyscall]",
};
static const char *const runtime_files[] = {
	"libstdc++.so", "libgcc_s.", "libc++", "libpython", "python", "libperl.",
	"perl",		"libruby",   "ruby",   "libphp",    "php",    "libjvm.",
	"libnode.",	"node",	     "libuv.", "libmozjs",
};
/* Beginnings of the names of functions: the entry of a program, and Go's runtime. */
static const char *const runtime_functions[] = {
	"runtime.", "runtime/internal/", "internal/runtime/", "syscall.", "internal/poll.",
};

/* Functions of the kernel by which a thread leaves its CPU, whatever it waits for. */
static const char *const leaving_functions[] = {
	"__schedule", "schedule", "io_schedule", "preempt_schedule", "__cond_resched",
};

/* Functions of the kernel that make a thread ready to run, whoever calls them. */
static const char *const waking_functions[] = {
	"try_to_wake_up", "ttwu_",    "wake_up_", "__wake_up", "default_wake_function",
	"autoremove_",	  "pollwake", "ep_poll_", "wake_q_",   "swake_up_",
};

static bool begins_with_one(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

static bool leaves_cpu(const struct names_frame *is)
{
	return is->name && is->flags & NAMES_FRAME_KERNEL &&
	       begins_with_one(is->name, leaving_functions, N(leaving_functions));
}

enum frame_interest frame_interest(const struct names_frame *is)
{
	const char *name = is->name;

	if (is->flags & (NAMES_FRAME_UNWIND | NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING))
		return OF_NONE;
	if (is->flags & NAMES_FRAME_KERNEL)
		return leaves_cpu(is) ? OF_NONE : OF_KERNEL;
	/* In place of a function that is not known: "[python: no state]". */
	if (is->language)
		return name && name[0] != '[' ? OF_SCRIPT : OF_RUNTIME;
	if (name && begins_with_one(name, runtime_functions, N(runtime_functions)))
		return OF_RUNTIME;
	if (name && strcmp(name, "_start") == 0)
		return OF_SYSTEM;
	if (is->module && begins_with_one(is->module, system_files, N(system_files)))
		return OF_SYSTEM;
	if (is->module && begins_with_one(is->module, runtime_files, N(runtime_files)))
		return OF_RUNTIME;
	return name || is->module ? OF_PROGRAM : OF_RUNTIME;
}

bool entry_is_common_frame(const struct names_frame *is)
{
	return frame_interest(is) < OF_PROGRAM;
}

struct entry_parts entry_parts(const struct profile *profile, const struct profile_entry *entry)
{
	struct entry_parts parts = { .kernel = entry->kernel,
				     .n_kernel = entry->n_kernel,
				     .waker_name = ENTRY_NO_FRAME };

	for (uint32_t i = 0; i < entry->n_kernel; i++) {
		const struct names_frame *is = &profile->frames[entry->kernel[i]].is;

		if (!(is->flags & (NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING)))
			continue;
		parts.state = is->flags & NAMES_FRAME_BLOCKED ? ENTRY_BLOCKED : ENTRY_WAITED;
		parts.kernel = entry->kernel + i + 1;
		parts.n_kernel = entry->n_kernel - i - 1;
		while (parts.n_kernel && leaves_cpu(&profile->frames[*parts.kernel].is)) {
			parts.kernel++;
			parts.n_kernel--;
		}
		if (i < 2 || !frame_text_is_woken_mark(&profile->frames[entry->kernel[i - 1]].is))
			break;
		parts.waker_name = entry->kernel[0];
		parts.waker = entry->kernel + 1;
		parts.n_waker = i - 2;
		break;
	}
	return parts;
}

/* Looks at frames from the innermost outwards; `step` is 1 or -1. */
static void look(const struct profile *profile, const uint32_t *frames, uint32_t n, int step,
		 uint32_t *best, enum frame_interest *interest)
{
	for (; n > 0; n--, frames += step) {
		enum frame_interest of = frame_interest(&profile->frames[*frames].is);

		if (of > *interest || *best == ENTRY_NO_FRAME) {
			*interest = of;
			*best = *frames;
		}
	}
}

uint32_t entry_program_frame(const struct profile *profile, const struct profile_entry *entry)
{
	struct entry_parts parts = entry_parts(profile, entry);
	enum frame_interest interest = OF_NONE;
	uint32_t best = ENTRY_NO_FRAME;

	look(profile, entry->user, entry->n_user, 1, &best, &interest);
	if (interest == OF_NONE) {
		best = ENTRY_NO_FRAME;
		look(profile, parts.kernel, parts.n_kernel, 1, &best, &interest);
	}
	return best;
}

static bool wakes(const struct names_frame *is)
{
	return is->name && is->flags & NAMES_FRAME_KERNEL &&
	       begins_with_one(is->name, waking_functions, N(waking_functions));
}

uint32_t entry_waker_frame(const struct profile *profile, const struct entry_parts *parts)
{
	enum frame_interest interest = OF_NONE;
	uint32_t best = ENTRY_NO_FRAME;

	uint32_t n = parts->n_waker;

	while (n > 1 && wakes(&profile->frames[parts->waker[n - 1]].is))
		n--;
	if (n > 0)
		look(profile, parts->waker + n - 1, n, -1, &best, &interest);
	return best;
}
