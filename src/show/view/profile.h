/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile: a tally and its names, merged for one view. All writers print profiles.
 *
 * A view is a set of properties that are shown. Entries that differ in no shown property are
 * counted together, and frames are interned: frames with equal indices print alike.
 */
#ifndef STACKTALLY_VIEW_PROFILE_H
#define STACKTALLY_VIEW_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/names.h"
#include "tally/tally.h"
#include "tally/thread_list.h"
#include "view/ends.h"
#include "view/frame_filter.h"
#include "view/scale.h"

/* The cost of the unwinding tables; all 0 if there were none. */
struct profile_unwinding {
	uint64_t tables, rows, bytes;	   /* in the kernel at the end */
	uint64_t compiled, compile_ns;	   /* tables compiled from files, and their CPU time */
	uint64_t cached, cached_ns;	   /* tables loaded from disk, and their time */
	uint64_t waited, waited_completed; /* walks finished in user space; complete ones */
};

/* What a tally and its names hold beyond comms, stacks and counts. */
struct profile_details {
	bool processes;	     /* ids of processes; text of other programs has none */
	bool threads;	     /* threads were kept apart, with their ids */
	bool cgroups;	     /* so were cgroups */
	bool idle;	     /* events of idle CPUs were counted */
	bool inlines, lines; /* inlined functions, source lines were looked up */
};

/* The facts of a measurement. Strings are borrowed. */
struct profile_meta {
	const char *command;	  /* "profile" or "stackcount" */
	const char *command_line; /* quoted for a shell; or NULL */
	const char *title;	  /* first line of a text report, without newline; or NULL */
	const char *event;	  /* "cycles", "cpu-clock", "t:sched:sched_switch" ... */
	uint64_t frequency;	  /* Hz; 0 if a period was given */
	uint64_t period;	  /* events per sample; 0 if a frequency was given */
	uint64_t start_time_ns;	  /* CLOCK_REALTIME */
	uint64_t duration_ns;	  /* measured */
	uint64_t hash_storage;	  /* --hash-storage-size; 0: not given */
	uint64_t stack_storage;	  /* --stack-storage-size; 0: not given */
	const char *hostname, *kernel_release; /* or NULL */
	const char *scope;  /* "all threads", "PID 7", "'make'"; NULL: not known */
	const char *filter; /* further conditions: "CPU 3, threads named x*"; NULL: none, or not
			       known */
	bool user, kernel;  /* which stacks were captured */
	bool timed;	    /* counts are ns of threads: off the CPU, ... */
	bool wall;	    /* ... and, with `timed`, on one: sampled */
	bool summed;	    /* counts are sums of `measure`, and entries tell of how many events */
	/* What another program counted ("alloc_space"), or of what counts are sums ("bytes_req"),
	 * and its unit ("bytes"); NULL: samples or events, or time if `timed`. Untrusted text. */
	const char *measure, *unit;
	/* --dump: all threads, one entry for each that has a stack; else NULL. */
	const struct thread_list *threads;
	struct profile_details has;
	struct profile_unwinding unwinding;
};

#define PROFILE_SCOPE_ALL "all threads"

/* Whether all threads of the machine were measured. */
bool profile_is_of_all(const struct profile_meta *meta);

/* Sets each detail that occurs in the tally or its names. */
void profile_find_details(const struct tally *tally, const struct names *names,
			  struct profile_details *ret_details);

/* The time that a count of one stands for, in ns: of a CPU, or with `timed` of a thread; 0 if
 * samples do not stand for time. */
uint64_t profile_sample_ns(const struct profile_meta *meta);

enum profile_view_flags {
	PROFILE_VIEW_PROCESS = 1 << 0,	 /* comm and tgid are shown */
	PROFILE_VIEW_THREAD = 1 << 1,	 /* thread ids are shown */
	PROFILE_VIEW_OFFSET = 1 << 2,	 /* offsets in functions are shown */
	PROFILE_VIEW_ADDRESS = 1 << 3,	 /* addresses are shown (--by-address, -A, -v) */
	PROFILE_VIEW_MODULE = 1 << 4,	 /* the module is shown */
	PROFILE_VIEW_CGROUP = 1 << 5,	 /* cgroups are shown */
	PROFILE_VIEW_LINES = 1 << 6,	 /* file and line are shown */
	PROFILE_VIEW_COMM = 1 << 7,	 /* comms are shown, tgids are not: folded output */
	PROFILE_VIEW_NO_USER = 1 << 8,	 /* -K: user stacks are not shown */
	PROFILE_VIEW_NO_KERNEL = 1 << 9, /* -U: kernel stacks are not shown */
	PROFILE_VIEW_INLINED = 1 << 10,	 /* inlined frames are marked as such */
	PROFILE_VIEW_UNNAMED = 1 << 11,	 /* frames without a name show their module */
	PROFILE_VIEW_OBJECT = 1 << 12,	 /* the mapped object is shown */
	/* Functions without a symbol have no name, and those of one file are one. */
	PROFILE_VIEW_NO_IDENTITY = 1 << 13,
	PROFILE_VIEW_ENTRY_OF = 1 << 14, /* the profile has `entry_of` */
	PROFILE_VIEW_SCRIPT_FILES = 1
				    << 15, /* files of interpreted programs' functions are shown */
	/* Waits that began before the measurement have a leaf of their own, and not [blocked]. */
	PROFILE_VIEW_ASLEEP = 1 << 16,
	PROFILE_VIEW_AWAKE = 1 << 17, /* entries of such waits are left out */
};

/* An interned frame. Properties that are not shown are those of the first frame of its kind. */
struct profile_frame {
	struct names_frame is; /* its strings are the names' */
	uint64_t address;
};

/* The most frames of a stack in a profile, inlined functions included; longer ones are cut. */
#define PROFILE_MAX_FRAMES 4096

/*
 * An entry with its stacks, as profile_read() gives it: 32 KB, of which the longest stacks need
 * all. Only the frames of the stacks that were read are set in `room`.
 */
struct profile_entry {
	const struct tally_entry *is; /* its count, process, thread and cgroup */
	/* Frame indices, leaf first; NULL and 0 if there is no such stack. */
	const uint32_t *kernel, *user;
	uint32_t n_kernel, n_user;
	bool kernel_missed, user_missed; /* the stack was not stored: TALLY_STACK_MISSED */
	bool kernel_cut, user_cut;	 /* deeper than the depth limit */
	/* If the walk ended early, the last frame, NAMES_FRAME_UNWIND, names this reason. */
	enum tally_end user_end;
	bool has_kernel, has_user; /* the event had such a stack, stored or missed */
	uint32_t room[2][PROFILE_MAX_FRAMES];
};

struct profile {
	const struct profile_meta *meta;
	const char *caption; /* --title: in place of the command line in titles; or NULL */
	const struct tally_losses *losses;
	const struct names_object *objects;
	uint32_t n_objects;
	const struct names_cgroup *cgroups; /* ascending by id */
	uint32_t n_cgroups;
	const struct names_process *processes; /* whose names are known; ascending by tgid */
	uint32_t n_processes;
	const struct profile_frame *frames;
	uint32_t n_frames;
	/* Ascending by count; ties in the tally's order. Their stack ids are for profile_read(). */
	const struct tally_entry *entries;
	uint32_t n_entries;
	/* The entry that each entry of the tally is in, PROFILE_NO_ENTRY if it is left out; or
	 * NULL.
	 */
	const uint32_t *entry_of;
	uint64_t total, events; /* sums of the counts, and of the events */
	/* Counts of entries that the filter leaves out, and that PROFILE_VIEW_AWAKE does. */
	uint64_t left_out, asleep;
	/* Those of waits that began before the measurement, where the view shows them as others. */
	uint64_t as_others;
	const struct frame_filter *filter; /* borrowed; or NULL */
	uint64_t missed_sides;	/* kernel and user stacks that were not stored, by tally entry */
	uint64_t missed_counts; /* samples of entries with a missed stack */
	struct ends ends;	/* of all user stacks, shown or not */
	/* --diff: the profile to compare with, built for the same view; or NULL. Borrowed. */
	const struct profile *base;
	const char *base_name;	 /* its file; or NULL */
	struct scale base_scale; /* of the base's counts; of no meaning without a base */
	struct profile_store *store;
};

/* In place of an entry's number. */
#define PROFILE_NO_ENTRY UINT32_MAX

/*
 * Merges the tally for a view of PROFILE_VIEW_* flags. Borrows all its arguments; `filter` may be
 * NULL. Properties of entries that the view does not show are 0. The profile keeps no copy of the
 * tally's stacks: profile_read() reads them there. 0 or a negative errno; profile_clear() the
 * result.
 */
int profile_build(const struct tally *tally, const struct names *names,
		  const struct profile_meta *meta, uint32_t view, const struct frame_filter *filter,
		  struct profile *ret_profile);
void profile_clear(struct profile *profile);

/*
 * Gives each frame of `base` that has a name only, because another program's report was imported,
 * the module and flags of the frame of that name in `profile`. 0 or -ENOMEM.
 */
int profile_recognize(struct profile *base, const struct profile *profile);

/* Reads the stacks of one of `entries`. Borrows from the profile and from *ret_entry itself. */
void profile_read(const struct profile *profile, const struct tally_entry *entry,
		  struct profile_entry *ret_entry);

/*
 * Prefetches the stacks of the entries some places behind this one. Writers call it for each entry
 * in turn, because entries are in the order of their counts and stacks in that of the tally.
 */
void profile_prefetch(const struct profile *profile, uint32_t entry);

/* The cgroup with this id, or NULL if it is not known. */
const struct names_cgroup *profile_cgroup(const struct profile *profile, uint64_t id);

#endif
