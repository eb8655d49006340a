/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images: which file was mapped where, in which process, when.
 *
 * A image is one state of one address space. It is learned from a snapshot of /proc/PID/maps and
 * from the kernel's side-band records (mmap, exec, fork, exit), in the order of their times. New
 * mappings in free places are added to the current image of a process; one that replaces other
 * code, and every exec, begins a new image. So an address in a image never means two things.
 *
 * Files are identified while they can be: by build-id, else by device, inode, size and times; they
 * are opened through the process's own root, or its map_files, so that other mount namespaces and
 * deleted files work.
 *
 * Must not know: symbols, stacks, BPF.
 *
 * Used by one thread, or by two of which the other only asks (images_find() to images_open_jit()):
 * then each holds images_lock() while it does, and as long as it uses a mapping. Files, names and
 * paths it may keep.
 */
#ifndef STACKTALLY_PROCESS_IMAGES_H
#define STACKTALLY_PROCESS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define IMAGE_NONE    0u /* no image: its addresses have no mappings. Also the tally's kernel id. */
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
	uint32_t file;	     /* id for images_file(); meaningless unless MAPPING_FILE */
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

struct images;

/* How much of a machine to learn about. */
struct images_options {
	uint32_t hold_files; /* descriptors held open for files that may go away; 0: a default */
};

int images_new(const struct images_options *options, struct images **ret_images);
void images_free(struct images *images);

/* Cheap when nobody else holds it. Not to be taken twice. NULL is no images: nothing happens. */
void images_lock(const struct images *images);
void images_unlock(const struct images *images);

/*
 * The image that process `tgid` (an id of our own pid namespace) was in at `time`
 * (CLOCK_MONOTONIC, ns), when it was seen with a stack of these user addresses. `cookie` is the
 * kernel side's mark of its address space (bpf/wire.h; 0: not told): equal cookies of one process
 * mean one address space in one state, equal upper halves one address space. A process that is not
 * known yet is captured from /proc at once; one whose mappings lack an address (a library was
 * loaded since) is looked at again, but not more often than is cheap. Gives IMAGE_NONE for one
 * that is gone without a trace. Returns 0 or -ENOMEM.
 *
 * Asks the kernel's records first (process/sideband.h), if they are followed, when `time` is
 * later than what was drained of them.
 */
int images_learn(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
		 const uint64_t *addresses, uint32_t n, uint32_t *ret_image);

/* The same without addresses. */
int images_at(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
	      uint32_t *ret_image);

/*
 * Captures the processes that run now, so that they are known even if they end before their first
 * sample is drained. Stops after `budget_ns`; what is left is captured at first sight. 0 or
 * -ENOMEM.
 */
int images_learn_running(struct images *images, uint64_t budget_ns);

/*
 * Takes what the kernel's records tell, if they are followed: to be called at least every 100 ms
 * by who does something else for longer. 0 or -ENOMEM.
 */
int images_keep_up(struct images *images);

/* One more than the highest id of a image. */
uint32_t images_n(const struct images *images);

/*
 * Forgets the images that are marked 0 in `ids`, which has images_n() elements, and with them the
 * past of processes that have ended; gives the others new ids, which `ids` has then. [0] stays.
 */
void images_forget(struct images *images, uint32_t *ids);

/*
 * The mapping that contains the address in that image, or NULL. Valid until something is learned
 * again; its name, and files and their paths, live as long as the images.
 */
const struct mapping *images_find(const struct images *images, uint32_t image, uint64_t address);

/* The process a image belongs to; 0 for IMAGE_NONE. */
pid_t images_tgid(const struct images *images, uint32_t image);

uint32_t images_n_files(const struct images *images);
const struct mapped_file *images_file(const struct images *images, uint32_t file);

/*
 * A descriptor (O_RDONLY, O_CLOEXEC) of the very file that was mapped, checked against its
 * identity: a regular file, never a FIFO or device, never another file that took its path. The
 * caller closes it. Returns the descriptor or a negative errno (-ENOENT gone, -ESTALE another file
 * is there now).
 */
int images_open_file(const struct images *images, uint32_t file);

/*
 * A descriptor of /tmp/perf-PID.map (`kind` "map") or jit-PID.dump ("dump") as the process of
 * that image wrote it: in its own root and pid namespace, owned by its user or by root, a regular
 * file. Or a negative errno.
 */
int images_open_jit(const struct images *images, uint32_t image, const char *kind);

/*
 * Looks up where a cgroup is, while it is there; `id` as bpf_get_current_cgroup_id() tells. 0 or
 * -ENOMEM.
 */
int images_learn_cgroup(struct images *images, uint64_t id);

/* Its path in the cgroup file system, or NULL; lives as long as the images. */
const char *images_cgroup(const struct images *images, uint64_t id);

/*
 * What a live process has mapped for execution, as far as it is known now, ascending; NULL when
 * nothing is known of it (yet) or it has ended. Valid until something is learned again. Does not
 * make the process one that was asked for.
 */
const struct mapping *images_current(const struct images *images, pid_t tgid, uint32_t *ret_n);

/*
 * What was mapped for execution in a image, ascending; NULL for IMAGE_NONE. Valid until something
 * is learned again.
 */
const struct mapping *images_mappings(const struct images *images, uint32_t image, uint32_t *ret_n);

/*
 * Who wants to hear what changes. Called while something is learned or told: what is called must
 * not learn, but may look and note. `changed`: images_current() of the process gives something
 * else now. `forked`: `child` has what `parent` has. `ended`: its id is free again.
 */
struct images_watch {
	void (*changed)(void *context, pid_t tgid);
	void (*forked)(void *context, pid_t child, pid_t parent);
	void (*ended)(void *context, pid_t tgid);
	void *context;
};

/* One watcher, copied; NULL ends it. It does not hear of what is known already. */
void images_set_watch(struct images *images, const struct images_watch *watch);

/* Calls `each` for every live process that something is known of. */
void images_each(const struct images *images, void (*each)(void *context, pid_t tgid),
		 void *context);

/* What could not be learned: for the report's accounting. */
struct images_losses {
	uint64_t processes_gone; /* ended before their mappings could be read */
	uint64_t side_band_lost; /* records the kernel dropped, or that could not be parsed */
	uint64_t mappings_cut;	 /* of a process that has more than are kept */
	uint64_t files_unreadable;
};
const struct images_losses *images_losses(const struct images *images);

/* What is kept. */
struct images_size {
	uint32_t spaces;   /* address spaces: of processes that run, that ended not long ago, ... */
	uint32_t asked;	   /* ... and states of those that were asked for, which stay */
	uint64_t mappings; /* in all of them; shared ones count once */
	uint32_t files;
	uint32_t files_held; /* open */
};
void images_size(const struct images *images, struct images_size *ret_size);

#endif
