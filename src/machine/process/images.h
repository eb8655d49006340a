/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Process images: which file was mapped where, in which process, when.
 *
 * An image is one state of one address space: its executable mappings. It is read from
 * /proc/PID/maps and kept up to date by the kernel's side-band records (mmap, exec, fork, exit;
 * sideband.h), which are applied in the order of their times. A mapping in a free place is added to
 * the current image of a process; one that replaces other code, every exec, and generated code that
 * may replace other begin a new image.
 * So an address in an image always means the same code.
 *
 * A file is identified when it is first met (file_identity.h). It is opened through map_files or
 * the root directory of a process that maps it, so files in other mount namespaces and deleted
 * files are found.
 *
 * Threads: one thread may learn. A second one may call what takes a const pointer, from
 * images_find() to images_open_jit(), if both hold images_lock() during every call and while they
 * use a mapping that was returned. Paths and names need no lock.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds; process ids are those of our own pid namespace.
 * Must not know: symbols, stacks, BPF.
 */
#ifndef STACKTALLY_PROCESS_IMAGES_H
#define STACKTALLY_PROCESS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "elf/load_segments.h"
#include "files/file_outline.h"
#include "files/mapped_file.h"
#include "tally/names.h"

#define IMAGE_NONE 0u /* the id of no image; in a tally also that of the kernel */

enum mapping_kind {
	MAPPING_FILE,	   /* of a file, which need not be ELF */
	MAPPING_ANONYMOUS, /* executable memory without a file: generated code */
	MAPPING_VDSO,
	MAPPING_SPECIAL, /* [vsyscall], [uprobes], [stack], [heap] ... */
};

struct mapping {
	uint64_t start, end; /* [start, end) in the address space */
	uint64_t offset;     /* of `start` in the file, in bytes */
	uint32_t file;	     /* for images_file(); only with MAPPING_FILE */
	enum mapping_kind kind;
	/*
	 * "[vdso]", "//anon" ...; for a file its path in the root of this process, with
	 * " (deleted)" where the kernel says so. Other processes may have it by other paths.
	 */
	const char *name;
};

struct images;

struct images_options {
	uint32_t hold_files; /* descriptors to hold of files that may be deleted; 0: a default */
};

/* `options` may be NULL. 0 or -ENOMEM. */
int images_new(const struct images_options *options, struct images **ret_images);
void images_free(struct images *images);

/* Sets the function that gives marks to each file which is met from now on. */
void images_set_marker(struct images *images, file_marker *marker);

/* Ends children that read files, where they hold memory (confined_retire()). */
void images_rest(struct images *images);

/* Not recursive. `images` may be NULL: nothing happens. */
void images_lock(const struct images *images);
void images_unlock(const struct images *images);

/*
 * Gives the image that process `tgid` had at `time`, when a stack of the `n` user `addresses` was
 * captured; IMAGE_NONE if the process has ended and left no trace. A process that is not known is
 * read from /proc at once. One whose mappings lack an address is read again, but not more often
 * than every 50 ms, or up to 10 s as long as reading it does not help.
 *
 * `cookie` identifies the state of the address space as BPF saw it (bpf/wire.h; 0: not known):
 * the same upper half means the same address space, the same cookie the same state of it.
 *
 * If side-band records are followed and `time` is later than the last drain, they are drained
 * first. 0 or -ENOMEM.
 */
int images_learn(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
		 const uint64_t *addresses, uint32_t n, uint32_t *ret_image);

/* The same without addresses. */
int images_at(struct images *images, pid_t tgid, uint64_t cookie, uint64_t time,
	      uint32_t *ret_image);

/*
 * Whether the address space that process `tgid` had at `time` has ended since, as the process did
 * or began another program. Of a process that is not known: whether it has ended.
 */
bool images_has_ended(const struct images *images, pid_t tgid, uint64_t time);

/*
 * The memory of the images that images_learn() gave, as they were then, in bytes. They are kept
 * until images_forget().
 */
uint64_t images_bytes(const struct images *images);
/* While they are full, images_learn() gives IMAGE_NONE for images that it has not given before. */
void images_set_full(struct images *images, bool full);

/*
 * Reads the processes that run now from /proc, so that they are known even if they end before
 * their first sample is drained. Stops after `budget_ns`; what is left is read when it is sampled.
 * 0 or -ENOMEM.
 */
int images_learn_running(struct images *images, uint64_t budget_ns);

/*
 * Gives the file that a descriptor, open for reading, stands for, though no process may have mapped
 * it yet. 0 or a negative errno: then it becomes known with its first mapping.
 */
int images_learn_file(struct images *images, int fd, uint32_t *ret_file);

/*
 * Drains the side-band records, if they are followed. Call it at least every 100 ms while busy
 * with something else, or the kernel's rings overflow. 0 or -ENOMEM.
 */
int images_drain(struct images *images);

/* The highest id of an image, plus one. */
uint32_t images_n(const struct images *images);

/*
 * Removes the images whose element of `ids` is 0 and renumbers the others; `ids`, of images_n()
 * elements, then has their new ids. [0] is ignored. Frees the past of processes that have ended.
 */
void images_forget(struct images *images, uint32_t *ids);

/*
 * Gives up the descriptors of files that no process has mapped for 10 s, at most once a second:
 * once the stacks so far are named, nothing will be asked of them. Until then, a file that was
 * deleted keeps its disk space.
 */
void images_release_files(struct images *images);

/*
 * The mapping of the image that contains the address, or NULL. Borrowed until something is
 * learned; its name, and files and their paths, are valid as long as `images`.
 */
const struct mapping *images_find(const struct images *images, uint32_t image, uint64_t address);

/* The process of an image; 0 for IMAGE_NONE. */
pid_t images_tgid(const struct images *images, uint32_t image);

uint32_t images_n_files(const struct images *images);
const struct mapped_file *images_file(const struct images *images, uint32_t file);

/*
 * The number that stands for the file: another one where a file that could not be opened at first
 * turned out to be the same.
 */
uint32_t images_file_resolved(const struct images *images, uint32_t file);
/* Whether the file could be opened once; if not, that may change. */
bool images_file_is_readable(const struct images *images, uint32_t file);

/*
 * Opens the very file that was mapped, checked against its identity. Returns a descriptor
 * (O_RDONLY, O_CLOEXEC) of a regular file or of a copy of it (file_opener.h), which the caller
 * closes; -ENOENT: it is gone; -ESTALE: another file has its path; -ETIMEDOUT: its file system
 * does not respond; or another negative errno.
 */
int images_open_file(const struct images *images, uint32_t file);

/*
 * Opens a regular file, or a copy of it, by its path in our own root, and gives the file's status.
 * Returns a descriptor or an error as images_open_file() does.
 */
int images_open_path(const struct images *images, const char *path, struct stat *ret_status);

/*
 * The same by its path in the root of the processes that have mapped a file, if all are in one,
 * which is not ours; else -ENOENT. What lies in a root is written by who runs there, and says
 * nothing of a file that processes of other roots have mapped, too: such a file is shared, and
 * stays so.
 */
int images_open_beside(const struct images *images, uint32_t file, const char *path,
		       struct stat *ret_status);
bool images_file_is_shared(const struct images *images, uint32_t file);

/*
 * The loadable segments of a file. 0; -ENOEXEC: it is not ELF, or a child could not read it; or an
 * error of images_open_file().
 */
int images_file_segments(const struct images *images, uint32_t file,
			 struct load_segments *ret_segments);

/* The files in which a process names its generated code. */
enum jit_file {
	JIT_FILE_PERF_MAP, /* /tmp/perf-PID.map */
	JIT_FILE_JITDUMP,  /* jit-PID.dump: mapped by the process, or in /tmp */
};

/*
 * Opens such a file as the process of the image wrote it: in its root directory, named after its
 * id in its own pid namespace; a regular file, owned by its user or by root. Returns a descriptor
 * as images_open_file() does; -EPERM: another user's.
 */
int images_open_jit(const struct images *images, uint32_t image, enum jit_file kind);

/*
 * The status of that file, without opening or copying it. 0 or as images_open_jit(); the status is
 * also set at -EPERM.
 */
int images_stat_jit(const struct images *images, uint32_t image, enum jit_file kind,
		    struct stat *ret_status);

/* The part of such a file that was written during an image. Plain data: it goes to a child. */
struct jit_window {
	uint64_t from, until;	    /* offsets in the file */
	uint64_t from_ns, until_ns; /* the same by time; 0, 0: not known */
};

/*
 * The window of an image, in the file that images_open_jit() gave as `fd`. All of the file is
 * before the image's end, and none during it, if the file has been written anew, or was not seen
 * yet.
 */
void images_jit_window(const struct images *images, uint32_t image, enum jit_file kind, int fd,
		       struct jit_window *ret_window);

/*
 * Looks at the files of the processes that were sampled, as they are at `now`. Where one has grown,
 * code may have been replaced: a new image of the process begins, so that addresses which are
 * sampled from `now` on are others. Bounded in time and in images; what is not done now, is done
 * by a later call. Gives the number of new images. 0 or -ENOMEM.
 */
int images_watch_jit(struct images *images, uint64_t now, uint32_t *ret_n);

/* Whether the process has another image since. */
bool images_jit_is_over(const struct images *images, uint32_t image);

/* All samples so far have been reported: what was named meanwhile matters no more. */
void images_reported_jit(struct images *images);

/*
 * Looks up the path of a cgroup while it exists, and the names of its container; `id` as from
 * bpf_get_current_cgroup_id(). 0 or -ENOMEM.
 */
int images_learn_cgroup(struct images *images, uint64_t id);

/* How many containers have no names by now because files of their runtimes did not respond. */
uint32_t images_n_late_containers(const struct images *images);

/*
 * Visits the cgroups that there are now, each before those below it; with `names`, those of their
 * containers are looked up. 0 or -ENOMEM.
 */
typedef void images_visit_cgroup(void *context, const struct names_cgroup *cgroup);
int images_walk_cgroups(struct images *images, bool names, images_visit_cgroup *visit,
			void *context);

/*
 * The cgroup, if its path in the cgroup file system is known, or NULL; valid as long as `images`,
 * its labels until the next call of a function of cgroups.
 */
const struct names_cgroup *images_cgroup(const struct images *images, uint64_t id);

/*
 * The mappings that a live process has now, ascending; NULL if nothing is known of it or it has
 * ended. Gives the image no id. Borrowed until something is learned.
 */
const struct mapping *images_current(const struct images *images, pid_t tgid, uint32_t *ret_n);

/* The mappings of an image, ascending; NULL for IMAGE_NONE. Borrowed until something is learned. */
const struct mapping *images_mappings(const struct images *images, uint32_t image, uint32_t *ret_n);

/*
 * Callbacks on changes. They run while something is learned, so they must not learn themselves;
 * they may call what takes a const pointer. Each may be NULL.
 */
struct images_watch {
	/* images_current() of the process has changed. */
	void (*changed)(void *context, pid_t tgid);
	/* `child` has the mappings of `parent`. */
	void (*forked)(void *context, pid_t child, pid_t parent);
	/* The process has ended; its id may be reused. */
	void (*ended)(void *context, pid_t tgid);
	void *context;
};

/* Sets the one watch, which is copied; NULL removes it. What is known already is not reported. */
void images_set_watch(struct images *images, const struct images_watch *watch);

/* Calls `each` for every live process that something is known of. */
void images_each(const struct images *images, void (*each)(void *context, pid_t tgid),
		 void *context);

/* What could not be learned; counts since images_new(). */
struct images_losses {
	uint64_t processes_gone; /* ended before their mappings could be read */
	uint64_t side_band_lost; /* records that the kernel dropped or that could not be parsed */
	uint64_t mappings_cut;	 /* of processes with more than can be kept */
	uint64_t files_unreadable;
};
const struct images_losses *images_losses(const struct images *images);

/*
 * The path of a file that did not respond in time, untrusted text, and how many did not; NULL: all
 * did.
 */
const char *images_late_file(const struct images *images, uint32_t *ret_n);

/* What is kept now. */
struct images_size {
	uint32_t spaces;   /* address spaces: of processes that run or have ended recently */
	uint32_t sampled;  /* images with an id */
	uint64_t mappings; /* in all of them; shared ones count once */
	uint32_t files;
	uint32_t files_held; /* descriptors */
};
void images_size(const struct images *images, struct images_size *ret_size);

#endif
