/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the addresses of a tally are called: plain data, filled by the symbolizer or loaded from
 * a recording, and all that a report needs besides the tally. Knows nothing of processes, ELF or
 * formats.
 *
 * A million addresses take 12 bytes each: what frames have in common but the offset is kept once,
 * and they are put together when they are asked for.
 *
 * Each address has one frame, or several where functions were inlined: then the innermost comes
 * first and the last one is the function that exists as code.
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

enum names_frame_flags {
	NAMES_FRAME_KERNEL = 1 << 0,
	NAMES_FRAME_INLINED = 1 << 1, /* inlined into the next frame of the same address */
	NAMES_FRAME_JIT = 1 << 2,     /* generated code: perf map, jitdump, anonymous memory */
	NAMES_FRAME_CHAINED =
		1 << 3, /* found by frame pointer, for want of call frame information */
	NAMES_FRAME_UNWIND = 1 << 4, /* no function: why the stack below it is not complete */
};

struct names_frame {
	const char *name;	  /* demangled; NULL when no symbol contains the address */
	const char *linkage_name; /* as in the symbol table, when it differs from name; else NULL */
	const char *module; /* "[kernel]", "[ext4]", "libc.so.6", "[vdso]"; NULL when nothing is
			       mapped there */
	const char *file;   /* source file, or NULL */
	uint64_t offset;    /* from the start of the symbol, bytes; 0 without name */
	uint32_t line;	    /* in file, from 1; 0 unknown */
	uint32_t object;    /* index of the mapped object, or NAMES_NONE */
	uint32_t flags;	    /* enum names_frame_flags */
};

/* A file that code was mapped from: what pprof calls a mapping. */
struct names_object {
	const char *path;	/* as the process saw it; "[kernel.kallsyms]", "[vdso]" */
	uint64_t start, end;	/* where it was mapped, in one of the processes that did */
	uint64_t offset;	/* in the file, of start */
	uint32_t build_id_size; /* 0..NAMES_BUILD_ID_SIZE */
	uint8_t build_id[NAMES_BUILD_ID_SIZE];
	uint64_t device, inode; /* 0 where there is no file */
};

/* The frames of one address: names_frame indices [first, first + n), n >= 1. */
struct names_address {
	uint32_t first;
	uint32_t n;
};

/* Where a cgroup id was found, below the root of the cgroup file system: "/system.slice/x". */
struct names_cgroup {
	uint64_t id;
	const char *path;
};

struct names;

int names_new(struct names **ret_names);
void names_free(struct names *names);
/* Forgets all; strings and objects are gone. 0 or -ENOMEM, then nothing has changed. */
int names_clear(struct names *names);

/* A copy of the string that lives as long as `names`; equal strings share it. NULL: no memory. */
const char *names_string(struct names *names, const char *string);

/*
 * Strings of this pool may be used without names_string(): `names` shares it from now on. 0 or
 * -ENOMEM.
 */
int names_share_strings(struct names *names, struct pool *pool);

/* Both copy what they are given but not the strings: take those from names_string(), or a
 * pool that is shared. */
int names_add_object(struct names *names, const struct names_object *object, uint32_t *ret_index);
/*
 * The frames of the next address: addresses are named in the order of the tally's ids, so the
 * i-th call names address i.
 */
int names_add_address(struct names *names, const struct names_frame *frames, uint32_t n);
/* Names a cgroup id; the first path of an id stays. The path is copied. */
int names_add_cgroup(struct names *names, uint64_t id, const char *path);

uint32_t names_n_addresses(const struct names *names);
uint32_t names_n_frames(const struct names *names);
uint32_t names_n_objects(const struct names *names);
/* The frames of an address, and one of those; indices below the numbers above. */
struct names_address names_address(const struct names *names, uint32_t address);
struct names_frame names_frame(const struct names *names, uint32_t frame);
const struct names_object *names_objects(const struct names *names);
/* Ascending by id. */
uint32_t names_n_cgroups(const struct names *names);
const struct names_cgroup *names_cgroups(const struct names *names);

#endif
