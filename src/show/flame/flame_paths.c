// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/flame_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/own.h"
#include "view/entry_parts.h"
#include "view/frame_text.h"
#include "view/service.h"

enum marker { MISSED_KERNEL, MISSED_USER, CUT_KERNEL, CUT_USER };

/* ---- the frames on the paths ---- */

static bool starts_with(const char *string, const char *start)
{
	return strncmp(string, start, strlen(start)) == 0;
}

static enum flame_kind kind_of(const struct names_frame *is)
{
	const char *linkage = is->linkage_name;

	if (is->flags & NAMES_FRAME_JIT)
		return FLAME_JIT; /* also without a name of its own */
	if (is->flags & NAMES_FRAME_IDENTITY)
		return FLAME_IDENTITY;
	if (is->flags & (NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING))
		return is->flags & NAMES_FRAME_BLOCKED ? FLAME_BLOCKED : FLAME_WAITING;
	if (is->name && is->name[0] == '[')
		return FLAME_MARKER;
	if (is->language)
		return FLAME_N_PLAIN + is->language;
	if (is->flags & NAMES_FRAME_KERNEL)
		return is->name ? FLAME_KERNEL : FLAME_MARKER;
	if (!is->name)
		return FLAME_MARKER;
	if (is->flags & NAMES_FRAME_INLINED)
		return FLAME_INLINED;
	if (linkage ? starts_with(linkage, "_Z") || starts_with(linkage, "_R") ||
			      starts_with(linkage, "_D")
		    : strstr(is->name, "::") != NULL)
		return FLAME_CPP;
	return FLAME_USER;
}

static int add_frames(struct flame_paths *paths)
{
	struct frame_style style = {
		.before = "", .after = "", .unnamed_module = true, .lines = paths->options->lines
	};
	const struct profile *profile = paths->profile;
	struct frame_texts texts;
	char name[FLAME_NAME_MAX + 2];
	int r = frame_texts_make(&texts, profile, &style);

	for (uint32_t i = 0; r == 0 && i < profile->n_frames; i++) {
		const struct names_frame *is = &profile->frames[i].is;
		struct flame_frame frame = { .name = name,
					     .module = is->language && is->file ? is->file
										: is->module,
					     .kind = kind_of(is),
					     .kernel = is->flags & NAMES_FRAME_KERNEL,
					     .interest = frame_interest(is) };
		size_t size = texts.of[i].size;

		/* One byte more than the limit shows flame_frames_add() that it was cut. */
		if (size > FLAME_NAME_MAX + 1)
			size = FLAME_NAME_MAX + 1;
		memcpy(name, texts.of[i].text, size);
		name[size] = '\0';
		paths->of_frame[i] = INDEX_NONE;
		if (frame_text_is_inlining_mark(is))
			continue; /* it would stand between all functions of a program */
		if (frame_text_is_woken_mark(is))
			frame.name = "woken by";
		r = flame_frames_add(paths->frames, &frame, &paths->of_frame[i]);
	}
	frame_texts_clear(&texts);
	return r;
}

static int add_markers(struct flame_paths *paths)
{
	static const struct flame_frame markers[] = {
		[MISSED_KERNEL] = { FRAME_MISSED_KERNEL, "", 0, 0, 0, FLAME_MARKER, true },
		[MISSED_USER] = { FRAME_MISSED_USER, "", 0, 0, 0, FLAME_MARKER, false },
		[CUT_KERNEL] = { FRAME_TRUNCATED, "", 0, 0, 0, FLAME_MARKER, true },
		[CUT_USER] = { FRAME_TRUNCATED, "", 0, 0, 0, FLAME_MARKER, false },
	};
	int r = 0;

	for (int i = 0; r == 0 && i < 4; i++)
		r = flame_frames_add(paths->frames, &markers[i], &paths->of_marker[i]);
	return r;
}

static int add_process(struct flame_paths *paths, const struct tally_entry *entry,
		       uint32_t *ret_number)
{
	char comm[TALLY_COMM_SIZE + 1] = { 0 };
	struct flame_frame frame = { .name = comm, .kind = FLAME_WHO };

	memcpy(comm, entry->comm, TALLY_COMM_SIZE);
	if (paths->options->who >= FLAME_WHO_PROCESS)
		frame.tgid = entry->tgid;
	if (paths->options->who >= FLAME_WHO_THREAD)
		frame.tid = entry->tid;
	return flame_frames_add(paths->frames, &frame, ret_number);
}

static int add_cgroup(struct flame_paths *paths, const struct tally_entry *entry,
		      uint32_t *ret_number)
{
	struct flame_frame frame = { .kind = FLAME_WHO };
	struct service service;
	struct bytes name;
	int r = -ENOMEM;

	service_of_cgroup(profile_cgroup(paths->profile, entry->cgroup), &service);
	frame.module = service.name;

	bytes_start(&name, NULL);
	frame_text_cgroup_named(&name, paths->profile, entry->cgroup);
	bytes_char(&name, '\0');
	frame.name = name.start;
	if (!name.failed)
		r = flame_frames_add(paths->frames, &frame, ret_number);
	bytes_clear(&name);
	return r;
}

/* Adjacent entries often belong to one process; its frame is looked up once. */
static int add_entries(struct flame_paths *paths)
{
	const struct tally_entry *before = NULL;
	uint64_t cgroup = 0;
	uint32_t cgroup_frame = INDEX_NONE;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < paths->profile->n_entries; i++) {
		const struct tally_entry *entry = &paths->profile->entries[i];
		struct flame_paths_who *who = &paths->of_entry[i];

		if (paths->options->who != FLAME_WHO_NONE) {
			if (before && before->tgid == entry->tgid && before->tid == entry->tid &&
			    memcmp(before->comm, entry->comm, TALLY_COMM_SIZE) == 0)
				who->process = paths->of_entry[i - 1].process;
			else
				r = add_process(paths, entry, &who->process);
		}
		if (r == 0 && paths->options->cgroup) {
			if (cgroup_frame == INDEX_NONE || cgroup != entry->cgroup)
				r = add_cgroup(paths, entry, &cgroup_frame);
			cgroup = entry->cgroup;
			who->cgroup = cgroup_frame;
		}
		before = entry;
	}
	return r;
}

/* ---- ranks of frame numbers ---- */

static int by_order(const void *a, const void *b, void *context)
{
	return flame_frames_compare(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Only frames of this tree get ranks. */
static int rank_frames(struct flame_paths *paths)
{
	const struct profile *profile = paths->profile;
	uint32_t n = flame_frames_n(paths->frames), n_used = 0;
	own(own_free) uint32_t *rank_of = calloc((size_t)n + 1, sizeof(*rank_of));
	uint32_t *used = reallocarray(NULL, (size_t)n + 1, sizeof(*used));

	paths->frame_of = used;
	if (!rank_of || !used)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (paths->of_frame[i] != INDEX_NONE)
			rank_of[paths->of_frame[i]] = 1;
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		rank_of[paths->of_entry[i].process] = 1;
		rank_of[paths->of_entry[i].cgroup] = 1;
	}
	for (int i = 0; i < 4; i++)
		rank_of[paths->of_marker[i]] = 1;
	for (uint32_t i = 0; i < n; i++)
		if (rank_of[i])
			used[n_used++] = i;
	qsort_r(used, n_used, sizeof(*used), by_order, paths->frames);
	memmove(used + 1, used, n_used * sizeof(*used));
	for (uint32_t i = 1; i <= n_used; i++)
		rank_of[used[i]] = i;
	paths->n_ranks = n_used + 1;

	for (uint32_t i = 0; i < profile->n_frames; i++)
		paths->of_frame[i] =
			paths->of_frame[i] == INDEX_NONE ? INDEX_NONE : rank_of[paths->of_frame[i]];
	for (uint32_t i = 0; i < profile->n_entries; i++) {
		paths->of_entry[i].process = rank_of[paths->of_entry[i].process];
		paths->of_entry[i].cgroup = rank_of[paths->of_entry[i].cgroup];
	}
	for (int i = 0; i < 4; i++)
		paths->of_marker[i] = rank_of[paths->of_marker[i]];
	return 0;
}

/* ---- paths ---- */

static uint32_t put_side(const struct flame_paths *paths, const uint32_t *frames, uint32_t n,
			 bool cut, bool missed, bool kernel, uint32_t *path)
{
	uint32_t at = 0;

	if (cut)
		path[at++] = paths->of_marker[kernel ? CUT_KERNEL : CUT_USER];
	while (n > 0)
		if (paths->of_frame[frames[--n]] != INDEX_NONE)
			path[at++] = paths->of_frame[frames[n]];
	if (missed)
		path[at++] = paths->of_marker[kernel ? MISSED_KERNEL : MISSED_USER];
	return at;
}

uint32_t flame_paths_put(const struct flame_paths *paths, uint32_t i, uint32_t *path)
{
	struct profile_entry entry;
	uint32_t at = 0;

	profile_read(paths->profile, &paths->profile->entries[i], &entry);
	if (paths->options->cgroup)
		path[at++] = paths->of_entry[i].cgroup;
	if (paths->options->who != FLAME_WHO_NONE)
		path[at++] = paths->of_entry[i].process;
	at += put_side(paths, entry.user, entry.n_user, entry.user_cut, entry.user_missed, false,
		       path + at);
	at += put_side(paths, entry.kernel, entry.n_kernel, entry.kernel_cut, entry.kernel_missed,
		       true, path + at);
	path[at] = 0;
	return at;
}

/* ---- the whole ---- */

static int make(struct flame_paths *paths)
{
	const struct flame_frame root = { .name = "all", .kind = FLAME_ROOT };
	const struct profile *profile = paths->profile;
	uint32_t root_frame;
	int r;

	paths->of_frame = calloc((size_t)profile->n_frames + 1, sizeof(*paths->of_frame));
	paths->of_entry = calloc((size_t)profile->n_entries + 1, sizeof(*paths->of_entry));
	if (!paths->of_frame || !paths->of_entry)
		return -ENOMEM;
	/* The first frame, so that the root is number 0 in every table. */
	r = flame_frames_add(paths->frames, &root, &root_frame);
	if (r == 0)
		r = add_frames(paths);
	if (r == 0)
		r = add_markers(paths);
	if (r == 0)
		r = add_entries(paths);
	if (r == 0)
		r = rank_frames(paths);
	if (r == 0)
		paths->frame_of[0] = root_frame;
	return r;
}

int flame_paths_make(struct flame_paths *paths, struct flame_frames *frames,
		     const struct profile *profile, const struct flame_options *options)
{
	*paths = (struct flame_paths){ .profile = profile, .options = options, .frames = frames };
	return make(paths);
}

void flame_paths_clear(struct flame_paths *paths)
{
	free(paths->of_frame);
	free(paths->of_entry);
	free(paths->frame_of);
	*paths = (struct flame_paths){ 0 };
}
