/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Worlds: which file was mapped where, in which process, when.
 *
 * A world is one state of one address space. It is learned from a snapshot of /proc/PID/maps and
 * from the kernel's side-band records (mmap, exec, fork, exit), in the order of their times. New
 * mappings in free places are added to the current world of a process; one that replaces other
 * code, and every exec, begins a new world. So an address in a world never means two things.
 *
 * Files are identified while they can be: by build-id, else by device, inode, size and times; they
 * are opened through the process's own root, or its map_files, so that other mount namespaces and
 * deleted files work.
 *
 * Must not know: symbols, stacks, BPF.
 *
 * Used by one thread, or by two of which the other only asks (worlds_find() to worlds_open_jit()):
 * then each holds worlds_lock() while it does, and as long as it uses a mapping. Files, names and
 * paths it may keep.
 */
#ifndef STACKTALLY_PROCESS_WORLDS_H
#define STACKTALLY_PROCESS_WORLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define WORLD_NONE    0u /* no world: its addresses have no mappings. Also the tally's kernel id. */
#define BUILD_ID_SIZE 20

enum mapping_kind {
	MAPPING_FILE,	   /* an ELF file, or what claims to be one */
	MAPPING_ANONYMOUS, /* executable memory without a file: generated code */
	MAPPING_VDSO,
	MAPPING_SPECIAL, /* [vsyscall], [uprobes], [stack], [heap] ... */
};

struct mapping {
	uint64_t start, end; /* [start, end) in the process */
	uint64_t offset;     /* in the file, of start */
	uint32_t file;	     /* id for worlds_file(); meaningless unless MAPPING_FILE */
	enum mapping_kind kind;
	/*
	 * "[vdso]", "//anon" ...; for files the path as this process has it, with " (deleted)"
	 * where the kernel says so: another process may have the same file by another path.
	 */
	const char *name;
};

/* A file that code was mapped from, one for each identity, shared by all processes. */
struct mapped_file {
	const char *path; /* as the process that mapped it first saw it */
	uint64_t device, inode, generation;
	uint64_t size; /* bytes; 0 where it could not be looked at */
	int64_t mtime_ns;
	uint32_t build_id_size; /* 0: none known */
	uint8_t build_id[BUILD_ID_SIZE];
	bool deleted; /* its path was gone, or another file's, when it was captured */
};

struct worlds;

/* How much of a machine to learn about. */
struct worlds_options {
	uint32_t hold_files; /* descriptors held open for files that may go away; 0: a default */
};

int worlds_new(const struct worlds_options *options, struct worlds **ret_worlds);
void worlds_free(struct worlds *worlds);

/* Cheap when nobody else holds it. Not to be taken twice. NULL is no worlds: nothing happens. */
void worlds_lock(const struct worlds *worlds);
void worlds_unlock(const struct worlds *worlds);

/*
 * The world that process `tgid` (an id of our own pid namespace) was in at `time`
 * (CLOCK_MONOTONIC, ns), when it was seen with a stack of these user addresses. `cookie` is the
 * kernel side's mark of its address space (bpf/wire.h; 0: not told): equal cookies of one process
 * mean one address space in one state, equal upper halves one address space. A process that is not
 * known yet is captured from /proc at once; one whose mappings lack an address (a library was
 * loaded since) is looked at again, but not more often than is cheap. Gives WORLD_NONE for one
 * that is gone without a trace. Returns 0 or -ENOMEM.
 *
 * Asks the kernel's records first (process/sideband.h), if they are followed, when `time` is
 * later than what was drained of them.
 */
int worlds_learn(struct worlds *worlds, pid_t tgid, uint64_t cookie, uint64_t time,
		 const uint64_t *addresses, uint32_t n, uint32_t *ret_world);

/* The same without addresses. */
int worlds_at(struct worlds *worlds, pid_t tgid, uint64_t cookie, uint64_t time,
	      uint32_t *ret_world);

/*
 * Captures the processes that run now, so that they are known even if they end before their first
 * sample is drained. Stops after `budget_ns`; what is left is captured at first sight. 0 or
 * -ENOMEM.
 */
int worlds_learn_running(struct worlds *worlds, uint64_t budget_ns);

/*
 * Takes what the kernel's records tell, if they are followed: to be called at least every 100 ms
 * by who does something else for longer. 0 or -ENOMEM.
 */
int worlds_keep_up(struct worlds *worlds);

/* One more than the highest id of a world. */
uint32_t worlds_n(const struct worlds *worlds);

/*
 * Forgets the worlds that are marked 0 in `ids`, which has worlds_n() elements, and with them the
 * past of processes that have ended; gives the others new ids, which `ids` has then. [0] stays.
 */
void worlds_forget(struct worlds *worlds, uint32_t *ids);

/*
 * The mapping that contains the address in that world, or NULL. Valid until something is learned
 * again; its name, and files and their paths, live as long as the worlds.
 */
const struct mapping *worlds_find(const struct worlds *worlds, uint32_t world, uint64_t address);

/* The process a world belongs to; 0 for WORLD_NONE. */
pid_t worlds_tgid(const struct worlds *worlds, uint32_t world);

uint32_t worlds_n_files(const struct worlds *worlds);
const struct mapped_file *worlds_file(const struct worlds *worlds, uint32_t file);

/*
 * A descriptor (O_RDONLY, O_CLOEXEC) of the very file that was mapped, checked against its
 * identity: a regular file, never a FIFO or device, never another file that took its path. The
 * caller closes it. Returns the descriptor or a negative errno (-ENOENT gone, -ESTALE another file
 * is there now).
 */
int worlds_open_file(const struct worlds *worlds, uint32_t file);

/*
 * A descriptor of /tmp/perf-PID.map (`kind` "map") or jit-PID.dump ("dump") as the process of
 * that world wrote it: in its own root and pid namespace, owned by its user or by root, a regular
 * file. Or a negative errno.
 */
int worlds_open_jit(const struct worlds *worlds, uint32_t world, const char *kind);

/*
 * Looks up where a cgroup is, while it is there; `id` as bpf_get_current_cgroup_id() tells. 0 or
 * -ENOMEM.
 */
int worlds_learn_cgroup(struct worlds *worlds, uint64_t id);

/* Its path in the cgroup file system, or NULL; lives as long as the worlds. */
const char *worlds_cgroup(const struct worlds *worlds, uint64_t id);

/*
 * What a live process has mapped for execution, as far as it is known now, ascending; NULL when
 * nothing is known of it (yet) or it has ended. Valid until something is learned again. Does not
 * make the process one that was asked for.
 */
const struct mapping *worlds_current(const struct worlds *worlds, pid_t tgid, uint32_t *ret_n);

/*
 * What was mapped for execution in a world, ascending; NULL for WORLD_NONE. Valid until something
 * is learned again.
 */
const struct mapping *worlds_mappings(const struct worlds *worlds, uint32_t world, uint32_t *ret_n);

/*
 * Who wants to hear what changes. Called while something is learned or told: what is called must
 * not learn, but may look and note. `changed`: worlds_current() of the process gives something
 * else now. `forked`: `child` has what `parent` has. `ended`: its id is free again.
 */
struct worlds_watch {
	void (*changed)(void *context, pid_t tgid);
	void (*forked)(void *context, pid_t child, pid_t parent);
	void (*ended)(void *context, pid_t tgid);
	void *context;
};

/* One watcher, copied; NULL ends it. It does not hear of what is known already. */
void worlds_set_watch(struct worlds *worlds, const struct worlds_watch *watch);

/* Calls `each` for every live process that something is known of. */
void worlds_each(const struct worlds *worlds, void (*each)(void *context, pid_t tgid),
		 void *context);

/* What could not be learned: for the report's accounting. */
struct worlds_losses {
	uint64_t processes_gone; /* ended before their mappings could be read */
	uint64_t side_band_lost; /* records the kernel dropped, or that could not be parsed */
	uint64_t mappings_cut;	 /* of a process that has more than are kept */
	uint64_t files_unreadable;
};
const struct worlds_losses *worlds_losses(const struct worlds *worlds);

/* What is kept. */
struct worlds_size {
	uint32_t spaces;   /* address spaces: of processes that run, that ended not long ago, ... */
	uint32_t asked;	   /* ... and states of those that were asked for, which stay */
	uint64_t mappings; /* in all of them; shared ones count once */
	uint32_t files;
	uint32_t files_held; /* open */
};
void worlds_size(const struct worlds *worlds, struct worlds_size *ret_size);

#endif
