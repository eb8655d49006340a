/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of a tally's addresses: plain data, filled by the symbolizer or loaded from a
 * recording. Tally and names are all that a report needs. Knows nothing of processes, ELF or
 * formats.
 *
 * Each address has one frame, or several where functions were inlined: the innermost comes first,
 * and the last one is the function that exists as code. An address takes 12 bytes: frames that
 * differ in their offset only share the rest.
 *
 * Used by one thread at a time. Functions that return int give 0 or a negative errno.
 */
#ifndef STACKTALLY_TALLY_NAMES_H
#define STACKTALLY_TALLY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

#define NAMES_BUILD_ID_SIZE 20
#define NAMES_NONE	    UINT32_MAX
#define NAMES_MAX_INLINED   256 /* frames of one address; more are refused with -E2BIG */

/* Values are part of the recording format. */
enum names_frame_flags {
	NAMES_FRAME_KERNEL = 1 << 0,
	NAMES_FRAME_INLINED = 1 << 1, /* inlined into the next frame of the same address */
	NAMES_FRAME_JIT = 1 << 2,     /* generated code: perf map, jitdump, anonymous memory */
	NAMES_FRAME_CHAINED = 1 << 3, /* as TALLY_ADDRESS_CHAINED */
	NAMES_FRAME_UNWIND = 1 << 4,  /* no function: the reason why the stack is not complete */
	/* No symbol: the name is "[FILE+0xSTART]", or "[FILE]" if no start of a function is known.
	 */
	NAMES_FRAME_IDENTITY = 1 << 5,
	/* No function: why a thread was off the CPU, blocked or waiting for a CPU. */
	NAMES_FRAME_BLOCKED = 1 << 8,
	NAMES_FRAME_WAITING = 1 << 9,
};

struct names_frame {
	const char *name;	  /* demangled; NULL when no symbol contains the address */
	const char *linkage_name; /* as in the symbol table, if it differs from name; else NULL */
	const char *module;	  /* "[kernel]", "[ext4]", "libc.so.6", "[vdso]"; NULL if nothing is
				     mapped there */
	const char *file;	  /* source file, or NULL */
	/* From the start of the symbol, bytes; 0 without name or if a cold part is before it. */
	uint64_t offset;
	uint64_t base;	 /* in the object's own addresses: where offset counts from; 0 unknown */
	uint32_t line;	 /* in file, from 1; 0 unknown */
	uint32_t object; /* index of the mapped object, or NAMES_NONE */
	uint16_t flags;	 /* enum names_frame_flags */
	/* enum language: a function of an interpreted program, or why it is not known; else 0. */
	uint8_t language;
};

/* A file that code was mapped from: a Mapping in pprof's terms. */
struct names_object {
	const char *path;    /* in the process's mount namespace; "[kernel.kallsyms]", "[vdso]" */
	uint64_t start, end; /* of its mapping in one of the processes */
	uint64_t offset;     /* in the file, of start */
	uint64_t bias; /* of start to the file's own address, modulo 2^64; 0 unless asked for */
	uint32_t build_id_size; /* 0..NAMES_BUILD_ID_SIZE */
	uint8_t build_id[NAMES_BUILD_ID_SIZE];
	uint64_t device, inode; /* 0 where there is no file */
};

/* The frames of one address: names_frame indices [first, first + n), n >= 1. */
struct names_address {
	uint32_t first;
	uint32_t n;
};

/* What else is known by name of what runs in a cgroup, as OpenTelemetry's attributes have it. */
struct names_label {
	const char *key, *value; /* "container.name", "web" */
};

#define NAMES_MAX_LABELS 16 /* of a cgroup */

/* Keys of labels that runtimes tell of their containers. */
#define LABEL_CONTAINER_ID   "container.id"
#define LABEL_CONTAINER_NAME "container.name"
#define LABEL_IMAGE	     "container.image.name"
#define LABEL_POD	     "k8s.pod.name"
#define LABEL_NAMESPACE	     "k8s.namespace.name"
#define LABEL_POD_UID	     "k8s.pod.uid"
#define LABEL_POD_CONTAINER  "k8s.container.name"

/* A cgroup: its path below the root of the cgroup file system ("/system.slice/x"), and labels. */
struct names_cgroup {
	uint64_t id;
	const char *path;
	const struct names_label *labels;
	uint32_t n_labels;
};

/* What the kernel called the first thread of a process, when its stacks were named. */
struct names_process {
	uint32_t tgid;
	const char *comm; /* untrusted */
};

/* The element with this id of an array that ascends by id, or NULL. */
const struct names_cgroup *names_cgroup_by_id(const struct names_cgroup *cgroups, uint32_t n,
					      uint64_t id);
/* The same of processes. */
const struct names_process *names_process_by_tgid(const struct names_process *processes, uint32_t n,
						  uint32_t tgid);
/* The value of a label, or NULL. `cgroup` may be NULL. */
const char *names_cgroup_label(const struct names_cgroup *cgroup, const char *key);

struct names;

int names_new(struct names **ret_names);
void names_free(struct names *names);
/* Removes everything, strings included. -ENOMEM: nothing has changed. */
int names_clear(struct names *names);

/* A copy of the string that lives as long as `names`, one for equal strings. NULL: no memory. */
const char *names_string(struct names *names, const char *string);

/* Takes a reference to the pool, so that its strings may be used without names_string(). */
int names_share_strings(struct names *names, struct pool *pool);

/*
 * This and names_add_address() copy what they are given, except the strings, which must come from
 * names_string() or from a shared pool.
 */
int names_add_object(struct names *names, const struct names_object *object, uint32_t *ret_index);
/* The frames of the next address: the i-th call, from 0, names the address of id i. */
int names_add_address(struct names *names, const struct names_frame *frames, uint32_t n);
/* Gives an address that has one frame another one. -EINVAL: it has not. */
int names_replace_frame(struct names *names, uint32_t address, const struct names_frame *frame);
/*
 * A cgroup, which is copied with its strings. What came first with an id stays, but for its labels
 * if there are more of them now.
 */
int names_add_cgroup(struct names *names, const struct names_cgroup *cgroup);

/* A process, which is copied with its string; what came last with a tgid stays. */
int names_add_process(struct names *names, const struct names_process *process);

uint32_t names_n_addresses(const struct names *names);
uint32_t names_n_frames(const struct names *names);
uint32_t names_n_objects(const struct names *names);
/* The frames of an address id, and the frame of a frame index. */
struct names_address names_address(const struct names *names, uint32_t address);
struct names_frame names_frame(const struct names *names, uint32_t frame);
const struct names_object *names_objects(const struct names *names);
/* Ascending by id. */
uint32_t names_n_cgroups(const struct names *names);
const struct names_cgroup *names_cgroups(const struct names *names);
/* Ascending by tgid. */
uint32_t names_n_processes(const struct names *names);
const struct names_process *names_processes(const struct names *names);

#endif
