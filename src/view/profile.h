/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile: a tally and its names, merged as a view wants to see them. What every writer prints.
 *
 * Entries that would look alike in the view are counted together; frames are interned, so that a
 * frame is an index and two equal indices print alike.
 */
#ifndef STACKTALLY_VIEW_PROFILE_H
#define STACKTALLY_VIEW_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/names.h"
#include "tally/tally.h"
#include "view/ends.h"

/* What walking user stacks by tables took; all 0 when there were none. */
struct profile_unwinding {
	uint64_t tables, rows, bytes;	   /* in the kernel at the end; of memory for them */
	uint64_t compiled, compile_ns;	   /* tables made from files, in this time of a CPU */
	uint64_t cached, cached_ns;	   /* tables loaded from disk, in this time */
	uint64_t waited, waited_completed; /* stacks walked to their end in user space */
};

/* What the measurement was, for headers and for formats that carry it. Strings are borrowed. */
struct profile_meta {
	const char *command;	  /* "profile" or "stackcount" */
	const char *command_line; /* as it would be typed into a shell; or NULL */
	const char *title;	  /* first line of a text report, without newline; or NULL */
	const char *event;	  /* "cycles", "cpu-clock", "t:sched:sched_switch" ... */
	uint64_t frequency;	  /* Hz; 0 when a period was given */
	uint64_t period;	  /* events a sample; 0 when a frequency was given */
	uint64_t start_time_ns;	  /* CLOCK_REALTIME */
	uint64_t duration_ns;	  /* measured */
	uint64_t hash_storage;	  /* --hash-storage-size as given, 0: not given */
	uint64_t stack_storage;
	const char *hostname, *kernel_release; /* or NULL */
	bool user, kernel;		       /* which stacks were captured */
	struct profile_unwinding unwinding;
};

/* What one sample stands for, ns of CPU time; 0 when it stands for something else. */
uint64_t profile_sample_ns(const struct profile_meta *meta);

enum profile_view_flags {
	PROFILE_VIEW_PROCESS = 1 << 0,	 /* processes apart: comm and tgid are part of an entry */
	PROFILE_VIEW_THREAD = 1 << 1,	 /* thread ids apart */
	PROFILE_VIEW_OFFSET = 1 << 2,	 /* offsets are shown: frames that differ in them differ */
	PROFILE_VIEW_ADDRESS = 1 << 3,	 /* addresses apart (--by-address, -A, -v) */
	PROFILE_VIEW_MODULE = 1 << 4,	 /* the module is shown */
	PROFILE_VIEW_CGROUP = 1 << 5,	 /* cgroups apart */
	PROFILE_VIEW_LINES = 1 << 6,	 /* file and line are shown */
	PROFILE_VIEW_COMM = 1 << 7,	 /* comms apart but not processes: folded output */
	PROFILE_VIEW_NO_USER = 1 << 8,	 /* -K: user stacks are left out and tell nothing apart */
	PROFILE_VIEW_NO_KERNEL = 1 << 9, /* -U */
	PROFILE_VIEW_INLINED = 1 << 10,	 /* inlined frames are marked: they differ from others */
	PROFILE_VIEW_UNNAMED = 1 << 11,	 /* frames without a name show their module */
	PROFILE_VIEW_OBJECT = 1 << 12,	 /* the mapped object is shown */
};

/* A frame as the view shows it; fields the view does not show are those of its first sight. */
struct profile_frame {
	struct names_frame is; /* strings belong to the names */
	uint64_t address;
};

struct profile_entry {
	uint64_t count;
	uint64_t cgroup;
	uint32_t tgid, tid;
	char comm[TALLY_COMM_SIZE];
	/* Frame indices, leaf first; NULL and 0 when there is no such stack. */
	const uint32_t *kernel, *user;
	uint32_t n_kernel, n_user;
	bool kernel_missed, user_missed; /* there was one, but it could not be stored */
	bool kernel_cut, user_cut;	 /* deeper than the depth limit */
	enum tally_end user_end;   /* why the walk of the user stack ended; where that is no end of
				      the   stack its last frame, NAMES_FRAME_UNWIND, says so */
	bool has_kernel, has_user; /* a stack was there (or missed) on that side */
};

struct profile {
	const struct profile_meta *meta;
	const struct tally_losses *losses;
	const struct names_object *objects;
	uint32_t n_objects;
	const struct names_cgroup *cgroups; /* ascending by id */
	uint32_t n_cgroups;
	const struct profile_frame *frames;
	uint32_t n_frames;
	const struct profile_entry
		*entries; /* ascending by count; ties in a stable, repeatable order */
	uint32_t n_entries;
	uint64_t total;		/* sum of the counts */
	uint64_t missed_sides;	/* kernel and user stacks, one for each entry of the tally, not
				   stored */
	uint64_t missed_counts; /* samples in them */
	struct ends ends;	/* how user stacks ended, shown or not */
	/* --diff: what this profile is compared with, made for the same view; or NULL. Borrowed. */
	const struct profile *base;
	struct profile_store *store;
};

/* A stack of a profile is cut here at the latest, with all its inlined functions. */
#define PROFILE_MAX_FRAMES 4096

/* Borrows everything it is given. 0 or a negative errno; what the view does not show is zero. */
int profile_build(const struct tally *tally, const struct names *names,
		  const struct profile_meta *meta, uint32_t view, struct profile *ret_profile);
void profile_clear(struct profile *profile);

/*
 * Frames of `base` of which nothing but the name is known, as reports of other programs have them,
 * become what a frame of that name is in `profile`: of that module, the kernel's, generated. 0 or
 * -ENOMEM.
 */
int profile_recognize(struct profile *base, const struct profile *profile);

/*
 * Stacks lie in memory as the tally first saw them and are printed by count: a writer that asks
 * for those of a few entries ahead need not wait for each.
 */
static inline void profile_prefetch(const struct profile *profile, uint32_t entry)
{
	const struct profile_entry *ahead;

	if (entry >= profile->n_entries)
		return;
	ahead = &profile->entries[entry];
	__builtin_prefetch(ahead->kernel);
	__builtin_prefetch(ahead->user);
	if (ahead->n_user > 16)
		__builtin_prefetch(ahead->user + 16);
}

/* Where the cgroup is in the cgroup file system, or NULL when nothing is known of it. */
const char *profile_cgroup_path(const struct profile *profile, uint64_t cgroup);

#endif
